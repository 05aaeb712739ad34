"""A command that was interrupted is not run again by itself; one that was only asked for is asked for again."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from moot.core.json import Json
from moot.core.permissions import PRESETS
from moot.session.journal import Intent, Memory
from moot.session.workspace import place
from moot.session.workspace.tools import WorkspaceTools
from tests.session.staging import Hall, agent, calls, reports
from tests.session.workspace.desk import Person, tools


class Slow:
    """Asked, and never answers."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()

    async def denial(self, tool: str, arguments: Mapping[str, Json]) -> str | None:
        self.is_asked.set()
        await asyncio.Event().wait()
        return None


BOTH: Json = {"calls": [{"shell": {"command": "echo > b.txt"}}, {"file_read": {"path": "a.txt"}}]}
CODER = agent("coder", BOTH, reports("over"))


async def interrupted(root: Path) -> Memory:
    """The journal of a session that was interrupted while somebody was asked."""
    journal, slow = Memory(), Slow()
    (root / "a.txt").write_text("one")
    asking = WorkspaceTools(place.at(root), ("files", "shell"), PRESETS["ask"], slow)
    playing = asyncio.ensure_future(Hall(journal, sources=(asking,)).report(CODER))
    async with asyncio.timeout(60):
        await slow.is_asked.wait()
    playing.cancel()
    await asyncio.wait([playing])
    (root / "a.txt").write_text("two")
    return journal


async def resumed(journal: Memory, root: Path, person: Person) -> list[str]:
    """What the session is told when it goes on."""
    hall = Hall(journal, sources=(tools(root, permissions=PRESETS["ask"], person=person),))
    assert (await hall.report(CODER)).text == "over"
    assert hall.order() == ["coder"]
    return hall.told("coder").splitlines()


async def test_what_was_begun_is_told_as_unknown_and_what_was_read_is_read_again(tmp_path: Path) -> None:
    journal, person = await interrupted(tmp_path), Person()
    await journal.note(begun=[Intent("t1/c1", "tool", "shell", "coder")])
    unknown, read = await resumed(journal, tmp_path, person)
    assert unknown.startswith("OUTCOME_UNKNOWN")
    assert read == "two"
    assert person.asked == []
    assert not (tmp_path / "b.txt").exists()


async def test_what_was_only_asked_for_is_asked_for_again_and_done(tmp_path: Path) -> None:
    journal, person = await interrupted(tmp_path), Person()
    assert "OUTCOME_UNKNOWN" not in "".join(await resumed(journal, tmp_path, person))
    assert person.asked == [("shell", {"command": "echo > b.txt"})]
    assert (tmp_path / "b.txt").exists()


async def test_a_denial_on_record_is_told_and_nobody_is_asked_again(tmp_path: Path) -> None:
    journal, person = await interrupted(tmp_path), Person()
    await journal.note(begun=[Intent("t1/c1", "tool", "shell", "coder", facts={"refused": "NOT_ALLOWED: no"})])
    refused, _ = await resumed(journal, tmp_path, person)
    assert (refused, person.asked) == ("NOT_ALLOWED: no", [])
    assert not (tmp_path / "b.txt").exists()


async def test_a_denial_is_on_record_before_the_session_goes_on(tmp_path: Path) -> None:
    journal = await interrupted(tmp_path)
    await resumed(journal, tmp_path, Person("not today"))
    known = journal.known("t1/c1")
    assert known is not None
    assert known.facts == {"refused": "NOT_ALLOWED: not today (executed: false)"}


async def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    journal = Memory()
    coder = agent("coder", calls("shell", command="echo x >> b.txt"), reports("over"))
    for _ in range(2):
        assert (await Hall(journal, sources=(tools(tmp_path),)).report(coder)).text == "over"
    assert (tmp_path / "b.txt").read_text() == "x\n"
