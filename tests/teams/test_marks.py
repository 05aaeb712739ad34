"""What is done once, or only so often, is counted for a team in its run."""

from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.teams import marks
from tests.interleave import interleave
from tests.teams.desk import open_desk


async def test_marks_count_and_are_cleared_together(store: Store) -> None:
    desk = await open_desk(store)
    team = await desk.begin()
    counted = [await desk.house.write(lambda tx: marks.add(tx, team, "a")) for _ in range(3)]
    assert counted == [1, 2, 3]
    await desk.house.write(lambda tx: marks.add(tx, team, "b"))
    assert await desk.house.read(lambda tx: marks.names(tx, team)) == {"a", "b"}
    assert await desk.house.read(lambda tx: (marks.count(tx, team, "a"), marks.count(tx, team, "c"))) == (3, 0)
    await desk.house.write(lambda tx: marks.clear(tx, team))
    assert await desk.house.read(lambda tx: marks.names(tx, team)) == frozenset()


async def test_two_who_mark_the_same_at_once_are_counted_both(pg_store: PostgresStore) -> None:
    desk = await open_desk(pg_store)
    team = await desk.begin()
    met = await interleave(pg_store, lambda tx: marks.add(tx, team, "a"), lambda tx: marks.add(tx, team, "a"))
    assert (met.first, met.second) == (1, 2)
