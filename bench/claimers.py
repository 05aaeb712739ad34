"""Worker processes that claim and complete tasks on PostgreSQL, one connection each: through moot, and raw."""

import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

import psycopg

from bench import boards, loops
from bench.boards import LANES, OUTCOME, Desk
from bench.crew import Job, Order, Result
from moot.board import boards as stored
from moot.board.boards import Board
from moot.board.claims import Holder
from moot.core.ids import AgentId, BoardId
from moot.store import postgres
from moot.store.postgres import PostgresStore

_CLAIM = """
update tasks set status = 'planning', holder = %(worker)s, hand = %(worker)s, fence = fence + 1,
  lease_until = %(until)s, started_at = %(now)s, updated_at = %(now)s
where id = %(id)s and status = 'pending' and blockers = 0
  and exists (select 1 from boards where id = tasks.board and status in ('ready', 'in_progress'))
returning fence
"""
_COMPLETE = """
update tasks set status = 'completed', holder = null, hand = null, lease_until = null, outcome = %(outcome)s,
  done_by = %(worker)s, ended_at = %(now)s, updated_at = %(now)s
where id = %(id)s and hand = %(worker)s and lease_until > %(now)s
returning name
"""
_UNBLOCK = """
update tasks set blockers = blockers - 1
where id in (
  select id from tasks where id in (select task from task_edges where needs = %(id)s and kind = 'blocks')
  order by id for update
)
"""
_TAKE_NUMBER = "update streams set seq = seq + 1, at = greatest(at, %(now)s) where id = %(stream)s returning seq"
_ADD_EVENT = """
insert into events (stream, seq, kind, subject, data, actor, at)
values (%(stream)s, %(seq)s, %(kind)s, %(id)s, %(data)s, 'worker', %(now)s)
"""
_NOTED = """
number as (
  update streams set seq = seq + 1, at = greatest(at, %(now)s)
  where id = %(stream)s and exists (select 1 from changed) returning seq
)
insert into events (stream, seq, kind, subject, data, actor, at)
select %(stream)s, seq, %(kind)s, %(id)s, %(data)s, 'worker', %(now)s from number
"""
_CLAIM_AT_ONCE = f"with changed as ({_CLAIM}), {_NOTED}"
_COMPLETE_AT_ONCE = f"with changed as ({_COMPLETE}), freed as ({_UNBLOCK} returning id), {_NOTED}"
_LEASE = 300_000_000


@contextmanager
def by_moot(setup: Order) -> Generator[Job]:
    with loops.runner() as runner:
        store = postgres.open_url(setup["url"], create=False)
        desk = runner.run(_desk(store, setup))
        ids = _own(desk.board.id, setup)

        def job(order: Order) -> Result:
            cpu = time.process_time()
            return runner.run(_worked(desk, ids, order["seconds"])) | {"cpu": time.process_time() - cpu}

        yield job
        runner.run(store.close())


async def _desk(store: PostgresStore, setup: Order) -> Desk:
    board: Board = await store.read(lambda tx: stored.get(tx, BoardId(setup["board"])))
    name = f"worker{setup['place']}"
    return Desk(store, board, Holder(AgentId(name), name, name))


async def _worked(desk: Desk, ids: Generator[boards.TaskId], seconds: float) -> Result:
    count, started = 0, time.monotonic()
    while time.monotonic() - started < seconds:
        id = next(ids)
        await desk.claim(id)
        await desk.complete(id)
        count += 1
    return {"tasks": count, "seconds": time.monotonic() - started}


def by_psycopg(setup: Order) -> AbstractContextManager[Job]:
    """The same rows and decisions in transactions of a plain program, its statements prepared."""
    return _plainly(setup, _do)


def by_fewest(setup: Order) -> AbstractContextManager[Job]:
    """The same, in as few statements as there can be."""
    return _plainly(setup, _do_at_once)


@contextmanager
def _plainly(setup: Order, do: "Callable[[psycopg.Cursor[tuple[object, ...]], str, str, str], None]") -> Generator[Job]:
    with psycopg.connect(setup["url"], autocommit=True) as connection:
        connection.execute(f"set search_path to {setup['schema']}".encode())
        connection.prepare_threshold = 0
        cursor = connection.cursor()  # one for all: to make another costs as much as a statement
        ids = _own(setup["board"], setup)
        worker = f"worker{setup['place']}"

        def job(order: Order) -> Result:
            count, started, cpu = 0, time.monotonic(), time.process_time()
            while time.monotonic() - started < order["seconds"]:
                do(cursor, next(ids), worker, setup["stream"])
                count += 1
            return {"tasks": count, "seconds": time.monotonic() - started, "cpu": time.process_time() - cpu}

        yield job


def _do_at_once(cursor: "psycopg.Cursor[tuple[object, ...]]", id: str, worker: str, stream: str) -> None:
    """The fewest ways to the server that there can be: each of the two is one statement, and its own transaction."""
    now = time.time_ns() // 1000
    facts: dict[str, object] = {"id": id, "worker": worker, "now": now, "until": now + _LEASE}
    facts |= {"outcome": OUTCOME, "stream": stream}
    claimed = {"kind": "task_claimed", "data": f'{{"name":"{id}","by":"{worker}","fence":1}}'}
    assert cursor.execute(_CLAIM_AT_ONCE, facts | claimed).rowcount == 1
    done = {"kind": "task_status", "data": f'{{"name":"{id}","status":"completed"}}'}
    assert cursor.execute(_COMPLETE_AT_ONCE, facts | done).rowcount == 1


def _do(cursor: "psycopg.Cursor[tuple[object, ...]]", id: str, worker: str, stream: str) -> None:
    now = time.time_ns() // 1000
    facts: dict[str, object] = {"id": id, "worker": worker, "now": now, "until": now + _LEASE}
    facts |= {"outcome": OUTCOME, "stream": stream}
    execute = cursor.execute
    execute("begin")
    assert execute(_CLAIM, facts).fetchone()
    claimed = {"kind": "task_claimed", "data": f'{{"name":"{id}","by":"{worker}","fence":1}}'}
    _note(cursor, facts | claimed)
    execute("commit")
    execute("begin")
    assert execute(_COMPLETE, facts).fetchone()
    execute(_UNBLOCK, facts)
    _note(cursor, facts | {"kind": "task_status", "data": f'{{"name":"{id}","status":"completed"}}'})
    execute("commit")


def _note(cursor: "psycopg.Cursor[tuple[object, ...]]", facts: dict[str, object]) -> None:
    """Last, because it holds a row that all who work on the same board share."""
    row = cursor.execute(_TAKE_NUMBER, facts).fetchone()
    assert row is not None
    cursor.execute(_ADD_EVENT, facts | {"seq": row[0]})


def _own(board: str, setup: Order) -> Generator[boards.TaskId]:
    """Those lanes of the board that are this worker's: `place` of `workers` who share it."""
    assert LANES % setup["workers"] == 0
    number = setup["share"]
    while True:
        yield boards.task_id(board, number)
        number += setup["workers"]
