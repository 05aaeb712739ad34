"""No statement about mail reads more than the mail it is about: each uses an index, on both databases."""

import pytest

from moot.bus import mailbox, messages
from moot.core.caller import SYSTEM
from moot.core.tx import Query, Tx, Value
from moot.store.postgres import PostgresStore
from tests.plans import plan_on_sqlite

UNREAD = ("unread", "count_unread", "has_queued", "has_queued_for_reader", "deliver", "delivered", "ack_attempt",
          "park_rejoined", "take_back", "park", "park_until", "park_queued", "inherit", "bury", "ack_delivered",
          "ack_until", "counts")  # fmt: skip
PARKED = ("parked", "rejoin", "revive", "bury_parked", "counts")
BY_KEY = ("deliver_one", "place_of_id", "place_of_seq", "ack_one", "receipts", "revive_message", "drop_message")
MAIL = [(name, "mailbox_unread") for name in UNREAD] + [(name, "mailbox_parked") for name in PARKED]
VALUES: dict[str, Value] = {
    "agent": "ag", "attempt": "at", "stream": "in", "seq": 1, "limit": 1, "now": 1, "moment": 1, "id": "ms",
    "is_failure": 1, "heir": "ag2",
}  # fmt: skip


_ARE_OURS = "oid in ('mailbox'::regclass, 'messages'::regclass, 'agents'::regclass)"


@pytest.mark.parametrize(("name", "index"), MAIL)
def test_waiting_mail_is_found_by_its_index_on_sqlite(name: str, index: str) -> None:
    plan = plan_on_sqlite(getattr(mailbox.sql, name))
    assert index in plan
    assert "SCAN mailbox" not in plan
    assert "SCAN b" not in plan


@pytest.mark.parametrize("name", ["unread", "count_unread", "has_queued", "delivered", "counts"])
def test_how_mail_waits_is_told_by_the_index_alone_on_sqlite(name: str) -> None:
    """The mailbox itself lies deeper the more was ever said."""
    assert "USING COVERING INDEX mailbox_unread (agent=?" in plan_on_sqlite(getattr(mailbox.sql, name))


@pytest.mark.parametrize("name", BY_KEY)
def test_a_named_message_is_found_by_its_key_on_sqlite(name: str) -> None:
    plan = plan_on_sqlite(getattr(mailbox.sql, name))
    assert "USING PRIMARY KEY (stream=? AND seq=?" in plan
    assert "SCAN" not in plan


@pytest.mark.parametrize("name", ["get", "latest", "latest_after", "after", "of_thread", "count"])
def test_messages_are_found_by_an_index_on_sqlite(name: str) -> None:
    assert "SCAN" not in plan_on_sqlite(getattr(messages.sql, name))


async def test_waiting_mail_is_found_by_its_index_on_postgres(pg_store: PostgresStore) -> None:
    """The tables of a test are small and a scan would be chosen for being cheap, so it is forbidden here; and of one
    that was looked at while it was empty every index is as good as another."""

    def plans(tx: Tx) -> list[str]:
        tx.run(Query("forbid_scans", "", "set local enable_seqscan = off"))
        tx.run(Query("forget", "", f"update pg_class set reltuples = -1, relpages = 0 where {_ARE_OURS}"))
        found: list[str] = []
        for name, _ in MAIL:
            query: Query = getattr(mailbox.sql, name)
            explain = Query("explain", "", f"explain {query.postgres}")
            found.append("\n".join(tx.all(explain, str, **VALUES)))
        return found

    for (name, index), plan in zip(MAIL, await pg_store.write(plans, caller=SYSTEM), strict=True):
        assert index in plan, name
        assert "Seq Scan on mailbox" not in plan, name
