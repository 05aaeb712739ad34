"""What the bench compares is the same work."""

from pathlib import Path

import apsw

from bench import boards
from bench.boards import LANES
from bench.raw_claims import RawClaims
from moot.board import laying
from moot.core.caller import SYSTEM

SIZE = LANES + 2


async def test_raw_claims_leave_the_rows_of_a_task_that_was_claimed_and_completed(tmp_path: Path) -> None:
    shapes: list[object] = []
    for name in ("moot", "raw"):
        desk = await boards.open_file(tmp_path / name)
        boards.fill(tmp_path / name / "moot.db", desk, SIZE)
        ids = boards.ids(desk, 0)
        if name == "moot":
            id = next(ids)
            await desk.claim(id)
            await desk.complete(id)
        else:
            raw = RawClaims(tmp_path / name, desk)
            raw.do(next(ids))
            raw.close()
        await desk.store.close()
        shapes.append(shape(tmp_path / name))
    assert shapes[0] == shapes[1]


async def test_a_filled_board_is_like_one_that_was_planned(tmp_path: Path) -> None:
    shapes: list[object] = []
    for name in ("filled", "planned"):
        desk = await boards.open_file(tmp_path / name)
        if name == "filled":
            boards.fill(tmp_path / name / "moot.db", desk, SIZE)
        else:
            plan = boards.plan(SIZE)
            await desk.store.write(
                lambda tx, desk=desk, plan=plan: laying.set_plan(tx, desk.board.id, plan), caller=SYSTEM
            )
        await desk.store.close()
        shapes.append(shape(tmp_path / name)[:2])
    assert shapes[0] == shapes[1]


_SHAPE = (
    """
    select name, folded, description, rank, status, blockers, holder, hand, fence, lease_until, plan, context, outcome,
      outcome_detail, error, done_by is null, started_at is null, ended_at is null
    from tasks order by rank
    """,
    """
    select t.rank, n.rank, e.kind from task_edges e join tasks t on t.id = e.task join tasks n on n.id = e.needs
    order by t.rank, n.rank
    """,
    "select kind from events where kind in ('task_claimed', 'task_status') order by seq",
)


def shape(folder: Path) -> list[object]:
    """Tasks, what they need, and that they were claimed and completed, without ids and times."""
    connection = apsw.Connection(str(folder / "moot.db"))
    found: list[object] = [connection.execute(query).fetchall() for query in _SHAPE]
    connection.close()
    return found
