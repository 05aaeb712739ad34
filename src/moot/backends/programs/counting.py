"""What an attempt has used, where programs count from the beginning of their conversation, or tell no dollars."""

from moot.backends.backend import Conversation, Manner, Usage
from moot.backends.programs import surroundings
from moot.core import prices
from moot.core.prices import Rates
from moot.core.records import record


@record
class Tariff:
    """What the tokens of an agent cost, by and large."""

    provider: str
    model: str | None = None  # None: nobody said which
    is_free: bool = False
    said: Rates | None = None  # by the person, of that model

    def estimate(self, used: Usage, cached_tokens: int = 0, model: str = "") -> Usage:
        """The same with its cost. `model` is the one that the program tells."""
        if self.is_free and self.said is None:
            return used
        rates = self.said or prices.rates(self.provider, model or self.model)
        cost = rates.cost(used.input_tokens, used.output_tokens, cached_tokens)
        return Usage(used.input_tokens, used.output_tokens, used.turns, cost, is_estimated=True)


def tariff(manner: Manner, provider: str) -> Tariff:
    """A server of one's own, without a key, is free of charge."""
    is_free = manner.base_url is not None and surroundings.own_key(manner) is None
    name = manner.model.partition("/")[2] or manner.model if manner.model else None
    return Tariff(provider, name, is_free, manner.rates)


def since(total: Usage, before: Conversation | None) -> Usage:
    """What came after the conversation's last attempt. A program that counts less than before has begun anew."""
    if before is None:
        return total
    used = before.used
    if total.input_tokens < used.input_tokens or total.output_tokens < used.output_tokens:
        return total
    return Usage(
        total.input_tokens - used.input_tokens,
        total.output_tokens - used.output_tokens,
        total.turns - used.turns if total.turns >= used.turns else total.turns,
        max(0.0, total.cost - used.cost),
        total.is_estimated,
    )
