from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from moot.models.model import Again, Anew, Answer, Kind, ModelFailed, Piece, Progress, Request, Said
from moot.models.retrying import Patience, Retrying
from moot.testing.clock import ManualClock
from tests.models import asking

ASKED = Request((Said("hi"),))


@dataclass
class Failing:
    """Fails as it is told, then answers."""

    failures: list[ModelFailed]
    asked: int = 0

    async def ask(self, request: Request) -> AsyncGenerator[Progress]:
        self.asked += 1
        yield Piece("well")
        if self.failures:
            raise self.failures.pop(0)
        yield Answer("well")


@dataclass
class Sleeper:
    slept: list[float] = field(default_factory=list[float])

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


def failed(kind: Kind = "unavailable") -> ModelFailed:
    return ModelFailed(kind, "no luck.")


async def test_pauses_grow_up_to_the_longest(clock: ManualClock) -> None:
    sleep = Sleeper()
    model = Failing([failed() for _ in range(5)])
    retrying = Retrying(model, clock, Patience(6, 1.0, 5.0), sleep, chance=lambda: 1.0)
    await asking.progress(retrying, ASKED)
    assert sleep.slept == [1.0, 2.0, 4.0, 5.0, 5.0]


async def test_chance_spreads_the_pauses(clock: ManualClock) -> None:
    sleep = Sleeper()
    retrying = Retrying(Failing([failed(), failed()]), clock, Patience(3, 1.0), sleep, chance=lambda: 0.0)
    await asking.progress(retrying, ASKED)
    assert sleep.slept == [0.5, 1.0]


async def test_each_new_try_is_told(clock: ManualClock) -> None:
    retrying = Retrying(Failing([failed("timeout")]), clock, Patience(), Sleeper(), chance=lambda: 1.0)
    assert await asking.progress(retrying, ASKED) == [
        Piece("well"),
        Again("timeout", "no luck.", 1.0),
        Anew(ASKED),
        Piece("well"),
        Answer("well"),
    ]


async def test_a_short_wait_that_was_asked_for_is_kept(clock: ManualClock) -> None:
    sleep = Sleeper()
    limited = ModelFailed("rate_limit", "slowly.", until=clock.now() + timedelta(seconds=7))
    await asking.progress(Retrying(Failing([limited]), clock, Patience(), sleep, chance=lambda: 0.5), ASKED)
    assert sleep.slept == [7.5]


async def test_a_long_wait_is_left_to_whoever_asked(clock: ManualClock) -> None:
    sleep = Sleeper()
    until = clock.now() + timedelta(minutes=5)
    retrying = Retrying(Failing([ModelFailed("rate_limit", "later.", until=until)]), clock, Patience(), sleep)
    with pytest.raises(ModelFailed) as caught:
        await asking.progress(retrying, ASKED)
    assert (caught.value.until, sleep.slept) == (until, [])


@pytest.mark.parametrize("kind", ["auth", "refused"])
async def test_what_would_fail_again_is_not_tried_again(clock: ManualClock, kind: Kind) -> None:
    model = Failing([failed(kind)])
    with pytest.raises(ModelFailed):
        await asking.progress(Retrying(model, clock, Patience(), Sleeper()), ASKED)
    assert model.asked == 1


async def test_tries_are_bounded(clock: ManualClock) -> None:
    model = Failing([failed() for _ in range(9)])
    with pytest.raises(ModelFailed, match="no luck"):
        await asking.progress(Retrying(model, clock, Patience(3), Sleeper()), ASKED)
    assert model.asked == 3
