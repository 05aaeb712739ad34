"""`moot serve`: a host for this store, until Ctrl-C or a signal."""

import logging
import os
import resource
from pathlib import Path

import click

from moot.api import serving, units
from moot.api.serving import Running
from moot.app.hosting import HostOptions
from moot.cli import loop, terminal
from moot.cli.options import instance_option, store_option, tool_names_option
from moot.core.ids import DEFAULT_INSTANCE, InstanceName
from moot.process import detached
from moot.tools.spellings import Spelling

_HERE = "here"  # the one that this machine has


@click.command()
@click.option(
    "--agents",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Make the agents of this file known first.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="On 127.0.0.1.  [default: any free one]")
@click.option(
    "--trust-agent-header", is_flag=True, help="Believe X-Agent-Id without a token. Only for programs you trust."
)
@click.option(
    "--unit",
    type=click.Choice([_HERE, *units.SYSTEMS]),
    is_flag=False,
    flag_value=_HERE,
    metavar="[SYSTEM]",
    help="Print a service file that does this for systemd or launchd, and serve nothing.  [default: this system's]",
)
@tool_names_option
@instance_option
@store_option
def command(  # noqa: PLR0913  # one for each option
    *,
    file: Path | None,
    port: int,
    trust_agent_header: bool,
    unit: str | None,
    tool_names: Spelling | None,
    instance: str | None,
    store: str | None,
) -> None:
    """Run agents for this store, and serve their tools over MCP.

    The first Ctrl-C lets running agents finish for ten seconds, the second ends them at once: their mail waits for
    the next host.
    """
    if unit is not None:
        said = {"--agents": file and file.absolute(), "--port": port, "--instance": instance}
        said |= {"--tool-names": tool_names}
        given = [str(word) for pair in said.items() if pair[1] for word in pair]
        _print_unit(unit, [*given, *(["--trust-agent-header"] if trust_agent_header else [])], store)
        return
    # Libraries speak up only when something is wrong; what moot itself does is told.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("moot").setLevel(os.environ.get("MOOT_LOG", "INFO").upper())
    _allow_many_files()
    options = HostOptions(port=port, trust_agent_header=trust_agent_header, spelling=tool_names or "underscored")
    loop.host(
        serving.serve(
            store=store,
            instance=InstanceName(instance or DEFAULT_INSTANCE),
            agents_file=file,
            options=options,
            ready=_say_where,
        )
    )


def _print_unit(system: str, options: list[str], store: str | None) -> None:
    chosen = units.meant(system)
    terminal.say(units.spelled(units.wanted(options, store), chosen).rstrip())


def _allow_many_files() -> None:
    """Every connection is an open file; the usual limit of 1,024 is soft, and meant for other programs."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _say_where(running: Running) -> None:
    where = [str(place) for place in (running.address.socket, running.address.url) if place]
    beside = f"; another host already serves {running.taken}, and both share the work" if running.taken else ""
    terminal.say(f"moot serves on {' and '.join(where)}{beside}")
    terminal.flush()
    detached.tell_ready()
