"""Anthropic's Messages."""

from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from moot.models.endpoints import NO_KEY, Endpoint


def make(endpoint: Endpoint) -> Model:
    address = endpoint.base_url or "https://api.anthropic.com"
    return AnthropicModel(endpoint.name, provider=AnthropicProvider(api_key=endpoint.key or NO_KEY, base_url=address))
