"""Google's generateContent."""

from pydantic_ai.models import Model
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from moot.models.endpoints import NO_KEY, Endpoint


def make(endpoint: Endpoint) -> Model:
    address = endpoint.base_url or "https://generativelanguage.googleapis.com"
    return GoogleModel(endpoint.name, provider=GoogleProvider(api_key=endpoint.key or NO_KEY, base_url=address))
