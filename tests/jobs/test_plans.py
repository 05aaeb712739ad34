"""Looking for jobs costs what is found, not what waits: each kind of look has its index, on both databases."""

import re

import pytest

from moot.core.caller import SYSTEM
from moot.core.tx import Query, Tx, Value
from moot.jobs import jobs
from moot.store.postgres import PostgresStore
from tests.plans import plan_on_sqlite

DUE = ("take", "next_at")
INDEXES = ("jobs_due_attempts", "jobs_due_others")
VALUES: dict[str, Value] = {"now": 1, "attempts": 1, "others": 1, "host": "ho", "lease_until": 1}


@pytest.mark.parametrize("name", DUE)
def test_attempts_and_other_jobs_are_each_found_by_their_index_on_sqlite(name: str) -> None:
    """A host that runs no attempts must not walk past all that wait."""
    plan = plan_on_sqlite(getattr(jobs.sql, name))
    looks = [line for line in plan.splitlines() if "jobs_due" in line]
    assert len(looks) == len(INDEXES)
    for look, index in zip(looks, INDEXES, strict=True):
        assert re.fullmatch(rf"SEARCH jobs USING (COVERING )?INDEX {index}( \(run_at<\?\))?", look)
    assert "SCAN jobs" not in plan
    assert "TEMP B-TREE" not in plan


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("next_loss", "jobs_leased"),
        ("lose", "jobs_leased"),
        ("abandon", "jobs_leased"),
        ("live", "jobs_of_stream"),
    ],
)
def test_jobs_are_found_by_their_index_on_sqlite(name: str, index: str) -> None:
    assert index in plan_on_sqlite(getattr(jobs.sql, name))


async def test_attempts_and_other_jobs_are_each_found_by_their_index_on_postgres(pg_store: PostgresStore) -> None:
    """The tables of a test are small and a scan would be chosen for being cheap, so it is forbidden here."""

    def plans(tx: Tx) -> list[str]:
        for way in ("seqscan", "bitmapscan", "sort"):
            tx.run(Query("forbid", "", f"set local enable_{way} = off"))
        found: list[str] = []
        for name in DUE:
            query: Query = getattr(jobs.sql, name)
            values = {key: value for key, value in VALUES.items() if f"%({key})s" in query.postgres}
            explain = Query("explain", "", f"explain {query.postgres}")
            found.append("\n".join(tx.all(explain, str, **values)))
        return found

    for name, plan in zip(DUE, await pg_store.write(plans, caller=SYSTEM), strict=True):
        for index in INDEXES:
            assert f"using {index} on jobs" in plan, name
        assert "Seq Scan on jobs" not in plan, name
        assert "Sort Key" not in plan, name
