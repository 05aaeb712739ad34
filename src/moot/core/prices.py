"""What tokens cost, for whoever is not told it: by the price list of the extra `llm`, of which nothing is fetched.

Without the extra, and for models that are not on the list, it is what a provider's large ones cost.
"""

import functools
import importlib
from decimal import Decimal
from typing import Protocol, cast

from moot.core.records import record

_MILLION = 1_000_000
_SAMPLE = 1_000  # tokens: few enough for the price of a short request, where long ones cost more


@record
class Rates:
    """Dollars for a million tokens."""

    input: float
    output: float
    cached: float  # of the input, what was read from the provider's cache

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """Dollars. The cached ones are among the input."""
        fresh = max(0, input_tokens - cached_tokens)
        return (fresh * self.input + cached_tokens * self.cached + output_tokens * self.output) / _MILLION


UNKNOWN = Rates(5.0, 25.0, 0.5)  # so that a budget errs on the safe side


def load() -> None:
    """Read the list, once. It takes a while, so whoever must not wait does it elsewhere before the first question."""
    rates("openai", "gpt-5")


def is_loaded() -> bool:
    """Whether somebody has asked before, so that nobody waits any more."""
    return rates.cache_info().currsize > 0


@functools.cache
def rates(provider: str, model: str | None) -> Rates:
    """Those of a model at its provider."""
    if not model:
        return UNKNOWN
    try:
        listed = cast(_List, importlib.import_module("genai_prices"))
        return Rates(
            _rate(listed, provider, model, input_tokens=_SAMPLE),
            _rate(listed, provider, model, output_tokens=_SAMPLE),
            _rate(listed, provider, model, input_tokens=_SAMPLE, cache_read_tokens=_SAMPLE),
        )
    except (ImportError, LookupError, ValueError):
        return UNKNOWN


@functools.cache
def window(provider: str, model: str) -> int | None:
    """Tokens that a model can hold; None if the list does not say."""
    try:
        snapshots = cast(_Snapshots, importlib.import_module("genai_prices.data_snapshot"))
        return snapshots.get_snapshot().find_provider_model(model, None, provider, None)[1].context_window
    except (ImportError, LookupError, ValueError):
        return None


def _rate(listed: "_List", provider: str, model: str, **used: int) -> float:
    priced = listed.calc_price(listed.Usage(**used), model, provider_id=provider)
    return float(priced.total_price) * _MILLION / _SAMPLE


class _Priced(Protocol):
    total_price: Decimal


class _List(Protocol):
    def Usage(self, **used: int) -> object: ...
    def calc_price(self, usage: object, model_ref: str, *, provider_id: str) -> _Priced: ...


class _Model(Protocol):
    context_window: int | None


class _Snapshot(Protocol):
    def find_provider_model(
        self, model_ref: str, provider: None, provider_id: str, provider_api_url: None
    ) -> tuple[object, _Model]: ...


class _Snapshots(Protocol):
    def get_snapshot(self) -> _Snapshot: ...
