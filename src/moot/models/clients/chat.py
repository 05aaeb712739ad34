"""Chat Completions, as servers that are compatible with OpenAI have them."""

from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from moot.models.endpoints import NO_KEY, Endpoint


def make(endpoint: Endpoint) -> Model:
    address = endpoint.base_url or "https://api.openai.com/v1"
    provider = OpenAICompatibleProvider("compatible", base_url=address, api_key=endpoint.key or NO_KEY)
    return OpenAIChatModel(endpoint.name, provider=provider)
