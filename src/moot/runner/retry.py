"""How often and how soon a failed attempt is tried again."""

from datetime import timedelta

from moot.core.records import record
from moot.workflow.workflow import Retry as OwnRetry


@record
class Retry:
    attempts: int = 3
    backoff: timedelta = timedelta(seconds=1)
    multiplier: float = 2.0

    def delay(self, failures: int) -> timedelta:
        return self.backoff * self.multiplier ** (failures - 1)

    def but(self, own: OwnRetry) -> "Retry":
        """With what an agent's own definition says."""
        return Retry(
            self.attempts if own.attempts is None else own.attempts,
            self.backoff if own.backoff is None else own.backoff,
            self.multiplier if own.multiplier is None else own.multiplier,
        )
