"""A computation can be made again as if it were the same moment."""

from typing import cast

from moot.core import json
from moot.core.json import Json
from moot.engine.expressions import moments
from moot.engine.expressions.evaluation import Evaluation, Value
from moot.engine.expressions.moments import AtMoment, Moment
from moot.engine.expressions.sandbox import Sandbox
from moot.testing.clock import ManualClock

DRAWN = "[now(), uuid(), Math.random(), Date.now()]"


async def drawn(sandbox: Sandbox, moment: Moment, requests: int = 2) -> list[Json]:
    evaluator = AtMoment(sandbox, moment)
    found = [(await evaluator.evaluate({}, [Evaluation(DRAWN)]))[0] for _ in range(requests)]
    return [json.loads(one.text) for one in found if isinstance(one, Value)]


async def test_the_same_moment_gives_the_same_time_and_the_same_chance(sandbox: Sandbox) -> None:
    first = await drawn(sandbox, Moment(1_000, "a"))
    assert await drawn(sandbox, Moment(1_000, "a")) == first
    assert await drawn(sandbox, Moment(1_000, "b")) != first


async def test_in_one_moment_time_stands_still_and_nothing_is_drawn_twice(sandbox: Sandbox) -> None:
    found = [cast(list[Json], one) for one in await drawn(sandbox, Moment(1_000, "a"), 3)]
    assert [(one[0], one[3]) for one in found] == [("1970-01-01T00:00:01.000Z", 1_000)] * 3
    assert [len({str(one[at]) for one in found}) for at in (1, 2)] == [3, 3]


async def test_what_follows_one_that_ends_the_worker_draws_anew_and_the_same_again(sandbox: Sandbox) -> None:
    hangs = "Array.prototype.join.call({length: 2 ** 32 - 1}, '')"
    request = [Evaluation("uuid()"), Evaluation(hangs), Evaluation("uuid()")]

    async def texts() -> list[str]:
        found = await sandbox.evaluate({}, request, Moment(1_000, "a"))
        return [one.text for one in found if isinstance(one, Value)]

    first = await texts()
    assert len(set(first)) == len(first) == 2
    assert await texts() == first


def test_a_new_moment_is_now_and_unlike_any_other() -> None:
    clock = ManualClock()
    first, second = moments.new(clock), moments.new(clock)
    assert first.millis == second.millis == clock.micros() // 1000
    assert first.seed != second.seed
