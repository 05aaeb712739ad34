"""How long an agent may take, with all who work for it and all who answer in its place."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, nullcontext
from datetime import timedelta

from moot.core import durations
from moot.core.hours import Hours
from moot.core.records import record, replace
from moot.session.agent import Agent


class TimeIsUp(Exception):
    """Says whose."""


@record
class _Bound:
    whose: str
    most: timedelta
    until: float  # by the hours of the tree


class Term:
    """The bounds of everybody in a chain, each from when it was asked; the first that is reached ends it. Whoever is
    asked again has all of its time again. The hours are part of those of the whole tree."""

    def __init__(self, *bounds: _Bound, hours: Hours | None = None) -> None:
        self._bounds = bounds
        self._hours = hours or Hours()

    def joined(self, agent: Agent) -> "Term":
        """The same for an agent that begins now."""
        most = agent.limits.timeout
        if most is None and not self._bounds:
            return self  # without a bound nothing is its own
        own = [] if most is None else [_Bound(agent.name, most, self._in(most))]
        return Term(*self._bounds, *own, hours=self._hours)

    def fresh(self) -> "Term":
        """Without a bound, by hours of its own that are part of these."""
        return Term(hours=self._hours.part())

    def stands_still(self) -> AbstractContextManager[None]:
        """While somebody in this chain may not go on, and whoever works for somebody else does."""
        return self._hours.stand_still()

    def begin_again(self) -> None:
        self._bounds = tuple(replace(one, until=self._in(one.most)) for one in self._bounds)

    def holds(self) -> AbstractAsyncContextManager[None]:
        """For what is done within, else TimeIsUp. It may also be told from there, by a TimeoutError: in a replay, time
        is up when it was."""
        first = min(self._bounds, key=lambda one: one.until, default=None)
        return nullcontext() if first is None else self._until(first)

    @asynccontextmanager
    async def _until(self, first: _Bound) -> AsyncGenerator[None]:
        try:
            async with self._hours.until(first.until):
                yield
        except TimeoutError:
            raise TimeIsUp(f"{first.whose} ran longer than {durations.spell(first.most)}") from None

    def _in(self, most: timedelta) -> float:
        return self._hours.now() + most.total_seconds()
