"""Sends what was done on a host to a collector of OpenTelemetry, if one is named in the environment.

It reads what is committed, behind everybody else, and nothing waits for it. What a collector does not take is dropped,
with one warning for the whole life of the host.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from moot.core import json
from moot.core.errors import MootError
from moot.core.events import Cursor, StoredEvent
from moot.core.ids import AttemptId, HostId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.core.wakes import Signal
from moot.ledger import branches, traces
from moot.ledger.branches import Place
from moot.ledger.nodes import Node
from moot.ledger.traces import Step, Tried
from moot.registry import attempts
from moot.runner import spans
from moot.runner.spans import Grown
from moot.runner.trouble import LOGGER
from moot.store import feed
from moot.store.store import Store
from moot.workflow import providers

if TYPE_CHECKING:
    from httpx2 import AsyncClient

_log = logging.getLogger(LOGGER)
_ENDS = frozenset((attempts.SUCCEEDED, attempts.FAILED, attempts.INTERRUPTED))  # after a loss, the next one tells all
_PAGE = 100  # events read at once, so that no request grows without end
_GRACE_SECONDS = 2.0  # at the end, for what was not sent yet
_REST_SECONDS = 30.0  # without a try, after a failure


@record
class Collector:
    """Where spans go, as the environment names it to all who send any."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    service: str
    seconds: float

    @staticmethod
    def found(environ: Mapping[str, str]) -> "Collector | None":
        whole, base = environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
        is_off = environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or environ.get("OTEL_TRACES_EXPORTER") == "none"
        if is_off or not (whole or base):
            return None
        headers = environ.get("OTEL_EXPORTER_OTLP_TRACES_HEADERS") or environ.get("OTEL_EXPORTER_OTLP_HEADERS") or ""
        milliseconds = environ.get("OTEL_EXPORTER_OTLP_TIMEOUT", "")
        return Collector(
            whole or f"{(base or '').rstrip('/')}/v1/traces",
            dict(_header(one) for one in headers.split(",") if "=" in one),
            environ.get("OTEL_SERVICE_NAME") or "moot",
            int(milliseconds) / 1000 if milliseconds.isdecimal() else 10.0,
        )


def _header(written: str) -> tuple[str, str]:
    name, _, value = written.partition("=")
    return name.strip(), unquote(value.strip())


@asynccontextmanager
async def sending(store: Store, host: Callable[[], HostId], environ: Mapping[str, str]) -> AsyncGenerator[None]:
    """While the block runs, and shortly after it: what attempts of this host have done."""
    collector = Collector.found(environ)
    if collector is None:
        yield
        return
    sender = _Sender(store, host, collector)
    begin = await store.read(feed.end)
    with store.listen() as signal:
        # In no group: an error of the host leaves as it is, and this task raises none.
        following = asyncio.create_task(sender.follow(begin, signal))
        try:
            yield
        finally:
            sender.close(signal)
            await asyncio.wait({following}, timeout=_GRACE_SECONDS)
            following.cancel()
            await asyncio.wait({following})


class _Sender:
    def __init__(self, store: Store, host: Callable[[], HostId], collector: Collector) -> None:
        self._store = store
        self._host = host
        self._collector = collector
        self._is_closing = False
        self._has_warned = False
        self._rests_until = 0.0
        self._client: AsyncClient | None = None

    def close(self, signal: Signal) -> None:
        """Nothing more will come."""
        self._is_closing = True
        signal.ring()

    async def follow(self, begin: Cursor, signal: Signal) -> None:
        try:
            await self._follow(begin, signal)
        except (MootError, OSError) as error:  # nobody's work depends on this
            self._warn(f"Spans are not sent any more: {error}")
        finally:
            if self._client is not None:
                await self._client.aclose()

    async def _follow(self, begin: Cursor, signal: Signal) -> None:
        cursor, source = begin, self._store.feed()
        while True:
            signal.clear()
            is_last = self._is_closing  # before the look, or what was committed meanwhile would be missed
            page = await source.page(cursor, _PAGE)
            cursor = page.cursor
            if page.events:
                await self._tell(page.events)
            elif is_last:
                return
            else:
                await signal.wait()

    async def _tell(self, events: Sequence[StoredEvent]) -> None:
        if asyncio.get_running_loop().time() < self._rests_until:
            return
        ended = [AttemptId(event.subject) for event in events if event.kind in _ENDS]
        grown = await self._store.read(lambda tx: gathered(tx, ended, self._host())) if ended else []
        if grown:
            self._client = self._client or await asyncio.to_thread(_client)
            await self._send(grown)

    async def _send(self, grown: Sequence[Grown]) -> None:
        import httpx2  # noqa: PLC0415  # few have a collector, and by now it was loaded in a thread

        assert self._client is not None
        body = json.dump_bytes(spans.request(grown, self._collector.service))
        headers = {**self._collector.headers, "content-type": "application/json"}
        try:
            async with asyncio.timeout(self._collector.seconds):
                answer = await self._client.post(self._collector.url, content=body, headers=headers)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, ValueError) as error:
            self._failed(type(error).__name__)
        else:
            if not answer.is_success:
                self._failed(f"it answered {answer.status_code}")

    def _failed(self, why: str) -> None:
        self._rests_until = asyncio.get_running_loop().time() + _REST_SECONDS
        self._warn(f"The collector of OpenTelemetry does not take what was done ({why}); that is dropped.")

    def _warn(self, text: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            _log.warning("%s", text)


def _client() -> "AsyncClient":
    """Loading it, and the certificates that it trusts, takes longer than anybody on the loop should wait."""
    from httpx2 import AsyncClient  # noqa: PLC0415

    return AsyncClient(timeout=None)  # there is one for all of a request


def gathered(tx: ReadTx, ended: Sequence[AttemptId], host: HostId) -> list[Grown]:
    """What these attempts have finished, as far as they were this host's: trees, and what programs did. Several
    attempts at one tree make one trace."""
    found: dict[str, Grown] = {}
    for id in ended:
        attempt, tried = attempts.get(tx, id), traces.of_attempt(tx, id)
        if attempt is not None and tried is not None and attempt.host == host:
            found |= {one.root: one for one in _grown(tx, tried)}
    return list(found.values())


def _grown(tx: ReadTx, tried: Tried) -> list[Grown]:
    trees = [(root, traces.steps(tx, root)) for root in traces.roots(tx, tried)]
    own = [(root, steps) for root, steps in trees if steps and _is_its(tried, root, steps)]
    if not own:
        return [_of(tx, tried, tried.id, _program(tx, tried))]
    return [
        _of(tx, tried, root, branches.nodes(steps, Place(None, root, tried.name, tried.model)))
        for root, steps in own
        # If another attempt has gone on with it meanwhile, the end of that one tells all.
        if max(one.attempt for one in steps) <= tried.id and traces.is_finished(tx, root, tried.job)
    ]


def _is_its(tried: Tried, root: str, steps: Sequence[Step]) -> bool:
    """Whoever found everything done before has begun nothing in the tree."""
    return root.partition("#")[0] == tried.job or any(one.attempt == tried.id for one in steps)


def _program(tx: ReadTx, tried: Tried) -> list[Node]:
    error = "failed" if tried.state == "failed" else ""
    top = Node(
        tried.id, None, "attempt", tried.name, tried.started_at, tried.ended_at, tried.state, agent=tried.name,
        stop=error, number=tried.number, attempt=tried.id,
    )  # fmt: skip
    place = Place(tried.id, tried.id, tried.name, tried.model, tried.id)
    return [top, *branches.of_tool_calls(traces.tool_calls(tx, tried.id), place)]


def _of(tx: ReadTx, tried: Tried, root: str, nodes: Sequence[Node]) -> Grown:
    model = tried.settings.get("model")
    provider = providers.provider(model if isinstance(model, str) else None, tried.backend)
    about = {"moot.instance": str(tried.instance), **({"moot.run.id": str(tried.run)} if tried.run else {})}
    return Grown(root, nodes, provider, about, tx.now)
