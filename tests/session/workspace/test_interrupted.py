"""A command that was interrupted is not run again by itself."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from moot.core.json import Json
from moot.core.permissions import PRESETS
from moot.session.journal import Memory
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


async def test_what_was_begun_is_told_as_unknown_and_what_was_read_is_read_again(tmp_path: Path) -> None:
    journal, slow = Memory(), Slow()
    (tmp_path / "a.txt").write_text("one")
    both: Json = {"calls": [{"shell": {"command": "echo > b.txt"}}, {"file_read": {"path": "a.txt"}}]}
    coder = agent("coder", both, reports("over"))
    asking = WorkspaceTools(place.at(tmp_path), ("files", "shell"), PRESETS["ask"], slow)
    playing = asyncio.ensure_future(Hall(journal, sources=(asking,)).report(coder))
    async with asyncio.timeout(60):
        await slow.is_asked.wait()
    playing.cancel()
    await asyncio.wait([playing])

    (tmp_path / "a.txt").write_text("two")
    person = Person()
    hall = Hall(journal, sources=(tools(tmp_path, permissions=PRESETS["ask"], person=person),))
    assert (await hall.report(coder)).text == "over"
    unknown, read = hall.told("coder").splitlines()
    assert unknown.startswith("OUTCOME_UNKNOWN")
    assert read == "two"
    assert person.asked == []
    assert not (tmp_path / "b.txt").exists()


async def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    journal = Memory()
    coder = agent("coder", calls("shell", command="echo x >> b.txt"), reports("over"))
    for _ in range(2):
        assert (await Hall(journal, sources=(tools(tmp_path),)).report(coder)).text == "over"
    assert (tmp_path / "b.txt").read_text() == "x\n"
