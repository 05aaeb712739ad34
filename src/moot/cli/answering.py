"""Answering a request from the terminal: for the commands that approve and deny."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

import click

from moot.api import people, requests, targets
from moot.api.connection import Connection, connect
from moot.cli import loop, saying, terminal
from moot.cli.options import instance_option, json_option, person_option, store_option
from moot.core.ids import InstanceName, RequestId
from moot.core.records import record
from moot.requests import plain
from moot.requests.errors import RequestNotFound
from moot.requests.requests import Request, Verdict

HEADING = ("ID", "TYPE", "FROM", "TO", "TITLE")
LEAST_WIDTHS = (23, 13, 8, 8)
USAGE = 2


@record
class Answer:
    """What the command line says."""

    id: str | None
    words: str
    person: str | None
    instance: str | None
    store: str | None
    as_json: bool


def options(function: Callable[[Answer], int]) -> Callable[..., int]:
    """The arguments and options of a command that answers, given to it as one record."""

    @click.argument("id", required=False)
    @click.option("--text", "words", metavar="TEXT", default="", help="What to say with it.")
    @person_option
    @instance_option
    @store_option
    @json_option
    @wraps(function)
    def command(
        *, id: str | None, words: str, person: str | None, instance: str | None, store: str | None, as_json: bool
    ) -> int:
        return function(Answer(id, words, person, instance, store, as_json))

    return command


def run(verdict: Verdict, answer: Answer) -> int:
    """Answer it; without an id the only one that is open. Where there are several, they are listed."""
    return loop.run(_answer(verdict, answer))


async def _answer(verdict: Verdict, answer: Answer) -> int:
    async with connect("request_respond", store=answer.store, instance=answer.instance) as opened:
        is_anywhere = answer.instance is None and answer.person is None
        connection = await people.acting_as(opened, answer.person)
        if answer.id is not None and is_anywhere:
            connection = _in(connection, await requests.where(opened, RequestId(answer.id)))
        candidates = [] if answer.id is not None else await requests.answerable(connection, anywhere=is_anywhere)
        if len(candidates) > 1:
            show(candidates, as_json=answer.as_json)
            terminal.note("several requests are open; say which one")
            return USAGE
        if answer.id is None and not candidates:
            raise RequestNotFound("Nothing waits for your answer.", "See moot request --all.")
        if candidates:
            connection = _in(connection, candidates[0].instance)
        wanted = candidates[0].id if candidates else RequestId(str(answer.id))
        request = await requests.answer(connection, wanted, verdict, answer.words)
        if answer.as_json:
            terminal.document(plain.request(request))
        else:
            terminal.say(f"{request.state}: ", terminal.one_line(request.title))
            await saying.go_on(connection)
    return 0


def _in(connection: Connection, instance: InstanceName) -> Connection:
    return replace(connection, caller=replace(connection.caller, instance=instance))


def show(found: list[Request], *, as_json: bool) -> None:
    if as_json:
        terminal.document([plain.request(one) for one in found])
        return
    terminal.table([HEADING, *map(_row, found)], LEAST_WIDTHS)


def _row(one: Request) -> tuple[str, ...]:
    return one.id, one.kind, targets.agent_in(one.requester, one.instance), one.addressee, _title(one)


def _title(one: Request) -> str:
    return one.title if one.is_open else f"{one.title} ({one.state})"
