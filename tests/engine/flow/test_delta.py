"""What is written of a step, and who is woken for it."""

from collections.abc import Sequence
from typing import Any

import pytest

from moot.core.caller import SYSTEM
from moot.core.records import replace
from moot.core.tx import Tx
from moot.engine.flow import delta, forks, strands
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.flows import Flow
from moot.engine.flow.history import Taken
from moot.engine.flow.strands import TASKS, Strand, moved
from moot.engine.frames import Frame
from moot.engine.step import Work
from moot.store.store import Store
from moot.store.tx import StoreTx
from tests.engine.flow.standing import created

TEXTS = (("w.yaml", "steps:\n  - {id: one, type: user_message, message: hello}\n"),)
ELSEWHERE = (Frame("", 3), Frame("then", 1, 2))


def stays(tx: Tx, flow: Flow, strand: Strand) -> Strand:
    return strand


@pytest.fixture
async def live(store: Store) -> Live:
    begun = await created(store, TEXTS)
    change = Delta(flow=replace(begun.flow, status="in_progress"))
    known = await store.write(lambda tx: delta.commit(tx, begun, change, stays), caller=SYSTEM)
    assert known is not None
    return known


async def committed(store: Store, live: Live, change: Delta) -> Live:
    """What is known then, which is what the store has."""
    found = await store.write(lambda tx: delta.commit(tx, live, change, stays), caller=SYSTEM)
    assert found is not None
    stored = await store.read(lambda tx: delta.load(tx, live.flow.id, live.definition))
    assert replace(found.flow, updated_at=stored.flow.updated_at, ended_at=stored.flow.ended_at) == stored.flow
    assert (found.fields, found.strands, found.next_number) == (stored.fields, stored.strands, stored.next_number)
    return stored


async def test_a_strand_that_goes_on_is_where_it_went(store: Store, live: Live) -> None:
    after = await committed(store, live, Delta(strands=(moved(live.main, ELSEWHERE),)))
    assert after.main.frames == ELSEWHERE
    assert after.flow.version == live.flow.version + 1


async def test_everything_else_of_a_strand_is_written_with_its_place(store: Store, live: Live) -> None:
    failing = replace(live.main, frames=ELSEWHERE, tries=2, status="waiting", error="why", own={"item": 1}, seen_step=7)
    after = await committed(store, live, Delta(strands=(failing,)))
    assert after.main == failing
    again = await committed(store, after, Delta(strands=(moved(after.main, live.main.frames),)))
    assert (again.main.status, again.main.tries, again.main.error) == ("moving", 0, "why")


async def test_a_strand_that_goes_on_stays_with_whoever_took_it_meanwhile(store: Store, live: Live) -> None:
    def take(tx: Tx) -> None:
        tx.run(strands.sql.bind, flow=live.flow.id, number=0, holder="ag_other")

    await store.write(take, caller=SYSTEM)
    move = Delta(strands=(moved(live.main, ELSEWHERE),))
    await store.write(lambda tx: delta.commit(tx, live, move, stays), caller=SYSTEM)
    found = await store.read(lambda tx: strands.get(tx, live.flow.id))
    assert (found.holder, found.frames) == ("ag_other", ELSEWHERE)


async def test_whoever_has_computed_from_an_old_version_writes_nothing(store: Store, live: Live) -> None:
    await committed(store, live, Delta({"raw.x": "1"}))
    late = Delta({"raw.x": "2"}, (moved(live.main, ELSEWHERE),), flow=replace(live.flow, status="failed"))
    assert await store.write(lambda tx: delta.commit(tx, live, late, stays), caller=SYSTEM) is None
    stored = await store.read(lambda tx: delta.load(tx, live.flow.id, live.definition))
    assert (stored.fields, stored.main, stored.flow.status) == ({"raw.x": "1"}, live.main, "in_progress")


async def test_a_mere_move_wakes_nobody_if_it_is_quiet(store: Store, live: Live) -> None:
    move = Delta({"raw.x": "1"}, (moved(live.main, ELSEWHERE),), (Taken(0, "one.state_update", "state_update"),))
    assert not await has_news(store, live, move, is_quiet=True)
    stored = await store.read(lambda tx: delta.load(tx, live.flow.id, live.definition))
    assert await has_news(store, stored, move, is_quiet=False)


@pytest.mark.parametrize("what", ["pending", "answered", "told", "ended"])
async def test_what_somebody_may_wait_for_wakes_them(store: Store, live: Live, what: str) -> None:
    changes = {
        "pending": Delta(strands=(replace(live.main, status="pending"),)),
        "answered": Delta(answers={"fi_1": {"success": True}}),
        "told": Delta(taken=(Taken(0, "one.user_message", "user_message", "agent"),)),
        "ended": Delta(flow=replace(live.flow, status="completed")),
    }
    assert await has_news(store, live, changes[what], is_quiet=True)


async def has_news(store: Store, live: Live, change: Delta, *, is_quiet: bool) -> bool:
    """Whether readers are woken after the commit."""

    def commit(tx: Tx) -> bool:
        assert isinstance(tx, StoreTx)
        assert delta.commit(tx, live, change, stays, is_quiet=is_quiet) is not None
        return tx.has_news

    return await store.write(commit, caller=SYSTEM)


async def test_a_flow_that_begins_anew_numbers_its_strands_as_if_it_were_the_first_time(
    store: Store, live: Live
) -> None:
    forked = await committed(store, live, Delta(strands=(Strand(live.flow.id, 1, 0, 2, "task"),)))
    assert forked.next_number == 2
    again = replace(forked.flow, status="starting", retries=1)
    assert (await committed(store, forked, Delta(strands=(forked.main,), flow=again, is_anew=True))).next_number == 1


class Looked(dict[int, Strand]):
    """Strands, and how often somebody has gone through all of them."""

    times = 0

    def values(self) -> Any:
        self.times += 1
        return super().values()


async def test_what_a_flow_waits_for_is_found_in_a_few_looks_however_many_tasks_it_has(live: Live) -> None:
    work = Work(TASKS, "", {"max_parallel": 2, "tasks": []})
    parent = replace(live.main, status="forked", work=work, since=5)
    tasks = [Strand(live.flow.id, at, 0, 5, str(at), status="ready") for at in range(1, 500)]
    under_way = [replace(one, status="waiting", waits_on="ms_1", work=Work("agent_prompt", "")) for one in tasks[:2]]

    def known(children: Sequence[Strand]) -> Looked:
        return Looked((one.number, one) for one in (parent, *children))

    for children, found in (((*under_way, *tasks[2:]), "agent"), (tasks, "")):
        looked = known(children)
        assert delta.waits_for(replace(live, strands=looked)) == found
        assert looked.times < 10
        assert forks.ended(replace(live, strands=looked)) is None
        begun = forks.begun(replace(live, strands=looked))
        assert (0 if begun is None else len(begun.strands)) == (0 if found else 2)
        assert looked.times < 20
    looked = known(tasks)
    assert len(forks.given_up(replace(live, strands=looked), parent)) == len(tasks)
    assert looked.times < 10
