"""Answering a request from the terminal: for the commands that approve and deny."""

from moot.api import people, requests
from moot.api.connection import connect
from moot.cli import loop, terminal
from moot.core.ids import RequestId
from moot.requests import plain
from moot.requests.errors import RequestNotFound
from moot.requests.requests import Request, Verdict

HEADING = ("ID", "TYPE", "FROM", "TO", "TITLE")
LEAST_WIDTHS = (23, 13, 8, 8)
USAGE = 2


def run(  # noqa: PLR0913  # one for each option
    verdict: Verdict, id: str | None, words: str, *, person: str | None, instance: str | None, store: str | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Answer it; without an id the only one that is open. Where there are several, they are listed."""
    return loop.run(_answer(verdict, id, words, person, instance, store, as_json=as_json))


async def _answer(  # noqa: PLR0913  # one for each option
    verdict: Verdict, id: str | None, words: str, person: str | None, instance: str | None, store: str | None, *,
    as_json: bool,
) -> int:  # fmt: skip
    async with connect(store=store, instance=instance) as opened:
        connection = await people.acting_as(opened, person)
        candidates = [] if id is not None else await requests.answerable(connection)
        if len(candidates) > 1:
            show(candidates, as_json=as_json)
            terminal.note("several requests are open; say which one")
            return USAGE
        if id is None and not candidates:
            raise RequestNotFound("Nothing waits for your answer.", "See moot request --all.")
        wanted = candidates[0].id if id is None else RequestId(id)
        request = await requests.answer(connection, wanted, verdict, words)
    if as_json:
        terminal.document(plain.request(request))
    else:
        terminal.say(f"{request.state}: ", terminal.one_line(request.title))
    return 0


def show(found: list[Request], *, as_json: bool) -> None:
    if as_json:
        terminal.document([plain.request(one) for one in found])
        return
    rows = [(one.id, one.kind, one.requester, one.addressee, _title(one)) for one in found]
    terminal.table([HEADING, *rows], LEAST_WIDTHS)


def _title(one: Request) -> str:
    return one.title if one.is_open else f"{one.title} ({one.state})"
