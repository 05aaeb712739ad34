"""Moments: what expressions see and nobody could compute, the time and where chance begins. Whoever keeps the moment of
a computation can have it made again with the same end."""

import hashlib
import secrets
import struct
from collections.abc import Sequence
from typing import Protocol

from moot.core.clock import Clock
from moot.core.records import record, replace
from moot.engine.expressions.evaluation import Evaluation, Outcome, Scope


@record
class Moment:
    millis: int  # since 1970
    seed: str

    @property
    def chance(self) -> tuple[int, ...]:
        """Four numbers of 32 bits, from which all chance in a request follows."""
        return struct.unpack(">4I", hashlib.sha256(self.seed.encode()).digest()[:16])


def new(clock: Clock) -> Moment:
    return Moment(clock.micros() // 1000, secrets.token_hex(16))


class Momentary(Protocol):
    """Who can evaluate as if it were another moment; None: this one."""

    async def evaluate(
        self, scope: Scope, evaluations: Sequence[Evaluation], moment: Moment | None = None
    ) -> list[Outcome]: ...


class AtMoment:
    """An `Evaluator` for one computation: the time stands still, and each request has a chance of its own."""

    def __init__(self, evaluator: Momentary, moment: Moment) -> None:
        self._evaluator = evaluator
        self._moment = moment
        self._requests = 0

    async def evaluate(self, scope: Scope, evaluations: Sequence[Evaluation]) -> list[Outcome]:
        self._requests += 1
        own = replace(self._moment, seed=f"{self._moment.seed}/{self._requests}")
        return await self._evaluator.evaluate(scope, evaluations, own)
