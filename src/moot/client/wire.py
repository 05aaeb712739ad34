"""The HTTP under an MCP client: a lost connection fails the request that met it, and what a server said is kept.

The SDK lets a lost connection tear down the whole client, and drops the body of an HTTP error. Here the first becomes
an error response, and both are noted for the call that asked.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import cast

import httpx2

from moot.client.errors import ServerRefused, ServerUnreachable
from moot.core import json
from moot.core.errors import InvalidInput, MootError
from moot.core.json import Json

# The SDK sends a request in a task of its own, but in the context of the call that asked for it.
_noted: ContextVar[list[MootError] | None] = ContextVar("noted", default=None)

_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@contextmanager
def noting() -> Generator[list[MootError]]:
    """What goes wrong with the requests made in this block."""
    found: list[MootError] = []
    before = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(before)


class SteadyTransport(httpx2.AsyncBaseTransport):
    """Answers every request."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
            if response.is_error:
                _note(_refusal(response.status_code, await response.aread()))
            elif response.headers.get("content-type", "").startswith("application/json"):
                await response.aread()  # here, where a cut in the middle can still be told
        except httpx2.TransportError as error:
            _note(
                ServerUnreachable(
                    f"The server does not answer: {str(error) or type(error).__name__}.",
                    "Is it running? See moot list.",
                    was_sent=not isinstance(error, _UNSENT),
                )
            )
            return httpx2.Response(503, request=request)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _note(error: MootError) -> None:
    found = _noted.get()
    if found is not None:
        found.append(error)


def _refusal(status: int, body: bytes) -> MootError:
    """The server's own words, if they are in moot's form."""
    try:
        facts = cast(dict[str, Json], json.load_object(body).get("error"))
        code, message = facts["code"], str(facts["message"])
    except (InvalidInput, KeyError, TypeError):
        return ServerRefused(f"The server answered with HTTP status {status}.", "See its log.", status=status)
    if not isinstance(code, str):
        return ServerRefused(message, "", status=status)
    return ServerRefused(f"{code}: {message}", str(facts.get("remedy", "")), status=status)
