"""What a run and an agent may use: asked before every attempt, told once when it is used up, with one last attempt."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from moot.bus import messages
from moot.core.ids import HostId, JobId
from moot.core.tx import Tx
from moot.ledger import budgets, stops, usage
from moot.ledger.budgets import Guards, Limits, Share
from moot.ledger.usage import DOLLAR, Spent
from moot.registry import agents, attempts, runs
from moot.registry.agents import Agent, NewAgent
from moot.registry.attempts import NewAttempt
from moot.registry.runs import NewRun
from moot.runner import purses
from moot.runner.purses import Answer, Purse
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from tests.interleave import interleave
from tests.registry.house import House, build

NO_LIMITS = Limits()


@dataclass(frozen=True)
class Table:
    """A run with a purse, and two agents that work for it."""

    house: House
    purse: Purse
    ann: Agent
    bob: Agent

    async def begins(self, *who: Agent) -> list[Answer]:
        return [await self.house.write(self.begin(agent)) for agent in who]

    def begin(self, agent: Agent) -> Callable[[Tx], Answer]:
        def change(tx: Tx) -> Answer:
            answer = purses.ask(tx, self.purse, agent.id)
            if answer == "none":
                return answer
            new = NewAttempt(agent.id, agent.stream, JobId("jb_1"), 1, 1, HostId("ho_1"))
            attempt = attempts.start(tx, new)
            usage.begin(tx, self.purse.scope, agent.id)
            if answer == "last":
                purses.begin_last(tx, self.purse, agent.id, attempt)
            return answer

        return change

    async def use(self, spent: Spent) -> None:
        def change(tx: Tx) -> None:
            usage.begin(tx, self.purse.scope, self.ann.id)
            usage.record(tx, self.purse.scope, self.ann.id, spent)

        await self.house.write(change)

    async def reached(self) -> str | None:
        found = await self.house.read(lambda tx: stops.find(tx, self.purse.scope, self.purse.owner))
        return None if found is None else found.reason

    async def warnings(self) -> list[str]:
        return [one.body for one in await self.house.read(lambda tx: messages.latest(tx, self.house.stream, 50))]


@pytest.fixture(params=["of the run", "its own"])
def is_of_run(request: pytest.FixtureRequest) -> bool:
    return request.param == "of the run"


async def lay(store: Store, limits: Limits, *, is_of_run: bool = True) -> Table:
    house = await build(store)

    def change(tx: Tx) -> Table:
        run = runs.start(tx, house.instance, NewRun("talk", "talk.yaml", "run", {}, {}, HostId("ho_1")))
        budgets.open(tx, run.id, limits if is_of_run else NO_LIMITS, Guards(None, None))
        ann, bob = (agents.ensure(tx, house.instance, NewAgent(name=name)) for name in ("ann", "bob"))
        own = Purse(run.id, run.instance, "ann", is_last=False, owner=ann.id, own=limits)
        return Table(house, purses.of_run(run) if is_of_run else own, ann, bob)

    return await house.write(change)


async def test_at_a_limit_one_last_attempt_begins_and_none_after_it(store: Store, *, is_of_run: bool) -> None:
    table = await lay(store, Limits(attempts=2), is_of_run=is_of_run)
    assert await table.begins(*[table.ann] * 5) == ["free", "free", "last", "none", "none"]
    assert await table.reached() == "budget: 2 attempts"
    who, end = ("The run", "it ends") if is_of_run else ("ann", "it is stopped")
    assert await table.warnings() == [f"{who} has reached its budget: 2 attempts. One last attempt, then {end}."]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(cost=500_000), "budget: $0.50"),
        (Limits(tokens=15), "budget: 15 tokens"),
        (Limits(turns=3), "budget: 3 turns"),
        (Limits(attempts=1), "budget: 1 attempt"),
    ],
)
async def test_every_kind_of_use_has_its_limit(store: Store, limits: Limits, reason: str, *, is_of_run: bool) -> None:
    table = await lay(store, limits, is_of_run=is_of_run)
    assert await table.reached() is None
    await table.use(Spent(10, 5, 3, 0.5))
    assert await table.begins(table.ann) == ["last"]
    assert await table.reached() == reason


async def test_without_limits_everything_may_begin(store: Store, *, is_of_run: bool) -> None:
    table = await lay(store, NO_LIMITS, is_of_run=is_of_run)
    await table.use(Spent(10**9, 10**9, 10**9, 10**6))
    assert await table.begins(table.ann) == ["free"]


async def test_who_only_asks_has_not_begun_the_last_attempt(store: Store, *, is_of_run: bool) -> None:
    """It may be put off after that, by a provider that asks to wait."""
    table = await lay(store, Limits(attempts=1), is_of_run=is_of_run)
    await table.begins(table.ann)
    asked = [await table.house.write(lambda tx: purses.ask(tx, table.purse, table.ann.id)) for _ in range(2)]
    assert (asked, await table.begins(table.ann, table.ann)) == (["last", "last"], ["last", "none"])
    assert len(await table.warnings()) == 1


async def test_of_two_hosts_one_begins_the_last_attempt(pg_store: PostgresStore) -> None:
    table = await lay(pg_store, Limits(attempts=1))
    met = await interleave(pg_store, table.begin(table.ann), table.begin(table.bob))
    assert met.second_waited
    assert (met.first, met.second) == ("free", "last")
    met = await interleave(pg_store, table.begin(table.ann), table.begin(table.bob))
    assert (met.first, met.second) == ("none", "none")


async def test_an_attempt_is_cut_at_what_it_uses_and_not_for_being_one_too_many(
    store: Store, *, is_of_run: bool
) -> None:
    table = await lay(store, Limits(attempts=1, tokens=100), is_of_run=is_of_run)
    await table.use(Spent(90, 9))
    assert await table.house.write(lambda tx: purses.overrun(tx, table.purse)) is None
    await table.house.write(lambda tx: usage.record(tx, table.purse.scope, table.ann.id, Spent(1)))
    found = await table.house.write(lambda tx: purses.overrun(tx, table.purse))
    assert found == Share("tokens", 100, 100)
    assert await table.reached() == "budget: 100 tokens"


async def test_the_last_attempt_has_a_tenth_more(store: Store, *, is_of_run: bool) -> None:
    table = await lay(store, Limits(tokens=100, cost=DOLLAR), is_of_run=is_of_run)
    last = replace(table.purse, is_last=True)
    await table.use(Spent(109, dollars=1.05))
    assert await table.house.write(lambda tx: purses.overrun(tx, last)) is None
    money = await table.house.read(lambda tx: purses.money(tx, last))
    assert money is not None
    assert (money.limit, money.left) == (1_100_000, 50_000)
    await table.house.write(lambda tx: usage.record(tx, table.purse.scope, table.ann.id, Spent(1)))
    assert await table.house.write(lambda tx: purses.overrun(tx, last)) == Share("tokens", 100, 110)
