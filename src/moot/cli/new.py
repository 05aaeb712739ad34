"""`moot new`: an agent that stands alone."""

from collections.abc import Mapping
from pathlib import Path

import click

from moot.api import newcomers, roster, targets
from moot.api.access import access
from moot.cli import loop, terminal
from moot.cli.options import instance_option, json_option, store_option
from moot.core.json import Json


@click.command()
@click.argument("name")
@click.option("--from", "source", metavar="FILE", help="An agent file (Markdown).")
@click.option("--backend", metavar="NAME", help="What runs it: claude, codex, command, scripted, human, …")
@click.option("--model", metavar="NAME", help="As provider/name.")
@click.option("--system-prompt", "prompt", metavar="TEXT", help="Its instructions, or a .md or .txt file.")
@click.option("--script", type=click.Path(path_type=Path), metavar="FILE", help="The lines of a scripted agent.")
@click.option("--context", is_flag=True, help="Give it the channel and the documents.")
@instance_option
@store_option
@json_option
def command(  # noqa: PLR0913  # one for each option
    *,
    name: str,
    source: str | None,
    backend: str | None,
    model: str | None,
    prompt: str | None,
    script: Path | None,
    context: bool,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Create an agent that stands alone, and a host in the background where none runs.

    It answers to moot send. Without --context it has its inbox and nothing else that agents share.
    """
    given: dict[str, Json] = {
        "from": source,
        "backend": backend,
        "model": model,
        "system_prompt": prompt,
        "script": None if script is None else str(script),
        "tools": None if context else [],
    }
    said = {key: value for key, value in given.items() if value is not None}
    return loop.run(_new(name, said, instance, store, as_json=as_json))


async def _new(name: str, said: Mapping[str, Json], instance: str | None, store: str | None, *, as_json: bool) -> int:
    async with access("manage", store=store, instance=instance, create=True) as opened:
        added = await newcomers.add(opened, name, said)
        agent = added.agent
        needs_host = agent.is_started_by_moot and not await roster.is_served(opened.store)
        host = newcomers.start_host(opened, store) if needs_host else None
    if host is not None and not host.is_ready:
        for line in host.last_words:
            terminal.note(line)
        return host.exit_code or 1
    if as_json:
        terminal.document(
            {
                "name": agent.name,
                "instance": agent.instance,
                "id": agent.id,
                "is_new": added.is_new,
                "host": host and host.pid,
            }
        )
        return 0
    target = targets.agent_in(agent.name, agent.instance)
    what = "is there" if added.is_new else "was there already and is changed"
    terminal.say(f'{agent.name} {what}; say something with: moot send --to {target} "hello"')
    if host is not None:
        terminal.say(f"a host runs in the background (process {host.pid}); its log is {host.log}")
    return 0
