"""A session is killed around every page of its journal. Whoever goes on with it comes to the same end, and neither asks
nor calls again what is on record."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests import fake_models
from tests.fake_models import Asked, Hang, call, say
from tests.stories.house import House

KILLING = Path(__file__).parent / "killing"
EXAMPLES = Path(__file__).parents[2] / "examples" / "agents"
WORKFLOW = """
name: kills
context: {document_owner: none}
agents:
  writer:
    retry: {attempts: 1}
    answers:
      - calls: [{document_append: {content: "one\\n"}}, {document_read: {}}]
        usage: {input_tokens: 100, output_tokens: 10, cost: 0.01}
      - calls: [{document_append: {content: "two\\n"}}]
        usage: {input_tokens: 200, output_tokens: 10, cost: 0.02}
      - calls: [{channel_send: {message: "It is written."}}]
        usage: {input_tokens: 300, output_tokens: 10, cost: 0.03}
      - {say: "That was all.", usage: {input_tokens: 400, output_tokens: 10, cost: 0.04}}
kickoff: "@writer go"
"""
PAGES = 8  # intent of the first request, then two a turn, and the end
CAME = [[("writer", "It is written.")], "one\ntwo\n"]
COST = 100_000

# An advisor that is a router, a handoff into a team, and a member of it that is a chain.
NESTED = """
name: kills
context: {document_owner: none}
agents:
  intake: {from: nested/intake.md, retry: {attempts: 1}}
kickoff: "@intake make the export faster"
"""
NESTED_PAGES = 15
NESTED_CAME = [
    [("intake", "Buffer a thousand rows; flush once a second and when the file is closed.")],
    "",
]
NESTED_COST = 9_000


@dataclass(frozen=True)
class Place(House):
    """A house in which a session may be killed."""

    more: Mapping[str, str]

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join((str(KILLING), *(one for one in (os.environ.get("PYTHONPATH"),) if one)))
        return {**super().environment, "PYTHONPATH": path, "STORY_LOG": str(self.root / "log"), **self.more}

    def log(self, kind: str) -> list[str]:
        file = self.root / "log"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line for line in lines if line.split(" ")[0] == kind]

    def rows(self) -> list[sqlite3.Row]:
        (file,) = self.root.rglob("moot.db")
        with closing(sqlite3.connect(file)) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute("select * from journal order by path, try").fetchall()

    def spent(self) -> tuple[int, int]:
        (file,) = self.root.rglob("moot.db")
        with closing(sqlite3.connect(file)) as connection:
            (used,) = connection.execute("select sum(cost) from usage").fetchone()
            (noted,) = connection.execute("select sum(cost) from journal").fetchone()
        return used, noted

    async def came(self) -> list[Any]:
        """What was said and written, without when."""
        said = [(one["from"], one["message"]) for one in await self.json("log") if one["from"] != "system"]
        return [said, await self.moot("doc", "show")]


@pytest.fixture
def place(house: House) -> Place:
    (house.root / "kills.yaml").write_text(WORKFLOW)
    return Place(house.root, {})


@pytest.fixture
def nested(house: House) -> Place:
    shutil.copytree(EXAMPLES / "nested", house.root / "nested")
    (house.root / "kills.yaml").write_text(NESTED)
    return Place(house.root, {})


async def go_through(place: Place, kill: str, cost: int = COST) -> list[Any]:
    """Killed there and gone on with."""
    await replace(place, more={"STORY_KILL": kill, **place.more}).moot("run", "kills.yaml", code=-9)
    done = {row["path"] for row in place.rows() if row["state"] == "done"}
    begun = {row["path"] for row in place.rows() if row["kind"] == "model" and row["state"] == "started"}
    (place.root / "log").unlink(missing_ok=True)
    await place.moot("resume")
    again = {line.split(" ")[1] for line in (*place.log("ask"), *place.log("call"))}
    assert not again & done, f"killed {kill}, done again: {again & done}"
    lost = [row for row in place.rows() if row["state"] == "unknown"]
    assert {row["path"] for row in lost} == begun
    assert all(row["cost"] == row["reserve"] > 0 and row["is_estimated"] for row in lost)
    assert all(row["state"] in ("done", "unknown") for row in place.rows())
    used, noted = place.spent()
    assert used == noted == cost + sum(row["reserve"] for row in lost)
    return await place.came()


async def test_an_uninterrupted_session_makes_two_commits_a_turn(place: Place) -> None:
    await place.moot("run", "kills.yaml")
    assert len(place.log("page")) == PAGES
    assert place.log("ask") == [f"ask t{number}/m" for number in (1, 2, 3, 4)]
    assert await place.came() == CAME
    assert place.spent() == (COST, COST)


# The short version: a request under way, calls made and not noted, the end. Those below have all of them.
@pytest.mark.parametrize("kill", ["after:1", "before:3", f"after:{PAGES}"])
async def test_a_killed_session_goes_on_where_it_stopped(place: Place, kill: str) -> None:
    assert await go_through(place, kill) == CAME


async def test_a_nested_session_has_a_page_for_each_of_its_steps(nested: Place) -> None:
    await nested.moot("run", "kills.yaml")
    assert (len(nested.log("page")), await nested.came()) == (NESTED_PAGES, NESTED_CAME)
    assert nested.spent() == (NESTED_COST, NESTED_COST)


# The advisor has chosen somebody; members are at work at once; the supervisor has answered.
@pytest.mark.parametrize("kill", ["before:3", "after:9", f"before:{NESTED_PAGES}"])
async def test_a_killed_nested_session_goes_on_where_it_stopped(nested: Place, kill: str) -> None:
    assert await go_through(nested, kill, NESTED_COST) == NESTED_CAME


@pytest.mark.chaos
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", range(1, NESTED_PAGES + 1))
async def test_a_nested_session_killed_around_any_page_goes_on(nested: Place, when: str, number: int) -> None:
    if (when, number) != ("before", 1):
        assert await go_through(nested, f"{when}:{number}", NESTED_COST) == NESTED_CAME


@pytest.mark.chaos
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", range(1, PAGES + 1))
async def test_a_session_killed_around_any_page_goes_on_where_it_stopped(place: Place, when: str, number: int) -> None:
    if (when, number) != ("before", 1):  # when nothing is on record there is nothing to go on with
        assert await go_through(place, f"{when}:{number}") == CAME


OVER_AN_API = """
name: kills
context: {document_owner: none}
agents:
  writer: {model: openai/gpt-5, base_url: "URL", env: [WRITER_API_KEY], retry: {attempts: 1}}
kickoff: "@writer go"
"""
ANSWERS = [call("document_append", content="one\n"), call("document_append", content="two\n"), say("That was all.")]


async def kill_at_request(place: Place, number: int) -> None:
    """The provider never answers that request, and the host dies with it under way."""
    asked: list[int] = []  # how far the conversation was
    has_come = asyncio.Event()

    def scenario(one: Asked) -> fake_models.Answer:
        turn = sum(said.role == "assistant" for said in one.turns)
        asked.append(turn)
        if len(asked) == number:
            has_come.set()
            return Hang()
        return ANSWERS[turn]

    async with fake_models.serve(scenario) as server:
        (place.root / "kills.yaml").write_text(OVER_AN_API.replace("URL", server.v1))
        place = replace(place, more={"WRITER_API_KEY": "none"})
        process = await place.start("run", "kills.yaml")
        try:
            async with asyncio.timeout(60):
                await has_come.wait()
        finally:
            process.kill()
            await process.communicate()
        await place.moot("resume")
    assert asked == [*range(number), *range(number - 1, len(ANSWERS))]
    (lost,) = [row for row in place.rows() if row["state"] == "unknown"]
    assert (lost["path"], lost["cost"] == lost["reserve"] > 0) == (f"t{number}/m", True)
    used, noted = place.spent()
    assert used == noted
    assert await place.came() == [[("writer", "That was all.")], "one\ntwo\n"]


async def test_no_provider_is_asked_again_for_what_it_has_answered(place: Place) -> None:
    await kill_at_request(place, 2)


@pytest.mark.chaos
@pytest.mark.timeout(600)
@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_provider_is_asked_again_only_for_what_was_under_way(place: Place, number: int) -> None:
    await kill_at_request(place, number)
