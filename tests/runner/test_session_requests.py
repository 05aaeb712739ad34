"""What a session may not do by itself becomes a request to the person, and holds until the answer."""

import asyncio
from dataclasses import replace
from pathlib import Path

from moot.core.caller import Caller
from moot.core.permissions import PRESETS
from moot.registry import agents
from moot.registry.agents import NewAgent
from moot.requests import requests
from moot.runner.session_requests import SessionRequests
from moot.session.source import Outcome
from moot.session.workspace import place
from moot.session.workspace.tools import WorkspaceTools
from moot.store.store import Store
from tests.session.workspace.desk import call
from tests.tools.desk import OPERATOR, Desk, member, open_desk

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
