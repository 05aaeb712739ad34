"""Tasks are found by an index, however many there are."""

import pytest

from moot.board import approach, boards, checkpoints, claims, laying, progress, tasks
from moot.core.tx import Query
from tests.plans import plan_on_sqlite


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("ready", "tasks_ready (board=?)"),
        ("has_ready", "tasks_ready (board=?)"),
        ("has_held", "tasks_held (board=?)"),
        ("lapsed", "tasks_held (board=? AND lease_until<?)"),
        ("has_unfinished", "tasks_unfinished (board=?)"),
        ("at_work", "tasks_held (board=?)"),
        ("held_by", "tasks_of_holder (holder=?)"),
        ("finished", "tasks_ended (board=? AND (ended_at,id)<(?,?))"),
        ("group", "tasks_in_group (board=? AND parallel_group=?)"),
        ("page", "tasks_in_order (board=? AND rank>?)"),
        ("named", "tasks_by_name (board=? AND folded=?)"),
    ],
)
def test_tasks_are_found_where_such_ones_are_kept_in_order(name: str, index: str) -> None:
    plan = plan_on_sqlite(getattr(tasks.sql, name))
    assert index in plan
    assert name == "held_by" or "TEMP B-TREE" not in plan


@pytest.mark.parametrize("name", ["get", "locked", "needs", "dependants"])
def test_no_task_is_looked_for_among_all_there_are(name: str) -> None:
    assert "SCAN" not in plan_on_sqlite(getattr(tasks.sql, name))


@pytest.mark.parametrize("name", ["latest", "page", "last_number", "add"])
def test_checkpoints_are_read_from_where_they_are_wanted(name: str) -> None:
    plan = plan_on_sqlite(getattr(checkpoints.sql, name))
    assert "SEARCH checkpoints USING PRIMARY KEY (task=?" in plan
    assert "TEMP B-TREE" not in plan


@pytest.mark.parametrize("query", [claims.sql.claim, claims.sql.renew, claims.sql.release, approach.sql.plan])
def test_a_claim_touches_its_row_only(query: Query) -> None:
    assert "SEARCH tasks USING INDEX sqlite_autoindex_tasks_1 (id=?)" in plan_on_sqlite(query)


@pytest.mark.parametrize("name", ["advance", "end", "unblock", "retry"])
def test_an_end_touches_its_row_and_those_that_wait_for_it(name: str) -> None:
    plan = plan_on_sqlite(getattr(progress.sql, name))
    assert "SCAN" not in plan
    assert name != "unblock" or "task_edges_back (needs=?)" in plan


@pytest.mark.parametrize(
    "name", ["some_there", "some", "next_rank", "count_blockers_of", "remove", "remove_edges_back"]
)
def test_what_is_added_or_removed_is_found_by_an_index(name: str) -> None:
    plan = plan_on_sqlite(getattr(laying.sql, name))
    assert not [line for line in plan.splitlines() if "SCAN" in line and "json_each" not in line]


@pytest.mark.parametrize("name", ["get", "turn", "all_of"])
def test_boards_are_found_by_an_index(name: str) -> None:
    plan = plan_on_sqlite(getattr(boards.sql, name))
    assert "SCAN boards" not in plan
