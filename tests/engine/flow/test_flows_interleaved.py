"""Two who change a flow at the same moment: one of them decides, and the other finds out."""

from moot.core.caller import SYSTEM
from moot.core.ids import AgentId, FlowId, InstanceName
from moot.core.records import replace
from moot.core.tx import Tx
from moot.engine.definition import Definition
from moot.engine.flow import delta, flows, inbox, strands
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.flows import Flow, NewFlow
from moot.engine.flow.strands import Strand
from moot.registry import instances
from moot.store.postgres import PostgresStore
from tests.interleave import interleave

TEXT = "steps: [{type: exit}]"
ANN, BEN = AgentId("ag_ann"), AgentId("ag_ben")


async def _live(store: PostgresStore) -> Live:
    """A flow with a task that nobody has come for."""

    def change(tx: Tx) -> FlowId:
        instance = instances.ensure(tx, InstanceName("default"))
        new = NewFlow(
            instance=instance.name,
            stream=instance.stream,
            name="flow",
            source="flow",
            files=(("flow", TEXT),),
            given={},
            driver="agent",
        )
        id = flows.create(tx, new).id
        strands.put(tx, Strand(id, 1, 0, 1, "task", status="ready"))
        return id

    id = await store.write(change, caller=SYSTEM)
    return await store.read(lambda tx: delta.load(tx, id, Definition("flow")))


def _place(tx: Tx, flow: Flow, strand: Strand) -> Strand:
    return strand


def _write(tx: Tx, live: Live, value: str, **answers: str) -> bool:
    told = {id: {"said": said} for id, said in answers.items()}
    change = Delta({"raw.n": value}, flow=replace(live.flow, status="in_progress"), answers=told)
    return delta.commit(tx, live, change, _place) is not None


async def test_of_two_who_have_computed_from_the_same_state_one_writes(pg_store: PostgresStore) -> None:
    live = await _live(pg_store)
    met = await interleave(pg_store, lambda tx: _write(tx, live, "1"), lambda tx: _write(tx, live, "2"))
    assert (met.first, met.second, met.second_waited) == (True, False, True)
    assert await pg_store.read(lambda tx: flows.fields(tx, live.flow.id)) == {"raw.n": "1"}


async def test_a_task_belongs_to_one_of_two_who_come_at_once(pg_store: PostgresStore) -> None:
    live = await _live(pg_store)
    task = live.strands[1]
    met = await interleave(pg_store, lambda tx: strands.bind(tx, task, ANN), lambda tx: strands.bind(tx, task, BEN))
    assert (met.first, met.second, met.second_waited) == (True, False, True)
    assert (await pg_store.read(lambda tx: strands.get(tx, live.flow.id, 1))).holder == ANN


async def test_whoever_comes_for_a_task_while_the_flow_goes_on_keeps_it(pg_store: PostgresStore) -> None:
    live = await _live(pg_store)
    task = live.strands[1]

    def go_on(tx: Tx) -> bool:
        moving = Delta(strands=(replace(task, status="moving"),))
        return delta.commit(tx, live, moving, _place) is not None

    await interleave(pg_store, lambda tx: strands.bind(tx, task, ANN), go_on)
    found = await pg_store.read(lambda tx: strands.get(tx, live.flow.id, 1))
    assert (found.holder, found.status) == (ANN, "moving")


async def test_what_is_submitted_while_another_is_taken_in_waits_for_the_next_time(pg_store: PostgresStore) -> None:
    live = await _live(pg_store)
    id = live.flow.id
    first = await pg_store.write(lambda tx: inbox.submit(tx, id, "update", {}), caller=SYSTEM)
    met = await interleave(
        pg_store, lambda tx: _write(tx, live, "1", **{first: "done"}), lambda tx: inbox.submit(tx, id, "update", {})
    )
    assert met.first
    assert not met.second_waited
    assert [one.id for one in await pg_store.read(lambda tx: inbox.waiting(tx, id))] == [met.second]
    assert await pg_store.read(lambda tx: inbox.answered(tx, first)) == {"said": "done"}
    assert await pg_store.read(lambda tx: inbox.answered(tx, met.second)) is None


async def test_a_flow_that_is_ended_while_it_is_advanced_is_over(pg_store: PostgresStore) -> None:
    live = await _live(pg_store)
    met = await interleave(
        pg_store, lambda tx: _write(tx, live, "1"), lambda tx: flows.end(tx, live.flow, "abandoned", "enough")
    )
    assert (met.first, met.second, met.second_waited) == (True, True, True)
    over = await pg_store.read(lambda tx: flows.get(tx, live.flow.id))
    assert (over.status, over.error) == ("abandoned", "enough")


async def test_a_flow_that_was_ended_is_not_advanced(pg_store: PostgresStore) -> None:
    live = await _live(pg_store)
    met = await interleave(
        pg_store, lambda tx: flows.end(tx, live.flow, "abandoned", "enough"), lambda tx: _write(tx, live, "1")
    )
    assert (met.first, met.second, met.second_waited) == (True, False, True)
    assert (await pg_store.read(lambda tx: flows.get(tx, live.flow.id))).status == "abandoned"
    assert await pg_store.read(lambda tx: flows.fields(tx, live.flow.id)) == {}


async def test_a_flow_ends_once(pg_store: PostgresStore) -> None:
    live = await _live(pg_store)
    met = await interleave(
        pg_store, lambda tx: flows.end(tx, live.flow, "failed"), lambda tx: flows.end(tx, live.flow, "abandoned")
    )
    assert (met.first, met.second, met.second_waited) == (True, False, True)


async def test_what_the_last_holder_has_computed_is_refused(pg_store: PostgresStore) -> None:
    live = await _live(pg_store)
    met = await interleave(pg_store, lambda tx: flows.take_over(tx, live.flow.id), lambda tx: _write(tx, live, "1"))
    assert (met.second, met.second_waited) == (False, True)
