"""`moot request`: ask one agent or person, and see what was asked."""

from typing import get_args

import click

from moot.api import people, requests, targets
from moot.api.connection import connect
from moot.cli import answering, loop, terminal
from moot.cli.options import instance_option, json_option, limit_option, person_option, store_option
from moot.core import durations
from moot.core.errors import InvalidInput
from moot.core.ids import RequestId
from moot.core.permissions import Preset
from moot.core.records import replace
from moot.requests import plain
from moot.requests.requests import Kind, Request
from moot.store.errors import StoreNotFound
from moot.tools.asking import Question

KINDS: tuple[Kind, ...] = get_args(Kind)
MODES: tuple[Preset, ...] = get_args(Preset)
MOST_TITLE = 200
NONE = "nothing was asked"


@click.command()
@click.argument("text", required=False)
@click.option("--to", metavar="TARGET", help="One agent or person: agent or agent@instance.")
@click.option("--type", "kind", type=click.Choice(KINDS), default="question", show_default=True, help="What is asked.")
@click.option("--option", "options", multiple=True, metavar="TEXT", help="A possible answer; may be repeated.")
@click.option("--mode", type=click.Choice(MODES), help="Of a mode_set: what the agent may do by itself.")
@click.option("--timeout", metavar="TIME", help="How long it is open.  [default: 10m for agents, no end for people]")
@click.option("--cancel", metavar="ID", help="Take a request back.")
@click.option("--all", "every", is_flag=True, help="List closed requests, too.")
@limit_option(50, "At most so many closed ones.")
@person_option
@instance_option
@store_option
@json_option
def command(  # noqa: PLR0913  # one for each option
    *,
    text: str | None,
    to: str | None,
    kind: Kind,
    options: tuple[str, ...],
    mode: Preset | None,
    timeout: str | None,
    cancel: str | None,
    every: bool,
    limit: int,
    person: str | None,
    instance: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Ask somebody; the answer comes to your inbox. The first line of TEXT is the title. Without TEXT: what is open."""
    if cancel is not None:
        loop.run(_cancel(RequestId(cancel), person, instance, store, as_json=as_json))
    elif text is None:
        _list(instance, store, limit, every=every, as_json=as_json)
    else:
        question, where = _question(text, to, kind, timeout, instance)
        question = replace(question, options=options, mode=mode)
        loop.run(_ask(question, person, where, store, as_json=as_json))


def _question(text: str, to: str | None, kind: Kind, timeout: str | None, instance: str | None) -> tuple[Question, str]:
    if not to:
        raise InvalidInput("A request goes to somebody.", "Write --to agent or --to agent@instance.")
    target = targets.parse(to, instance=instance or targets.home())
    if target.agent is None or instance not in (None, target.instance):
        raise InvalidInput(f"{to!r} is not one agent of one instance.", "Write --to agent or --to agent@instance.")
    title, _, body = text.strip().partition("\n")
    if not title.strip() or len(title) > MOST_TITLE:
        raise InvalidInput(f"The first line has {len(title)} characters.", f"Write a title of 1 to {MOST_TITLE}.")
    lasts = "default" if timeout is None else durations.parse(timeout)
    return Question(target.agent, kind, title.strip(), body.strip(), lasts=lasts), target.instance


async def _ask(question: Question, person: str | None, instance: str, store: str | None, *, as_json: bool) -> None:
    async with connect("request_create", store=store, instance=instance, create=True) as opened:
        request = await requests.ask(await people.acting_as(opened, person), question)
    _show(request, f"asked {request.addressee}: {request.id}", as_json=as_json)


async def _cancel(id: RequestId, person: str | None, instance: str | None, store: str | None, *, as_json: bool) -> None:
    async with connect("request_create", store=store, instance=instance) as opened:
        request = await requests.cancel(await people.acting_as(opened, person), id)
    _show(request, f"cancelled {request.id}", as_json=as_json)


def _show(request: Request, line: str, *, as_json: bool) -> None:
    if as_json:
        terminal.document(plain.request(request))
    else:
        terminal.say(line)


def _list(instance: str | None, store: str | None, limit: int, *, every: bool, as_json: bool) -> None:
    async def look() -> list[Request]:
        async with connect("request_list", store=store, instance=instance) as connection:
            return await requests.all_of(connection, is_open=not every, limit=limit)

    try:
        found = loop.run(look())
    except StoreNotFound:
        found = []
    if found or as_json:
        answering.show(found, as_json=as_json)
    else:
        terminal.say(NONE)
