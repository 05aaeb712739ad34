"""Model APIs, through the layer of pydantic-ai that makes single requests. Imported only when one is needed."""

import asyncio
import importlib
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol, cast

from pydantic_ai import direct
from pydantic_ai.messages import ModelResponseStreamEvent, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models import StreamedResponse
from pydantic_ai.settings import ModelSettings

from moot.core.clock import Clock
from moot.core.records import record
from moot.models import failures, prices, translation
from moot.models.endpoints import Endpoint
from moot.models.model import Answer, ModelFailed, Piece, Request, Usage

_TALKATIVE = ("anthropic", "openai", "google_genai", "httpx", "httpx2", "httpcore", "httpcore2")
IDLE = 300.0  # seconds without a byte


@record
class ApiModel:
    """One request at a time, each made once: who asks decides whether to ask again."""

    endpoint: Endpoint
    model: LibraryModel
    clock: Clock
    idle: float = IDLE

    async def ask(self, request: Request) -> AsyncGenerator[Piece | Answer]:
        messages, parameters = translation.messages(request), translation.parameters(request.tools)
        opened = direct.model_request_stream(
            self.model,
            messages,
            model_settings=self._settings(request),
            model_request_parameters=parameters,
            instrument=False,
        )
        begun: StreamedResponse | None = None
        try:
            async with opened as begun:
                async for event in begun:
                    if text := _text(event):
                        yield Piece(text)
                response = begun.get()
        except Exception as error:  # noqa: BLE001  # the boundary to libraries: each of them has errors of its own
            # Not chained: the library's error holds the whole exchange, headers included.
            failed = failures.translate(error, self.endpoint, self.clock.now())
            failed.used = prices.broken_off(begun.get(), self.endpoint, request) if begun else Usage()
            raise failed from None
        if translation.is_cut(response):
            fact = f"{self.endpoint.place} broke off its answer ({self.endpoint.name})."
            raise ModelFailed("unavailable", fact, used=prices.broken_off(response, self.endpoint, request))
        yield translation.answer(response, prices.usage(response, self.endpoint, request))

    def _settings(self, request: Request) -> ModelSettings:
        settings = ModelSettings(timeout=self.idle, max_retries=0)
        if (most := request.bound or request.max_tokens) is not None:
            settings["max_tokens"] = most
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        if request.is_cached and self.endpoint.wire != "chat":
            settings["cache"] = True
        return settings


def _text(event: ModelResponseStreamEvent) -> str:
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _hush() -> None:
    """The libraries would log whole exchanges, prompts and headers included, wherever somebody listens to all."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


class _Client(Protocol):
    def make(self, endpoint: Endpoint) -> LibraryModel: ...


@asynccontextmanager
async def opened(endpoint: Endpoint, clock: Clock, idle: float = IDLE) -> AsyncGenerator[ApiModel]:
    """A model with its connections, which are closed after the block."""
    client = cast(_Client, importlib.import_module(f"moot.models.clients.{endpoint.wire}"))
    model = await asyncio.to_thread(client.make, endpoint)  # certificates and prices are read then
    _hush()
    async with model:
        yield ApiModel(endpoint, model, clock, idle)
