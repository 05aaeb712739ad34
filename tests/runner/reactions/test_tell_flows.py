"""A step hears once of the end of what it waits for, in whichever order the two come."""

from collections.abc import Sequence
from pathlib import Path

from moot.core.caller import SYSTEM
from moot.core.ids import FlowId
from moot.core.json import Json
from moot.core.tx import Tx
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import inbox, strands
from moot.runner import react
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from tests.flowing import Flows, laid_out
from tests.interleave import interleave
from tests.runner.flows.waiting import WAIT, about_to_wait, step


async def task(found: Flows) -> str:
    board = (await found.done("workflow_create", name="b", source_type="text", source_content="x"))["id"]
    plan: dict[str, Json] = {"summary": "s", "approach": "a", "tasks": [{"name": "one", "description": "one"}]}
    await found.done("workflow_set_plan", id=board, plan=plan)
    return str((await found.done("workflow_next_tasks", workflow_id=board))["tasks"][0]["id"])


async def work_on(found: Flows, id: str) -> None:
    """In several events, the last of which is the end."""
    ann = await found.caller("ann")
    await found.done("task_claim", ann, task_id=id)
    await found.done("task_update_status", ann, task_id=id, status="in_progress")
    await found.done("task_update_status", ann, task_id=id, status="completed", outcome="fine")


async def begin_to_wait(found: Flows, id: FlowId) -> None:
    live, change = await about_to_wait(found, id)
    assert await found.store.write(lambda tx: step(tx, found, live, change), caller=SYSTEM)


async def heard(found: Flows, id: FlowId) -> Sequence[Json]:
    """What the step was told, once all that has happened was looked at."""
    await found.store.write(react.react, caller=SYSTEM)
    return [one.body["status"] for one in await found.store.read(lambda tx: inbox.waiting(tx, id))]


async def test_the_end_of_a_task_is_told_once_though_several_events_led_to_it(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": WAIT % "task"}) as found:
        awaited = await task(found)
        id = FlowId(await found.run(id=awaited))
        await begin_to_wait(found, id)
        assert await heard(found, id) == []
        await work_on(found, awaited)
        assert await heard(found, id) == ["success"]


async def test_who_comes_to_wait_when_it_has_ended_is_told_once(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": WAIT % "task"}) as found:
        awaited = await task(found)
        await work_on(found, awaited)
        id = FlowId(await found.run(id=awaited))
        await begin_to_wait(found, id)
        assert await heard(found, id) == ["success"]


async def test_what_a_step_was_told_before_it_was_tried_again_does_not_count(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with laid_out(store, tmp_path, sandbox, {"flow": WAIT % "task"}) as found:
        awaited = await task(found)
        id = FlowId(await found.run(id=awaited))
        await begin_to_wait(found, id)

        def tell_before(tx: Tx) -> None:
            body: dict[str, Json] = {"step_id": "it.wait", "since": 0, "tries": 0, "status": "failed"}
            inbox.submit(tx, id, "outcome", body)

        await store.write(tell_before, caller=SYSTEM)
        await work_on(found, awaited)
        assert await heard(found, id) == ["failed", "success"]


async def test_what_is_taken_in_at_this_moment_is_not_told_again(
    pg_store: PostgresStore, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with laid_out(pg_store, tmp_path, sandbox, {"flow": WAIT % "task"}) as found:
        awaited = await task(found)
        await work_on(found, awaited)
        id = FlowId(await found.run(id=awaited))
        await begin_to_wait(found, id)

        def take_in(tx: Tx) -> None:
            tx.lock("flows", id)
            for one in inbox.waiting(tx, id):
                inbox.answer(tx, one.id, {"success": True})
            strand = strands.get(tx, id)
            strands.change(tx, strand, strands.moved(strand, strand.frames))

        met = await interleave(pg_store, take_in, react.react)
        assert met.second_waited
        assert await heard(found, id) == []
