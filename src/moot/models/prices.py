"""What a response has cost, by the price list that comes with the library: nothing is fetched."""

from genai_prices import calc_price
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from moot.core.prices import UNKNOWN
from moot.models import reserving
from moot.models.endpoints import Endpoint
from moot.models.model import Request, Usage


def usage(response: ModelResponse, endpoint: Endpoint, request: Request) -> Usage:
    """As the provider tells it. Where it does not, or the price is not known for certain, it is an estimate."""
    told = response.usage
    is_measured = not told.unmeasured_requests and bool(told.input_tokens or told.output_tokens)
    return _priced(told if is_measured else _estimated(request, response), response, endpoint, is_measured=is_measured)


def broken_off(response: ModelResponse, endpoint: Endpoint, request: Request) -> Usage:
    """Of an answer that came in part: providers tell what it took at its end, so the rest is estimated."""
    told, seen = response.usage, _estimated(request, response)
    used = RequestUsage(
        input_tokens=told.input_tokens or seen.input_tokens,
        output_tokens=max(told.output_tokens, seen.output_tokens),
        cache_read_tokens=told.cache_read_tokens,
        cache_write_tokens=told.cache_write_tokens,
    )
    return _priced(used, response, endpoint, is_measured=False)


def _priced(used: RequestUsage, response: ModelResponse, endpoint: Endpoint, *, is_measured: bool) -> Usage:
    cost, is_known = _cost(used, response.model_name or endpoint.name, endpoint)
    return Usage(
        used.input_tokens,
        used.output_tokens,
        used.cache_read_tokens,
        used.cache_write_tokens,
        cost,
        is_estimated=not (is_measured and is_known),
        reasoning_tokens=_reasoning(used),
    )


def _estimated(request: Request, response: ModelResponse) -> RequestUsage:
    said = len(response.text or "") + sum(len(one.args_as_json_str()) for one in response.tool_calls)
    return RequestUsage(input_tokens=reserving.tokens(request), output_tokens=said // reserving.LETTERS + 1)


def _reasoning(used: RequestUsage) -> int:
    """Under the name that its provider has for it."""
    return (
        used.output_reasoning_tokens or used.details.get("reasoning_tokens") or used.details.get("thoughts_tokens", 0)
    )


def _cost(used: RequestUsage, model: str, endpoint: Endpoint) -> tuple[float, bool]:
    """Dollars, and whether they are certain: at another address the same name may cost something else."""
    if endpoint.rates is not None:
        return endpoint.rates.cost(used.input_tokens, used.output_tokens, used.cache_read_tokens), True
    if reserving.is_free(endpoint):
        return 0.0, False
    try:
        priced = calc_price(used, model, provider_id=endpoint.provider)
    except (LookupError, ValueError):
        return UNKNOWN.cost(used.input_tokens, used.output_tokens, used.cache_read_tokens), False
    return float(priced.total_price), endpoint.base_url is None
