"""How long an agent may take, with all who work for it and all who answer in its place."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from moot.session.agent import Agent


class TimeIsUp(Exception):
    """Says whose."""


@dataclass(frozen=True, slots=True)
class _Bound:
    whose: str
    most: timedelta
    until: float  # by the clock of the loop


class Term:
    """The bounds of everybody in a chain, each from when it was asked; the first that is reached ends it. Whoever is
    asked again has all of its time again."""

    def __init__(self, *bounds: _Bound) -> None:
        self._bounds = bounds

    def joined(self, agent: Agent) -> "Term":
        """The same for an agent that begins now."""
        most = agent.limits.timeout
        return Term(*self._bounds, *([] if most is None else [_Bound(agent.name, most, _in(most))]))

    def begin_again(self) -> None:
        self._bounds = tuple(replace(one, until=_in(one.most)) for one in self._bounds)

    @asynccontextmanager
    async def holds(self) -> AsyncGenerator[None]:
        """For what is done within, else TimeIsUp. It may also be told from there, by a TimeoutError: in a replay, time
        is up when it was."""
        first = min(self._bounds, key=lambda one: one.until, default=None)
        try:
            async with asyncio.timeout_at(first.until if first else None):
                yield
        except TimeoutError:
            if first is None:
                raise
            raise TimeIsUp(f"{first.whose} ran longer than {first.most}") from None


def _in(most: timedelta) -> float:
    return asyncio.get_running_loop().time() + most.total_seconds()
