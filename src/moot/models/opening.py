"""Opens the model of an endpoint, as sessions use it. The libraries come with an extra, and are loaded here first."""

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import ModuleType
from typing import Protocol, cast

from moot.core import extras
from moot.core.clock import Clock
from moot.core.errors import MootError
from moot.models.endpoints import Endpoint
from moot.models.model import Model
from moot.models.retrying import Patience, Retrying

INSTALL = extras.install("llm")


class MissingExtra(MootError):
    """A part of moot that was not installed."""

    code = "MISSING_EXTRA"
    exit_code = 2


class _Api(Protocol):
    IDLE: float

    def opened(self, endpoint: Endpoint, clock: Clock, idle: float) -> AbstractAsyncContextManager[Model]: ...


@asynccontextmanager
async def opened(
    endpoint: Endpoint, clock: Clock, patience: Patience | None = None, idle: float | None = None
) -> AsyncGenerator[Model]:
    """The model while the block runs; it is asked again by itself where that may help."""
    # Seconds of work when it is the first time, during which everybody else here would stand still.
    api = cast(_Api, await asyncio.to_thread(_loaded, "moot.models.api"))
    await asyncio.to_thread(_loaded, f"moot.models.clients.{endpoint.wire}")
    async with api.opened(endpoint, clock, api.IDLE if idle is None else idle) as model:
        yield Retrying(model, clock, patience or Patience())


def _loaded(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.startswith("moot"):
            raise  # a mistake of ours, which installing something does not mend
        raise MissingExtra("Model APIs need an extra that is not installed.", f"Run: {INSTALL}.") from error
