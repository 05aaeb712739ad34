"""What a session may not do by itself becomes a request to the person, and holds until the answer."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from moot.backends.backend import Assignment, Ended, Progress
from moot.core.caller import Caller
from moot.core.permissions import PRESETS
from moot.registry import agents
from moot.registry.agents import NewAgent
from moot.requests import requests
from moot.runner.journals import Kept
from moot.runner.session_requests import SessionRequests, Withdrawing
from moot.session.journal import Memory
from moot.session.source import Outcome
from moot.session.workspace import place
from moot.session.workspace.tools import WorkspaceTools
from moot.store.store import Store
from tests import plain_loop
from tests.runner.team import Team, gather, make_host, running
from tests.session.workspace.desk import call
from tests.tools.desk import OPERATOR, Desk, member, open_desk
from tests.tools.team import open_team

DEADLINE = 30.0


async def attempt_of(desk: Desk) -> Caller:
    agent = await desk.house.write(lambda tx: agents.ensure(tx, desk.house.instance, NewAgent("coder", backend="api")))
    attempt = await desk.attempt(agent)
    return replace(member(agent, attempt=attempt.id, fence=1), groups=("channel",))


def tools(desk: Desk, caller: Caller, root: Path, asker: str = "") -> WorkspaceTools:
    person = SessionRequests(desk.house.store, caller, asker)
    return WorkspaceTools(place.at(root), ("edit",), PRESETS["ask"], person)


async def write(source: WorkspaceTools, content: str) -> Outcome:
    async with asyncio.timeout(DEADLINE):
        return await call(source, "file_write", path="a.txt", content=content)


async def opened(desk: Desk, content: str = "one") -> str:
    """The id of the request to write this, once there is one."""
    async with asyncio.timeout(DEADLINE):
        with desk.house.store.listen() as signal:
            while True:
                signal.clear()
                found = await desk.house.read(lambda tx: requests.open_of(tx, desk.house.stream))
                for one in found:
                    if f'"{content}"' in one.body:
                        return one.id
                await signal.wait()


async def test_the_person_is_asked_and_the_file_is_written_after_the_approval(store: Store, tmp_path: Path) -> None:
    desk = await open_desk(store)
    source = tools(desk, await attempt_of(desk), tmp_path)
    writing = asyncio.ensure_future(write(source, "one"))
    id = await opened(desk)
    (request,) = (await desk.done(OPERATOR, "request_list"))["requests"]
    assert (request["type"], request["from"], request["title"]) == ("permission", "coder", "file_write: a.txt")
    assert not (tmp_path / "a.txt").exists()
    await desk.done(OPERATOR, "request_respond", request_id=id, approve=True)
    assert not (await writing).is_error
    assert (tmp_path / "a.txt").read_text() == "one"


@pytest.mark.parametrize("by", ["lead", "human"])
async def test_in_a_team_the_lead_from_outside_is_asked_and_the_terminal_may_answer(
    store: Store, tmp_path: Path, by: str
) -> None:
    team = await open_team(store)
    attempt = await team.desk.attempt(team.members["worker-1"])
    caller = replace(member(team.members["worker-1"], attempt=attempt.id, fence=1), groups=("channel",))
    writing = asyncio.ensure_future(write(tools(team.desk, caller, tmp_path), "one"))
    id = await opened(team.desk)
    (request,) = (await team.desk.done(team["lead"], "request_list"))["requests"]
    assert (request["type"], request["from"], request["to"]) == ("permission", "worker-1", "lead")
    await team.desk.done(team["lead"] if by == "lead" else OPERATOR, "request_respond", request_id=id, approve=True)
    assert not (await writing).is_error
    assert (tmp_path / "a.txt").read_text() == "one"


async def test_a_denial_is_told_with_its_reason(store: Store, tmp_path: Path) -> None:
    desk = await open_desk(store)
    source = tools(desk, await attempt_of(desk), tmp_path)
    writing = asyncio.ensure_future(write(source, "one"))
    id = await opened(desk)
    await desk.done(OPERATOR, "request_respond", request_id=id, approve=False, answer="not on a Friday")
    assert (await writing).text == (f"NOT_ALLOWED: This was denied by human: not on a Friday ({id}) (executed: false)")
    assert not (tmp_path / "a.txt").exists()


async def test_an_approval_outlives_who_asked_and_stands_for_exactly_that_once(store: Store, tmp_path: Path) -> None:
    desk = await open_desk(store)
    source = tools(desk, await attempt_of(desk), tmp_path)
    writing = asyncio.ensure_future(write(source, "one"))
    id = await opened(desk)
    writing.cancel()
    await asyncio.wait([writing])
    await desk.done(OPERATOR, "request_respond", request_id=id, approve=True)
    other = asyncio.ensure_future(write(source, "two"))
    await opened(desk, "two")
    other.cancel()
    await asyncio.wait([other])
    assert not (await write(source, "one")).is_error
    again = asyncio.ensure_future(write(source, "one"))
    await desk.done(OPERATOR, "request_respond", request_id=await opened(desk), approve=False)
    assert (await again).is_error


async def test_a_denial_outlives_who_asked_too_and_the_person_is_not_asked_again(store: Store, tmp_path: Path) -> None:
    desk = await open_desk(store)
    source = tools(desk, await attempt_of(desk), tmp_path)
    writing = asyncio.ensure_future(write(source, "one"))
    id = await opened(desk)
    writing.cancel()
    await asyncio.wait([writing])
    await desk.done(OPERATOR, "request_respond", request_id=id, approve=False, answer="not on a Friday")
    async with asyncio.timeout(DEADLINE):
        assert f"This was denied by human: not on a Friday ({id})" in (await write(source, "one")).text
    again = asyncio.ensure_future(write(source, "one"))  # it counts once
    await desk.done(OPERATOR, "request_respond", request_id=await opened(desk), approve=True)
    assert not (await again).is_error


async def test_what_nobody_waits_for_any_more_is_closed_and_what_others_wait_for_is_not(
    store: Store, tmp_path: Path
) -> None:
    desk = await open_desk(store)
    person = SessionRequests(desk.house.store, await attempt_of(desk))
    helper, other = (
        WorkspaceTools(place.at(tmp_path), ("edit",), PRESETS["ask"], person.of(name)) for name in ("helper", "other")
    )
    ending, waiting = (asyncio.ensure_future(write(one, "one")) for one in (helper, other))
    async with asyncio.timeout(DEADLINE):
        with desk.house.store.listen() as signal:
            while len(await desk.house.read(lambda tx: requests.open_of(tx, desk.house.stream))) < 2:
                signal.clear()
                await signal.wait(1)
    ending.cancel()
    await asyncio.wait([ending])
    await Withdrawing(Memory(), person).note()
    (left,) = await desk.house.read(lambda tx: requests.open_of(tx, desk.house.stream))
    assert left.title == "other: file_write: a.txt"
    await desk.done(OPERATOR, "request_respond", request_id=left.id, approve=True)
    assert not (await waiting).is_error
    assert not person.asked.unawaited


async def test_who_wants_the_same_takes_over_what_another_has_given_up(store: Store, tmp_path: Path) -> None:
    desk = await open_desk(store)
    person = SessionRequests(desk.house.store, await attempt_of(desk))
    source = WorkspaceTools(place.at(tmp_path), ("edit",), PRESETS["ask"], person)
    ending = asyncio.ensure_future(write(source, "one"))
    await opened(desk)
    waiting = asyncio.ensure_future(write(source, "one"))
    await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait([ending])
    await Withdrawing(Memory(), person).note()
    while not waiting.done():
        opening = asyncio.ensure_future(opened(desk))
        await asyncio.wait([opening, waiting], return_when=asyncio.FIRST_COMPLETED)
        if opening.done():
            await desk.done(OPERATOR, "request_respond", request_id=opening.result(), approve=True)
        else:
            opening.cancel()
    assert not (await waiting).is_error


async def test_each_of_two_who_want_the_same_at_once_is_allowed_by_itself(store: Store, tmp_path: Path) -> None:
    desk = await open_desk(store)
    person = SessionRequests(desk.house.store, await attempt_of(desk))
    source = WorkspaceTools(place.at(tmp_path), ("edit",), PRESETS["ask"], person)
    writing = [asyncio.ensure_future(write(source, "one")) for _ in range(2)]
    first = await opened(desk)
    await desk.done(OPERATOR, "request_respond", request_id=first, approve=True)
    await asyncio.wait(writing, return_when=asyncio.FIRST_COMPLETED)
    second = await opened(desk)
    assert second != first
    await desk.done(OPERATOR, "request_respond", request_id=second, approve=True)
    assert [one.is_error for one in await asyncio.gather(*writing)] == [False, False]


async def test_the_person_sees_who_in_a_tree_asks_and_an_approval_is_for_nobody_else(
    store: Store, tmp_path: Path
) -> None:
    desk = await open_desk(store)
    caller = await attempt_of(desk)
    helper, other = (tools(desk, caller, tmp_path, name) for name in ("helper", "other"))
    writing = asyncio.ensure_future(write(helper, "one"))
    id = await opened(desk)
    (request,) = (await desk.done(OPERATOR, "request_list"))["requests"]
    assert (request["from"], request["title"]) == ("coder", "helper: file_write: a.txt")
    writing.cancel()
    await asyncio.wait([writing])
    await desk.done(OPERATOR, "request_respond", request_id=id, approve=True)
    asking = asyncio.ensure_future(write(other, "one"))
    await desk.done(OPERATOR, "request_respond", request_id=await opened(desk), approve=False)
    assert (await asking).is_error
    assert not (await write(helper, "one")).is_error


async def test_what_the_person_takes_counts_for_nobodys_time(store: Store, tmp_path: Path) -> None:
    desk = await open_desk(store)
    person = SessionRequests(desk.house.store, await attempt_of(desk))
    source = WorkspaceTools(place.at(tmp_path), ("edit",), PRESETS["ask"], person)
    before = person.hours.now()
    writing = asyncio.ensure_future(write(source, "one"))
    id = await opened(desk)
    plain_loop.set_forward(10)
    assert person.hours.now() - before < 9
    await desk.done(OPERATOR, "request_respond", request_id=id, approve=True)
    await writing
    assert person.hours.now() - before < 9


class Asker:
    """Asks for something; gives up when it has asked, or waits for ever."""

    def __init__(self, team: Team, *, gives_up: bool) -> None:
        self._team = team
        self._gives_up = gives_up

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        assert isinstance(assignment, Kept)
        asking = asyncio.ensure_future(assignment.requests.of("").denial("shell", {"command": "ls"}))
        try:
            if self._gives_up:
                await self._team.until(lambda tx: bool(requests.open_of(tx, self._team.instance.stream)))
            else:
                await asking
        finally:
            asking.cancel()
            await asyncio.wait([asking])
        yield Ended(text="over")


@pytest.mark.parametrize("gives_up", [True, False])
async def test_a_request_ends_with_its_attempt_but_not_with_moot(store: Store, gives_up: bool) -> None:
    team = await gather(store, {"ann": []})
    async with running(make_host(store, backend=Asker(team, gives_up=gives_up))):
        await team.say("@ann go")
        await (team.idle() if gives_up else team.until_event(requests.OPENED))
    left = await store.read(lambda tx: requests.open_of(tx, team.instance.stream))
    assert [one.title for one in left] == ([] if gives_up else ["shell: ls"])
