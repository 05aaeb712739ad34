"""What attempts use is added up for each agent and for all, exactly."""

from datetime import timedelta

from moot.core.ids import AgentId, RunId
from moot.core.tx import Tx
from moot.ledger import usage
from moot.ledger.usage import Spent, Usage
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from tests.interleave import interleave
from tests.registry.house import build

RUN = RunId("wf_1")
ANN, BOB = AgentId("ag_ann"), AgentId("ag_bob")


def attempt(tx: Tx, agent: AgentId, spent: Spent) -> None:
    usage.begin(tx, RUN, agent)
    usage.record(tx, RUN, agent, spent)


async def test_nothing_is_used_before_anybody_starts(store: Store) -> None:
    house = await build(store)
    assert await house.read(lambda tx: usage.total(tx, RUN)) == Usage()
    assert await house.read(lambda tx: usage.of_agent(tx, RUN, ANN)) == Usage()
    assert await house.read(lambda tx: usage.by_agent(tx, RUN)) == {}


async def test_what_attempts_use_is_added_up_by_agent_and_in_all(store: Store) -> None:
    house = await build(store)
    for _ in range(3):
        await house.write(lambda tx: attempt(tx, ANN, Spent(10, 5, 2, 0.1, timedelta(seconds=1))))
    await house.write(lambda tx: attempt(tx, BOB, Spent(output_tokens=1, dollars=0.000001, is_estimated=True)))
    await house.write(lambda tx: usage.begin(tx, RUN, BOB))
    ann = Usage(3, 30, 15, 6, 300_000, 3_000_000)
    bob = Usage(2, 0, 1, 0, 1, 0, is_estimated=True)
    found = await house.read(lambda tx: usage.by_agent(tx, RUN))
    assert {agent: Usage(one.attempts, one.input_tokens, one.output_tokens, one.turns, one.cost, one.busy,
                         one.is_estimated) for agent, one in found.items()} == {ANN: ann, BOB: bob}  # fmt: skip
    assert await house.read(lambda tx: usage.of_agent(tx, RUN, ANN)) == ann
    total = await house.read(lambda tx: usage.total(tx, RUN))
    assert (total.attempts, total.tokens, total.dollars, total.is_estimated) == (5, 46, 0.300001, True)
    assert (await house.read(lambda tx: usage.total(tx, RunId("wf_2")))).attempts == 0


async def test_two_attempts_that_end_at_once_are_both_counted(pg_store: PostgresStore) -> None:
    house = await build(pg_store)
    await house.write(lambda tx: usage.begin(tx, RUN, ANN))
    spent = Spent(output_tokens=1)
    met = await interleave(
        pg_store, lambda tx: usage.record(tx, RUN, ANN, spent), lambda tx: usage.record(tx, RUN, ANN, spent)
    )
    assert met.second_waited
    assert (await house.read(lambda tx: usage.of_agent(tx, RUN, ANN))).output_tokens == 2


async def test_amounts_that_cannot_be_are_bounded(store: Store) -> None:
    house = await build(store)
    await house.write(lambda tx: attempt(tx, ANN, Spent(10**18, 1, 1, 1e300)))
    await house.write(lambda tx: attempt(tx, ANN, Spent(1, 1, 1, float("nan"))))
    found = await house.read(lambda tx: usage.of_agent(tx, RUN, ANN))
    assert (found.input_tokens, found.cost) == (10**15 + 1, 10**15)


async def test_an_attempt_that_was_turned_away_does_not_count(store: Store) -> None:
    house = await build(store)
    await house.write(lambda tx: attempt(tx, ANN, Spent(1)))
    await house.write(lambda tx: usage.begin(tx, RUN, ANN))
    await house.write(lambda tx: usage.take_back(tx, RUN, ANN))
    assert (await house.read(lambda tx: usage.of_agent(tx, RUN, ANN))).attempts == 1
