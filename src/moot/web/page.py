"""The page as an ASGI app: every request is checked, answered, and told in words when it is refused."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from starlette.types import Receive, Scope, Send

from moot.core import json
from moot.core.errors import InvalidInput, MootError
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.core.records import record
from moot.edge import answers, gate
from moot.edge.refusals import BadRequest, MethodRefused
from moot.registry import names, visits
from moot.registry.visits import VISIT_LASTS
from moot.store.store import Store
from moot.web import assets, headers, statuses, visiting
from moot.web.ask import Ask
from moot.web.broadcasts import Broadcasts
from moot.web.event_stream import EventStream, Viewer
from moot.web.incoming import Incoming
from moot.web.resource import Picture, Resource
from moot.web.routes import Routes
from moot.web.sharing import Content, Sharing
from moot.web.visiting import Guest, ReadOnly

_PAGES = {"/": "index.html", "/login": "login.html"}
_FILES = "/static/"


@record
class PageOptions:
    """What kind of page."""

    cookie: str  # its name: pages of several projects share the cookies of one machine
    is_read_only: bool = False  # for everybody, whoever comes in
    beat: float = 15.0  # seconds between two signs on a stream that the server is there


class Page:
    """Answers while `running()`; `close()` ends the streams."""

    def __init__(self, store: Store, resources: Sequence[Resource], options: PageOptions) -> None:
        self._store = store
        self._options = options
        self._routes = Routes(resources)
        self._broadcasts = Broadcasts(store, options.beat)
        self._sharing = Sharing()
        self._events = EventStream(store, self._broadcasts)
        self._own: Mapping[tuple[str, str], Callable[[Incoming], Awaitable[None]]] = {
            ("POST", "/api/login"): self._login,
            ("POST", "/api/logout"): self._logout,
            ("GET", "/api/session"): self._session,
            ("GET", "/api/events"): self._stream,
        }

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._broadcasts.run()), group.create_task(self._sharing.run())]
            await asyncio.sleep(0)
            try:
                yield
            finally:
                self.close()
                for task in tasks:
                    task.cancel()

    def close(self) -> None:
        self._broadcasts.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = Incoming(scope, receive, headers.guarded(send), gate.headers_of(scope))
        try:
            await self._answer(incoming)
        except MootError as error:
            await statuses.refuse(incoming.send, error)

    async def _answer(self, incoming: Incoming) -> None:
        if b"token" in incoming.scope["query_string"].lower():
            raise BadRequest("There is a token in the address.", "Take it out: addresses are kept and passed on.")
        method, path = incoming.method, incoming.path
        if path in _PAGES or path.startswith(_FILES):
            await _send_asset(incoming, _PAGES.get(path) or path.removeprefix(_FILES))
            return
        visiting.check_own_page(incoming.headers)
        own = self._own.get((method, path))
        if own is not None:
            await own(incoming)
            return
        if any(path == known for _, known in self._own):
            raise MethodRefused(f"{method[:20]} is not taken here.", "Use another method.")
        await self._answer_resource(incoming)

    async def _answer_resource(self, incoming: Incoming) -> None:
        resource, place = self._routes.find(incoming.method, incoming.path)
        guest = await self._guest(incoming)
        query = incoming.query()
        given: Mapping[str, Json] = query
        if resource.method == "POST":
            self._check_change(guest, incoming)
            given = await incoming.body()
        unknown = sorted(set(given) - resource.takes - {"instance"})
        if unknown:
            raise InvalidInput(
                f"{unknown[0][:80]!r} is not taken here.", f"Taken: {', '.join(sorted(resource.takes))}."
            )
        ask = Ask(guest.visit, _instance(query, guest), place, given)
        if resource.method == "POST":
            content = await _rendered(resource, ask)
        else:
            key = incoming.path, ask.instance, tuple(sorted(query.items()))
            content = await self._sharing.answer(key, lambda: _rendered(resource, ask))
        await incoming.send_content(content.body, content.type)

    async def _login(self, incoming: Incoming) -> None:
        link = (await incoming.body()).get("link")
        if not isinstance(link, str):
            raise InvalidInput("There is no link in it.", 'Send {"link": "…"}.')
        guest = await visiting.enter(self._store, link)
        cookie = visiting.cookie(self._options.cookie, guest.secret, int(VISIT_LASTS.total_seconds()))
        await answers.send_json(incoming.send, 200, self._told(guest), ((b"set-cookie", cookie),))

    async def _logout(self, incoming: Incoming) -> None:
        guest = await self._guest(incoming)
        visiting.check_word(guest, incoming.headers)
        gate.check_form(incoming.method, incoming.headers)
        await visiting.leave(self._store, guest)
        gone = visiting.cookie(self._options.cookie, "", 0)
        await answers.send_json(incoming.send, 200, {}, ((b"set-cookie", gone),))

    async def _session(self, incoming: Incoming) -> None:
        await answers.send_json(incoming.send, 200, self._told(await self._guest(incoming)))

    def _told(self, guest: Guest) -> dict[str, Json]:
        may_change = guest.visit.may_change and not self._options.is_read_only
        return {"csrf": guest.word, "may_change": may_change, "instance": guest.visit.instance}

    async def _stream(self, incoming: Incoming) -> None:
        guest, query = await self._guest(incoming), incoming.query()
        last = incoming.headers.get(b"last-event-id", b"").decode("latin-1") or query.get("after")

        async def is_here() -> bool:
            return await self._store.read(lambda tx: visits.find(tx, guest.secret)) is not None

        viewer = Viewer(_instance(query, guest), last, is_here)
        await self._events.serve(viewer, incoming.receive, incoming.send)

    async def _guest(self, incoming: Incoming) -> Guest:
        return await visiting.recognise(self._store, incoming.headers, self._options.cookie)

    def _check_change(self, guest: Guest, incoming: Incoming) -> None:
        if self._options.is_read_only:
            raise ReadOnly("This page only shows.", "Open another with: moot ui")
        visiting.check_change(guest, incoming.headers)


async def _rendered(resource: Resource, ask: Ask) -> Content:
    answer = await resource.answer(ask)
    if isinstance(answer, Picture):
        return Content(answer.svg.encode(), "image/svg+xml")
    return Content(json.dump_bytes(answer), "application/json")


async def _send_asset(incoming: Incoming, name: str) -> None:
    if incoming.method != "GET":
        raise MethodRefused(f"{incoming.method[:20]} is not taken here.", "Use GET.")
    asset = assets.find(name)
    await incoming.send_content(asset.content, asset.type, (b"cache-control", b"no-cache"))


def _instance(query: Mapping[str, str], guest: Guest) -> InstanceName:
    named = query.get("instance")
    return guest.visit.instance if named is None else InstanceName(names.check_instance(named))
