"""`team_control.sh`: ask a member of a team for its approval, and answer."""

from typing import Literal, get_args

import click

from moot.api import requests, team_mail
from moot.api.connection import Connection
from moot.cli import loop, program, team_place, terminal
from moot.cli.options import json_option
from moot.cli.team_place import Place
from moot.core import durations
from moot.core.errors import InvalidInput
from moot.core.ids import RequestId
from moot.core.permissions import Preset
from moot.registry import names
from moot.requests.requests import Kind, Request, Verdict
from moot.tools.asking import Question
from moot.views.team import files

ControlKind = Literal["plan_approval", "shutdown", "permission", "mode_set"]
KINDS: tuple[ControlKind, ...] = get_args(ControlKind)
MODES: tuple[Preset, ...] = get_args(Preset)
_MOST_TITLE = 200


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@team_place.options
@click.pass_context
def command(  # one for each option
    context: click.Context, *, db: str | None, room: str, repo: str | None, session: str | None, store: str | None
) -> None:
    """Control requests of a team: ask, and answer."""
    context.obj = team_place.found(db, room, repo, session, store)


@command.command()
@click.option("--type", "kind", type=click.Choice(KINDS), required=True, help="What is asked.")
@click.option("--summary", metavar="TEXT", help="In one line.  [default: the first line of MESSAGE]")
@click.option("--mode", type=click.Choice(MODES), help="Of a mode_set: what the agent may do by itself.")
@click.option("--timeout", metavar="TIME", help="How long it is open.  [default: 10m for agents, no end for people]")
@json_option
@click.argument("sender", metavar="FROM")
@click.argument("to", metavar="TO")
@click.argument("message", nargs=-1)
@click.pass_obj
def request(  # noqa: PLR0913  # one for each option
    place: Place,
    *,
    kind: ControlKind,
    summary: str | None,
    mode: Preset | None,
    timeout: str | None,
    as_json: bool,
    sender: str,
    to: str,
    message: tuple[str, ...],
) -> None:
    """Ask TO, as FROM: the person, or an agent from outside."""
    title, body = _worded(kind, summary, " ".join(message).strip())
    lasts = "default" if timeout is None else durations.parse(timeout)
    _show(loop.run(_ask(place, sender, Question(to, kind, title, body, lasts=lasts, mode=mode))), as_json=as_json)


@command.command()
@click.option("--request-id", required=True, metavar="ID", help="Which one.")
@click.option("--approve/--reject", "is_approved", default=None, help="The answer.")
@click.option("--to", metavar="NAME", help="Who has asked; it is told anyway.")
@json_option
@click.argument("words", metavar="[FROM] [MESSAGE]...", nargs=-1)
@click.pass_obj
def respond(
    place: Place,
    *,
    request_id: str,
    is_approved: bool | None,
    to: str | None,
    as_json: bool,
    words: tuple[str, ...],
) -> None:
    """Answer a request, once, as FROM: the person, or an agent from outside."""
    if is_approved is None:
        raise click.UsageError("Say --approve or --reject.")
    verdict: Verdict = "approved" if is_approved else "denied"
    _show(loop.run(_answer(place, RequestId(request_id), verdict, to, words)), as_json=as_json)


def _worded(kind: Kind, summary: str | None, message: str) -> tuple[str, str]:
    """The title and the rest."""
    first, _, rest = message.partition("\n")
    title, body = (first, rest) if summary is None else (summary, message)
    line = " ".join(title.split()) or kind
    if len(line) > _MOST_TITLE:
        line, body = f"{line[: _MOST_TITLE - 1]}…", message
    return line, body.strip()


async def _ask(place: Place, sender: str, question: Question) -> Request:
    async with team_place.opened(place, "request_create") as connection:
        own = await team_place.speaking(connection, sender, "request_create")
        asked = await requests.ask(own, question)
        await _bring(own)
        return asked


async def _answer(place: Place, id: RequestId, verdict: Verdict, to: str | None, words: tuple[str, ...]) -> Request:
    async with team_place.opened(place, "request_respond") as connection:
        post = await team_mail.post(connection, place.mode)
        asked = await post.request(id)
        if to is not None and names.fold(to) != names.fold(asked.requester):
            raise InvalidInput(f"{asked.requester} has asked this, and not {to}.", f"Leave --to away, or name {id}.")
        sender, message = _split(words, {names.fold(str(one["name"])) for one in post.members()})
        own = await team_place.speaking(connection, sender, "request_respond")
        answered = await requests.answer(own, id, verdict, message)
        await _bring(own)
        return answered


def _split(words: tuple[str, ...], known: set[str]) -> tuple[str | None, str]:
    """Who speaks, if the first word is a member, and what it says."""
    first = words[0] if words and names.fold(words[0]) in known else None
    return first, " ".join(words if first is None else words[1:]).strip()


async def _bring(connection: Connection) -> None:
    """The files of the team know of it, too."""
    await team_mail.post(connection, "db")


def _show(request: Request, *, as_json: bool) -> None:
    shown = files.request(request)
    if as_json:
        terminal.document(shown)
    else:
        terminal.say(f"request_id={shown['request_id']} status={shown['status']}: ", terminal.one_line(request.title))


def call(name: str, arguments: list[str]) -> int:
    return program.invoke(command, name, arguments)
