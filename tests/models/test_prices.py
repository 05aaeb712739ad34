import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from moot.core.prices import Rates
from moot.models import prices, reserving
from moot.models.endpoints import Endpoint
from moot.models.model import Request, Said, Usage

ASKED = Request((Said("x" * 400),), system="y" * 400)
SONNET = Endpoint("anthropic", "claude-sonnet-4-5", "anthropic", key="k")
USED = RequestUsage(input_tokens=100_000, output_tokens=10_000)


def response(used: RequestUsage, model: str | None = None) -> ModelResponse:
    return ModelResponse(parts=[TextPart("z" * 40)], usage=used, model_name=model)


def test_a_known_model_at_its_provider_has_its_price() -> None:
    got = prices.usage(response(USED, "claude-sonnet-4-5-20250929"), SONNET, ASKED)
    assert not got.is_estimated
    assert got.cost == pytest.approx(0.30 + 0.15)


def test_a_model_that_is_on_no_list_is_estimated_and_marked() -> None:
    unknown = Endpoint("anthropic", "claude-nobody-knows", "anthropic", key="k")
    assert prices.usage(response(USED), unknown, ASKED) == Usage(100_000, 10_000, cost=0.50 + 0.25, is_estimated=True)


def test_a_server_of_ones_own_costs_nothing_that_is_known() -> None:
    own = Endpoint("openai", "llama", "chat", base_url="http://localhost:11434/v1")
    got = prices.usage(response(USED), own, ASKED)
    assert (got.cost, got.is_estimated) == (0.0, True)


@pytest.mark.parametrize("base_url", [None, "http://localhost:11434/v1"])
def test_what_the_person_says_of_a_price_counts_more_than_the_list(base_url: str | None) -> None:
    said = Endpoint("openai", "llama", "chat", base_url=base_url, rates=Rates(2.0, 8.0, 0.5))
    cached = RequestUsage(input_tokens=100_000, output_tokens=10_000, cache_read_tokens=50_000)
    got = prices.usage(response(cached), said, ASKED)
    assert (got.cost, got.is_estimated) == (pytest.approx(0.1 + 0.025 + 0.08), False)
    assert reserving.price(said, ASKED).most(1_000) == pytest.approx(201 * 2e-6 + 1_000 * 8e-6)


def test_usage_that_is_not_told_is_estimated_and_marked() -> None:
    got = prices.usage(response(RequestUsage()), SONNET, ASKED)
    assert (got.input_tokens, got.output_tokens, got.is_estimated) == (201, 11, True)
    assert got.cost > 0
