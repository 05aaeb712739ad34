"""OpenAI's Responses."""

from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from moot.models.endpoints import NO_KEY, Endpoint


def make(endpoint: Endpoint) -> Model:
    address = endpoint.base_url or "https://api.openai.com/v1"
    return OpenAIResponsesModel(
        endpoint.name, provider=OpenAIProvider(api_key=endpoint.key or NO_KEY, base_url=address)
    )
