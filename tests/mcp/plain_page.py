"""A page that says one thing."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send


class PlainPage:
    def __init__(self, text: str) -> None:
        self._answer = PlainTextResponse(text)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._answer(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        yield

    def close(self) -> None:
        """It has no streams."""
