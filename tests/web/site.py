"""A page that is served, and browsers that come to it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from moot.api.page import making
from moot.app.project import Project
from moot.core.ids import DEFAULT_INSTANCE
from moot.mcp import server
from moot.mcp.server import Endpoints, Options
from moot.registry.visits import VisitRole
from moot.store.store import Store
from moot.web import visiting

DEADLINE = 20.0


@dataclass(slots=True)
class Site:
    """Where the page is."""

    store: Store
    project: Project
    url: str

    async def link(self, role: VisitRole = "operator") -> str:
        """What stands behind the # of a link."""
        found = await visiting.link(self.store, self.url, DEFAULT_INSTANCE, role)
        return found.partition("#")[2]

    @asynccontextmanager
    async def stranger(self) -> AsyncGenerator[httpx2.AsyncClient]:
        """Somebody who has not come in."""
        async with httpx2.AsyncClient(base_url=self.url, timeout=DEADLINE) as client:
            yield client

    @asynccontextmanager
    async def browser(self, role: VisitRole = "operator") -> AsyncGenerator["Browser"]:
        async with self.stranger() as client:
            answer = await client.post("/api/login", json={"link": await self.link(role)})
            assert answer.status_code == 200, answer.text
            yield Browser(client, answer.json()["csrf"])


@dataclass(slots=True)
class Browser:
    """Somebody who has."""

    client: httpx2.AsyncClient
    csrf: str

    async def get(self, path: str, **query: str | int) -> Any:
        answer = await self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, body: Mapping[str, Any], **query: str) -> Any:
        answer = await self.send(path, body, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def send(self, path: str, body: Mapping[str, Any], **query: str) -> httpx2.Response:
        return await self.client.post(path, json=dict(body), params=query, headers={"X-Moot-CSRF": self.csrf})

    async def refused(self, path: str, body: Mapping[str, Any] | None = None, **query: str) -> tuple[int, str]:
        """Status and code of what must not be answered."""
        answer = await self.client.get(path, params=query) if body is None else await self.send(path, body, **query)
        assert answer.status_code >= 400, answer.text
        return answer.status_code, answer.json()["error"]["code"]

    @asynccontextmanager
    async def listening(self, *, last: str = "", **query: str) -> AsyncGenerator["Events"]:
        headers = {"Last-Event-ID": last} if last else {}
        async with (
            asyncio.timeout(DEADLINE),
            self.client.stream("GET", "/api/events", params=query, headers=headers) as response,
        ):
            assert response.status_code == 200, response.status_code
            yield Events(response.aiter_lines())


@dataclass(slots=True)
class Heard:
    id: str = ""
    event: str = ""
    data: Any = None


@dataclass(slots=True)
class Events:
    """What is heard on a stream, one by one."""

    lines: AsyncIterator[str]
    comments: list[str] = field(default_factory=list[str])

    async def next(self) -> Heard:
        heard = Heard()
        async for line in self.lines:
            name, _, value = line.partition(": ")
            if line.startswith(":"):
                self.comments.append(line)
            elif name == "id":
                heard.id = value
            elif name == "event":
                heard.event = value
            elif name == "data":
                heard.data = json.loads(value)
            elif not line and heard.data is not None:
                return heard
        raise EOFError

    async def rest(self) -> list[Heard]:
        """Until the stream ends."""
        found: list[Heard] = []
        while True:
            try:
                found.append(await self.next())
            except EOFError:
                return found


@asynccontextmanager
async def serving(
    store: Store, project: Project, *, is_read_only: bool = False, beat: float | None = None
) -> AsyncGenerator[Site]:
    page = making.make(store, project, is_read_only=is_read_only, beat=beat)
    async with server.serving(store, Endpoints(), Options(page=page)) as address:
        yield Site(store, project, str(address.url).removesuffix("/mcp"))
