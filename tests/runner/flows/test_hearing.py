"""Who says that a step is done to the process that has the flow in hand is heard there, once, and in one commit."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from moot.core.caller import SYSTEM
from moot.core.clock import SystemClock
from moot.core.ears import Change, Ears, Word
from moot.core.errors import MootError, NotAllowed
from moot.core.ids import FlowId
from moot.core.json import Json
from moot.core.tx import Query, Tx
from moot.core.wakes import Signal
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import flows, inbox
from moot.process import sweep
from moot.runner.flows.hearing import Hearing
from moot.store.store import Store
from tests.flowing import SECONDS, Flows, carried_out

TEXT = """
steps:
  - {id: one, type: user_message, message: first}
  - {id: two, type: shell_command, command: printf x >> done}
  - {id: three, type: user_message, message: hello}
"""
SUBMISSIONS = Query(
    "submissions",
    "select count(*) from flow_inbox where flow = :flow",
    "select count(*) from flow_inbox where flow = %(flow)s",
)
Write = Callable[[Change], Awaitable[str]]


@pytest.fixture
async def found(store: Store, tmp_path: Path, sandbox: Sandbox) -> AsyncIterator[Flows]:
    async with carried_out(store, tmp_path, sandbox, {"flow": TEXT}) as carried:
        yield carried


async def at_rest(found: Flows) -> str:
    """A flow that waits for its agent, in hand."""
    id = await found.start()
    assert (await found.next(id))["step"]["id"] == "one.user_message"
    assert found.ears.find(id)
    return id


async def submissions(found: Flows, id: str) -> int:
    return await found.store.read(lambda tx: tx.one(SUBMISSIONS, int, flow=id))


async def word(found: Flows, id: str, step: str = "one.user_message") -> Word:
    body: dict[str, Json] = {"step_id": step, "status": "success", "result": None, "error": ""}
    flow = await found.flow(id)
    return Word(0, body, flow.version, flow.updated_at)


def written(found: Flows, made: list[str]) -> Write:
    """Commits what comes of a word, with nothing beside."""

    async def write(change: Change) -> str:
        await found.store.write(change, caller=SYSTEM)
        made.append("written")
        return "done"

    return write


async def test_it_goes_on_in_the_same_commit_and_nothing_is_left_in_the_store(found: Flows) -> None:
    id = await at_rest(found)
    before = (await found.flow(id)).version
    assert await found.complete(id, "one.user_message") == {"success": True}
    strand = (await found.strands(id))[0]
    assert (await found.flow(id)).version >= before + 1
    assert strand.step_id != "one.user_message"
    assert await submissions(found, id) == 0


async def test_what_moot_is_to_do_next_is_done_at_once_and_once(found: Flows, monkeypatch: pytest.MonkeyPatch) -> None:
    recovered: list[str] = []  # as after a crash: the next look at what was begun and not ended
    monkeypatch.setattr(sweep, "kill_marked", recovered.append)
    id = await at_rest(found)
    assert await found.walk(id) == ["one.user_message", "three.user_message"]
    assert (found.root / "done").read_text() == "x"
    assert (await found.over(id)).status == "completed"
    assert recovered == []


async def test_under_the_same_key_it_is_answered_again_and_nothing_goes_on(found: Flows) -> None:
    id = await at_rest(found)
    arguments: dict[str, Json] = {"workflow_id": id, "step_id": "one.user_message"}
    answers = [await found.call("workflow_step_complete", arguments, key="k") for _ in range(2)]
    assert [one.structured for one in answers] == [{"success": True}] * 2
    assert await submissions(found, id) == 0
    assert (await found.steps(id)).count("one.user_message success") == 1


async def test_who_says_it_twice_at_once_has_one_answer(found: Flows) -> None:
    id = await at_rest(found)
    said = await asyncio.gather(*(found.complete(id, "one.user_message") for _ in range(3)))
    assert said == [{"success": True}] * 3
    assert (await found.steps(id)).count("one.user_message success") == 1


async def test_what_is_true_of_another_version_only_is_left_in_the_store(found: Flows) -> None:
    id, made = await at_rest(found), list[str]()
    said = await word(found, id)
    await found.store.write(lambda tx: flows.take_over(tx, FlowId(id)), caller=SYSTEM)
    ear = found.ears.find(id)
    assert ear is not None
    assert await ear.hear(said, written(found, made)) is None
    assert made == []
    assert await found.complete(id, "one.user_message") == {"success": True}


async def test_what_came_first_is_not_overtaken(found: Flows) -> None:
    """Unheard of by who has it in hand: it comes in the very transaction."""
    id, made = await at_rest(found), list[str]()
    ear = found.ears.find(id)
    assert ear is not None

    def submit(tx: Tx, change: Change) -> None:
        inbox.submit(tx, FlowId(id), "begin", {})
        change(tx)

    async def write(change: Change) -> str:
        await found.store.write(lambda tx: submit(tx, change), caller=SYSTEM)
        made.append("written")
        return "done"

    assert await ear.hear(await word(found, id), write) is None
    assert made == []
    assert await submissions(found, id) == 0
    assert (await found.strands(id))[0].step_id == "one.user_message"


async def test_a_call_that_is_refused_hears_why_and_the_flow_stays_where_it_is(found: Flows) -> None:
    id = await at_rest(found)
    ear = found.ears.find(id)
    assert ear is not None

    async def write(change: Change) -> str:
        raise NotAllowed("Not you.", "Ask somebody else.")

    with pytest.raises(NotAllowed):
        await ear.hear(await word(found, id), write)
    assert (await found.strands(id))[0].step_id == "one.user_message"
    assert await found.complete(id, "one.user_message") == {"success": True}


async def test_a_call_that_was_made_before_moves_nothing(found: Flows) -> None:
    """Its record says what it was answered; what was computed meanwhile is forgotten."""
    id = await at_rest(found)
    ear = found.ears.find(id)
    assert ear is not None

    async def write(change: Change) -> str:
        return "as before"

    assert await ear.hear(await word(found, id), write) == "as before"
    assert (await found.strands(id))[0].step_id == "one.user_message"
    assert not (found.root / "done").exists()
    assert await found.complete(id, "one.user_message") == {"success": True}


async def test_what_is_said_when_nobody_has_the_flow_in_hand_is_left_in_the_store(found: Flows) -> None:
    id = await at_rest(found)
    found.ears = Ears()  # as in another process
    assert await found.complete(id, "one.user_message") == {"success": True}
    assert await submissions(found, id) == 1


async def test_nobody_waits_for_an_ear_that_is_closed() -> None:
    signal = Signal()
    hearing = Hearing(signal)
    said = Word(0, {}, 1, SystemClock().now())

    async def write(change: Change) -> str:
        raise MootError("Nobody makes this change.", "")

    async with asyncio.timeout(SECONDS):
        waiting = asyncio.ensure_future(hearing.hear(said, write))
        await signal.wait()
        hearing.close()
        assert await waiting is None
        assert await hearing.hear(said, write) is None
