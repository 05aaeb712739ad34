"""The event stream of one viewer: from where it left off, without loss and without anything twice, until it leaves."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import Receive, Send

from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import instances
from moot.store import feed
from moot.store.store import Store
from moot.web import told
from moot.web.broadcasts import Broadcast, Broadcasts
from moot.web.told import Place

_START = b"retry: 1000\n\n"
_BEAT = b": beat\n\n"
_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]


@record
class Viewer:
    """Whose stream it is, and how far it had come before."""

    instance: InstanceName
    last: str | None  # the id of the last event it has heard
    is_here: Callable[[], Awaitable[bool]]  # whether its visit is not over


class EventStream:
    def __init__(self, store: Store, broadcasts: Broadcasts) -> None:
        self._store = store
        self._broadcasts = broadcasts

    async def serve(self, viewer: Viewer, receive: Receive, send: Send) -> None:
        """Until the viewer leaves, its visit or its instance ends, or the server stops."""
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})

        async def say(text: bytes) -> None:
            await send({"type": "http.response.body", "body": text, "more_body": True})

        async with asyncio.TaskGroup() as group:
            telling = group.create_task(self._tell(viewer, say))
            leaving = group.create_task(_left(receive))
            await asyncio.wait([telling, leaving], return_when=asyncio.FIRST_COMPLETED)
            telling.cancel()
            leaving.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _tell(self, viewer: Viewer, say: Callable[[bytes], Awaitable[None]]) -> None:
        await say(_START)
        end = await self._begun(viewer, say)
        if end is None:
            return
        with self._broadcasts.watched(end) as broadcast:
            place = told.place(viewer.last or "") or end
            if place.is_before_all:
                place = Place(end.stream, 0)
            if place.stream != end.stream or place.seq > max(broadcast.newest, end.seq):
                await say(told.event_of("reset", {}))  # what it knows is of an instance that was deleted
                place = end
            await say(told.event_of("hello", {"instance": viewer.instance}, place))
            await self._follow(viewer, broadcast, place.seq, say)

    async def _begun(self, viewer: Viewer, say: Callable[[bytes], Awaitable[None]]) -> Place | None:
        """The end of the instance's stream, as soon as there is one; None, if the server stops before."""
        is_first = True
        with self._store.listen() as signal:
            while not self._broadcasts.is_closed:
                signal.clear()
                found = await self._store.read(lambda tx: _end(tx, viewer.instance))
                if found is not None:
                    return found if is_first else Place(found.stream, 0)
                is_first = False
                if not await signal.wait(self._broadcasts.beat):
                    await say(_BEAT)
        return None

    async def _follow(
        self, viewer: Viewer, broadcast: Broadcast, seq: int, say: Callable[[bytes], Awaitable[None]]
    ) -> None:
        beats = broadcast.beats
        while not self._broadcasts.is_closed:
            bell = broadcast.bell()
            if seq < broadcast.newest:
                found = broadcast.after(seq)
                if found is None:
                    found = await self._store.read(lambda tx, seq=seq: told.after(tx, broadcast.stream, seq))
                await say(b"".join(one.text for one in found))
                seq = found[-1].seq
            elif broadcast.beats != beats:
                beats = broadcast.beats
                if not await self._may_stay(viewer, broadcast):
                    return
                await say(_BEAT)
            else:
                await bell.wait()

    async def _may_stay(self, viewer: Viewer, broadcast: Broadcast) -> bool:
        end = await self._store.read(lambda tx: _end(tx, viewer.instance))
        return end is not None and end.stream == broadcast.stream and await viewer.is_here()


def _end(tx: ReadTx, name: InstanceName) -> Place | None:
    instance = instances.find(tx, name)
    return instance and Place(instance.stream, feed.end(tx, instance.stream).get(instance.stream, 0))


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
