"""Models of each wire, pointed at the fake server, and how tests ask them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

from moot.core.clock import SystemClock
from moot.models import opening
from moot.models.endpoints import Endpoint, Wire
from moot.models.model import Answer, Model, Piece, Progress, Request, Said, ToolSpec
from moot.models.retrying import Patience
from tests import fake_models
from tests.fake_models import FakeModels

KEY = "canary-5f1e77-key"
ONCE = Patience(tries=1)
QUICK = Patience(tries=4, first=0.0)
WEATHER = ToolSpec("weather", "Tells the weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
_MODELS: dict[Wire, Endpoint] = {
    "anthropic": Endpoint("anthropic", "claude-sonnet-5", "anthropic"),
    "responses": Endpoint("openai", "gpt-5.6", "responses"),
    "chat": Endpoint("openai", "llama", "chat"),
    "google": Endpoint("google", "gemini-3-pro", "google"),
}
WIRES = tuple(_MODELS)


def endpoint(wire: Wire, server: FakeModels | str) -> Endpoint:
    root = server if isinstance(server, str) else server.url
    return replace(_MODELS[wire], base_url=f"{root}/v1" if wire in ("responses", "chat") else root, key=KEY)


@asynccontextmanager
async def model(
    wire: Wire, scenario: fake_models.Scenario, patience: Patience = ONCE, idle: float = 20.0
) -> AsyncGenerator[tuple[FakeModels, Model]]:
    async with (
        fake_models.serve(scenario) as server,
        opening.opened(endpoint(wire, server), SystemClock(), patience, idle) as opened,
    ):
        yield server, opened


def request(text: str = "hi") -> Request:
    return Request((Said(text),), "Be kind.", (WEATHER,))


async def progress(model: Model, given: Request) -> list[Progress]:
    return [one async for one in model.ask(given)]


async def answer(model: Model, given: Request) -> Answer:
    """The last of what comes, which is an answer; what came before it, put together, is its text."""
    *before, last = await progress(model, given)
    assert isinstance(last, Answer)
    pieces = "".join(one.text for one in before if isinstance(one, Piece))
    assert pieces == last.text or last.stop == "refusal"
    return last
