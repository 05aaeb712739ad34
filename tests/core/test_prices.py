import sys

import pytest

from moot.core import prices
from moot.core.prices import UNKNOWN, Rates


@pytest.fixture(autouse=True)
def _afresh() -> None:  # pyright: ignore[reportUnusedFunction]
    prices.rates.cache_clear()


def test_a_model_on_the_list_has_its_price_and_a_lower_one_for_what_was_cached() -> None:
    assert prices.rates("openai", "gpt-5") == Rates(1.25, 10.0, 0.125)
    assert prices.rates("google", "gemini-2.5-pro").input == 1.25


@pytest.mark.parametrize(("provider", "model"), [("openai", "of-tomorrow"), ("nobody", "gpt-5"), ("openai", None)])
def test_what_is_not_on_it_costs_what_large_models_cost(provider: str, model: str | None) -> None:
    assert prices.rates(provider, model) == UNKNOWN
    assert min(UNKNOWN.input, UNKNOWN.output, UNKNOWN.cached) > 0


def test_without_the_list_all_models_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    prices.load()
    assert prices.rates("openai", "gpt-5") == UNKNOWN


def test_cached_tokens_are_among_the_input() -> None:
    rates = Rates(2.0, 10.0, 0.5)
    assert rates.cost(1_000_000, 100_000) == pytest.approx(2.0 + 1.0)
    assert rates.cost(1_000_000, 100_000, 400_000) == pytest.approx(1.2 + 1.0 + 0.2)
    assert rates.cost(10, 0, 1_000_000) == 0.5  # whatever a program counts, it is not below zero


@pytest.mark.parametrize(
    ("provider", "model", "tokens"),
    [("anthropic", "claude-sonnet-4-5", 200_000), ("openai", "of-tomorrow", None), ("nobody", "gpt-5", None)],
)
def test_what_a_model_can_hold_is_on_the_list(provider: str, model: str, tokens: int | None) -> None:
    assert prices.window(provider, model) == tokens
