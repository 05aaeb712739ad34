"""What an attempt says that it has used counts at once, and ends it at a limit; nothing is counted twice."""

from collections.abc import AsyncGenerator
from dataclasses import replace

from moot.backends.backend import Assignment, Ended, Progress, Usage, Warned
from moot.ledger import usage
from moot.store.store import Store
from moot.workflow.workflow import Budget
from tests.runner.team import gather, make_host, running
from tests.runner.test_limits import PLAIN, Play, play

ONE = Usage(input_tokens=70, output_tokens=30, turns=1, cost=0.25)


class Spender:
    """Works for ever, and tells what it uses; who is told that it is the last attempt sums up."""

    def __init__(self, *, sums_up: bool = True) -> None:
        self.sums_up = sums_up
        self.told = 0

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        if self.sums_up and " last attempt" in (await assignment.brief()).prompt:
            yield Ended(text="summed up", usage=ONE)
            return
        while self.told < 1000:
            self.told += 1
            yield ONE
        yield Ended()


async def used(found: Play) -> usage.Usage:
    return await found.team.store.read(lambda tx: usage.total(tx, found.run.id))


async def test_a_run_that_reaches_its_budget_cuts_who_is_at_work_and_lets_it_sum_up(store: Store) -> None:
    found, spender = await play(store, {"ann": []}, Budget(cost=1.0)), Spender()
    async with running(make_host(store, backend=spender)):
        assert await found.until_limit() == "budget: $1.00"
    assert (spender.told, (await used(found)).dollars, (await used(found)).attempts) == (4, 1.25, 2)
    assert await found.warnings() == ["The run has reached its budget: $1.00. One last attempt, then it ends."]
    assert "ann: summed up" in await found.team.bodies()
    (failed,) = await found.team.events("attempt_failed")
    assert (failed.data["failure"], failed.data["error"]) == ("budget", "stopped at the budget: $1.00")


async def test_the_last_attempt_is_cut_a_tenth_later_and_its_mail_waits(store: Store) -> None:
    found = await play(store, {"ann": []}, Budget(tokens=1000))
    async with running(make_host(store, backend=Spender(sums_up=False))):
        assert await found.until_limit() == "budget: 1000 tokens"
    assert ((await used(found)).tokens, (await used(found)).attempts) == (1100, 2)
    assert len(await found.team.inbox("ann")) == 1


async def test_an_agent_that_reaches_its_own_budget_is_cut_and_sums_up(store: Store) -> None:
    own = replace(PLAIN, budget=Budget(turns=3))
    found, spender = await play(store, {"ann": [], "bob": []}, Budget(cost=100), own=own), Spender()
    async with running(make_host(store, backend=spender)):
        await found.team.idle()
    assert spender.told == 3
    assert (await found.look()).stopped == ("ann: budget: 3 turns",)
    assert await found.warnings() == ["ann has reached its budget: 3 turns. One last attempt, then it is stopped."]
    assert "ann: summed up" in await found.team.bodies()


class Careful:
    """Guesses on its way, and knows at its end."""

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        yield Usage(10, 10, 1, 0.5, is_estimated=True)
        yield Warned("I was only guessing.")
        yield Usage(10, 10, 1, 0.5, is_estimated=True)
        yield Ended(text="done", usage=Usage(25, 25, 3, 0.75))


async def test_what_is_known_at_the_end_goes_before_what_was_guessed(store: Store) -> None:
    found = await play(store, {"ann": []})
    async with running(make_host(store, backend=Careful())):
        await found.team.idle()
    spent = await used(found)
    assert (spent.tokens, spent.turns, spent.dollars, spent.is_estimated) == (50, 3, 0.75, False)


async def test_what_an_agent_warns_of_is_an_event(store: Store) -> None:
    team = await gather(store, {"coder": []})
    async with running(make_host(store, backend=Careful())):
        await team.say("@coder go")
        await team.idle()
    (warned,) = await team.events("attempt_warned")
    assert warned.data["text"] == "I was only guessing."
