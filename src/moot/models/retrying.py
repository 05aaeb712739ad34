"""Asks again for what may go better the next time: with growing pauses, a little chance in them, and an end."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from datetime import datetime

from moot.core.clock import Clock
from moot.core.records import record
from moot.models.model import Again, Anew, Kind, Model, ModelFailed, Progress, Request

RETRYABLE: frozenset[Kind] = frozenset(("rate_limit", "unavailable", "timeout", "error"))


@record
class Patience:
    """How often, and how long in between."""

    tries: int = 4  # of one request, the first included
    first: float = 1.0  # seconds before the second try; then twice as long each time
    longest: float = 20.0  # who asks for more than this gets it from the runner, which holds no process meanwhile


@record
class Retrying:
    """A model that is asked again. Chance keeps many agents from all coming back in the same moment."""

    model: Model
    clock: Clock
    patience: Patience = Patience()
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    async def ask(self, request: Request) -> AsyncGenerator[Progress]:
        for number in range(1, self.patience.tries + 1):
            try:
                async with aclosing(self.model.ask(request)) as asked:
                    async for progress in asked:
                        yield progress
                return
            except ModelFailed as error:
                seconds = self._pause(error, number)
                if seconds is None:
                    raise
                again = Again(error.kind, error.fact, seconds, error.used)
            yield again
            await self.sleep(again.seconds)
            yield (anew := Anew(request))
            request = anew.request

    def _pause(self, error: ModelFailed, number: int) -> float | None:
        """None: it is not worth asking again from here."""
        if error.kind not in RETRYABLE or number >= self.patience.tries:
            return None
        if error.until is not None:
            seconds = _seconds(error.until, self.clock.now())
            # Not a moment before, and not everybody in that moment.
            return seconds + self.chance() * self.patience.first if seconds <= self.patience.longest else None
        growing = self.patience.first * 2 ** (number - 1)
        return min(growing, self.patience.longest) * (0.5 + self.chance() / 2)


def _seconds(until: datetime, now: datetime) -> float:
    return max((until - now).total_seconds(), 0.0)
