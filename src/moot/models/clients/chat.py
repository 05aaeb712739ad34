"""Chat Completions, as servers that are compatible with OpenAI have them."""

import re
from collections.abc import AsyncIterator

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from moot.models.endpoints import NO_KEY, Endpoint

# Some servers never say why they end, and some leave out the mark; a stream that was cut has neither. Inside of what
# a model writes, quotes are escaped.
_END = re.compile(rb'"finish_reason"\s*:\s*"[^"]|^data: ?\[DONE\]', re.MULTILINE)
_LONGEST_END = 100  # bytes in which one of these stands, blanks included


def make(endpoint: Endpoint) -> Model:
    address = endpoint.base_url or "https://api.openai.com/v1"
    provider = OpenAICompatibleProvider("compatible", base_url=address, api_key=endpoint.key or NO_KEY)
    provider.client._client.event_hooks["response"].append(_watch)  # pyright: ignore[reportPrivateUsage]
    return OpenAIChatModel(endpoint.name, provider=provider)


async def _watch(response: httpx2.Response) -> None:
    is_plain = response.headers.get("content-encoding", "identity") == "identity"
    if is_plain and response.headers.get("content-type", "").startswith("text/event-stream"):
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Watched(response.stream)


class _Watched(httpx2.AsyncByteStream):
    """A stream that fails where it was cut off: the library would take what came until then for all."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        last, is_ended = b"", False
        async for chunk in self._inner:
            if not is_ended:
                is_ended = _END.search(last + chunk) is not None
                last = chunk[-_LONGEST_END:] if len(chunk) >= _LONGEST_END else (last + chunk)[-_LONGEST_END:]
            yield chunk
        if not is_ended:
            raise httpx2.RemoteProtocolError("the stream ended before the answer did")

    async def aclose(self) -> None:
        await self._inner.aclose()
