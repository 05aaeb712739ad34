"""A call under a key is done once, whoever repeats it and whenever."""

from dataclasses import replace

import pytest

from moot.core.caller import SYSTEM, Caller
from moot.core.errors import InvalidInput
from moot.core.ids import AgentId, AttemptId, InstanceName, OperationId
from moot.core.tx import Query, Tx
from moot.ledger import operations
from moot.ledger.operations import Deed, Key, KeyReused, OutcomeUnknown
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.interleave import interleave

ATTEMPT = AttemptId("at_1")
ANN = Caller("ann", "member", InstanceName("default"), AgentId("ag_1"), attempt=ATTEMPT)
COUNT = Query("count", *["select count(*) from operations"] * 2)


def deed(key: str | None, arguments: str = "hash", name: str = "channel_send", scope: str = "jb_1") -> Deed:
    return Deed("tool", name, arguments, Key(scope, key) if key else None)


def do(tx: Tx, what: Deed, answer: str) -> str:
    """As a tool call does it: begin, change something, keep the answer."""
    operation = operations.begin(tx, what, ANN)
    if operation is None:
        return f"again: {operations.answer(tx, what)}"
    if what.key is not None:
        operations.end(tx, operation, answer)
    return answer


async def done(store: Store, what: Deed, answer: str = "sent") -> str:
    return await store.write(lambda tx: do(tx, what, answer), caller=SYSTEM)


async def calls(store: Store, attempt: AttemptId) -> list[str]:
    found = await store.read(lambda tx: operations.of_attempt(tx, attempt))
    return [f"{one.state} {one.name}" for one in found]


async def count(store: Store) -> int:
    return await store.read(lambda tx: tx.one(COUNT, int))


async def test_the_same_key_gets_the_same_answer(store: Store) -> None:
    assert await done(store, deed("k1"), "first") == "first"
    assert await done(store, deed("k1"), "second") == "again: first"
    assert await count(store) == 1


async def test_without_a_key_everything_is_done(store: Store) -> None:
    assert [await done(store, deed(None)) for _ in range(2)] == ["sent", "sent"]
    assert await count(store) == 2


async def test_another_key_or_another_scope_is_another_call(store: Store) -> None:
    calls = [deed("k1"), deed("k2"), deed("k1", scope="jb_2")]
    assert [await done(store, one) for one in calls] == ["sent"] * 3


async def test_an_attempt_that_repeats_a_call_has_made_it_too(store: Store) -> None:
    first, second = (AttemptId(f"at_{number}") for number in (1, 2))

    def again(tx: Tx) -> str:
        assert operations.begin(tx, deed("k1"), replace(ANN, attempt=second)) is None
        return operations.repeat(tx, deed("k1"), replace(ANN, attempt=second))

    await done(store, deed("k1"), "first")
    assert await calls(store, second) == []
    assert [await store.write(again, caller=SYSTEM) for _ in range(2)] == ["first", "first"]
    assert await calls(store, first) == ["done channel_send"]
    assert await calls(store, second) == ["repeated channel_send"] * 2
    asked = [(first, "channel_send"), (second, "channel_send"), (second, "inbox_ack"), (AttemptId("at_3"), "x")]
    answers = [await store.read(lambda tx, one=one: operations.has_called(tx, *one)) for one in asked]
    assert answers == [True, True, False, False]


async def test_a_repetition_by_somebody_without_an_attempt_is_not_noted(store: Store) -> None:
    await done(store, deed("k1"), "first")
    person = replace(ANN, attempt=None)
    assert await store.write(lambda tx: operations.repeat(tx, deed("k1"), person), caller=SYSTEM) == "first"
    assert await count(store) == 1


async def test_a_key_cannot_be_used_for_another_call(store: Store) -> None:
    await done(store, deed("k1"), "first")
    for other in (deed("k1", arguments="other"), deed("k1", name="inbox_ack")):
        with pytest.raises(KeyReused) as refused:
            await done(store, other)
        assert refused.value.code == "KEY_REUSED"
        assert "channel_send" in refused.value.fact
    assert await done(store, deed("k1")) == "again: first"


async def test_a_call_that_failed_can_be_made_again_under_its_key(store: Store) -> None:
    def fail(tx: Tx) -> None:
        do(tx, deed("k1"), "never said")
        raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        await store.write(fail, caller=SYSTEM)
    assert await done(store, deed("k1"), "sent") == "sent"


async def test_what_an_attempt_did_is_listed_in_order(store: Store, clock: ManualClock) -> None:
    for name in ("c", "a", "b"):
        await done(store, deed(None, name=name))
        clock.advance(0.0001)
    await done(store, deed("k1", name="d"), "kept")
    found = await store.read(lambda tx: operations.of_attempt(tx, ATTEMPT))
    assert [(one.name, one.state, one.result, one.actor) for one in found] == [
        ("c", "done", None, "ann"),
        ("a", "done", None, "ann"),
        ("b", "done", None, "ann"),
        ("d", "done", "kept", "ann"),
    ]
    assert await store.read(lambda tx: operations.of_attempt(tx, AttemptId("at_2"))) == []


async def begin_outside(store: Store, key: str) -> OperationId:
    begun = await store.write(lambda tx: operations.begin(tx, deed(key), ANN, is_outside=True), caller=SYSTEM)
    assert begun is not None
    return begun


async def states(store: Store) -> list[str]:
    return [one.state for one in await store.read(lambda tx: operations.of_attempt(tx, ATTEMPT))]


async def test_what_was_begun_outside_and_never_ended_is_not_repeated(store: Store) -> None:
    await begin_outside(store, "k1")
    assert await states(store) == ["started"]
    for _ in range(2):
        with pytest.raises(OutcomeUnknown) as refused:
            await done(store, deed("k1"))
        assert refused.value.code == "OUTCOME_UNKNOWN"
        await store.write(lambda tx: operations.lose(tx, ATTEMPT), caller=SYSTEM)
        assert await states(store) == ["unknown"]


async def test_only_what_was_not_ended_is_of_unknown_outcome(store: Store) -> None:
    await done(store, deed("k1"))
    id = await begin_outside(store, "k2")
    await store.write(lambda tx: operations.end(tx, id, "kept"), caller=SYSTEM)
    assert await store.write(lambda tx: operations.lose(tx, ATTEMPT), caller=SYSTEM) == 0
    assert await done(store, deed("k2")) == "again: kept"


async def test_what_is_known_to_have_failed_may_be_tried_again(store: Store) -> None:
    id = await begin_outside(store, "k1")
    await store.write(lambda tx: operations.fail(tx, id, "no"), caller=SYSTEM)
    assert await states(store) == ["failed"]
    assert await done(store, deed("k1"), "sent") == "sent"
    assert await done(store, deed("k1")) == "again: sent"


def test_the_order_of_arguments_does_not_matter_and_their_values_do() -> None:
    assert operations.hash_of({"a": 1, "b": [2, {"d": 3, "c": 4}]}) == operations.hash_of(
        {"b": [2, {"c": 4, "d": 3}], "a": 1}
    )
    others = [{}, {"a": 1}, {"a": "1"}, {"a": None}, {"a": [1]}, {"a": True}, {"a": 1.5}]
    assert len({operations.hash_of(one) for one in others}) == len(others)


def test_arguments_that_are_not_json_are_refused() -> None:
    with pytest.raises(InvalidInput):
        operations.hash_of({"a": "\ud800"})


async def test_two_who_use_a_key_at_once_get_one_answer(pg_store: PostgresStore) -> None:
    met = await interleave(pg_store, lambda tx: do(tx, deed("k1"), "first"), lambda tx: do(tx, deed("k1"), "second"))
    assert met.second_waited
    assert (met.first, met.second) == ("first", "again: first")
    assert await count(pg_store) == 1
