"""The live page in a process of its own: it shows a store and lets the person take part, and runs no agents."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from moot.api import signals
from moot.api.access import Access
from moot.api.page import making
from moot.core.caller import SYSTEM
from moot.core.records import record
from moot.mcp import server
from moot.mcp.server import Endpoints, Options
from moot.registry import visits
from moot.views.keeper import DocumentKeeper
from moot.web import visiting


@record
class View:
    """What is shown, and where."""

    host: str = "127.0.0.1"
    port: int = 0
    is_read_only: bool = False


async def serve(access: Access, view: View, ready: Callable[[str], None]) -> None:
    """Until a signal; `ready` hears the link."""
    page = making.make(access.store, access.project, is_read_only=view.is_read_only)
    stop = asyncio.Event()
    signals.hear(stop.set)
    endpoints = Endpoints(host=view.host, port=view.port)
    async with (
        server.serving(access.store, endpoints, Options(page=page)) as address,
        _keeping(access, view),
    ):
        role = "observer" if view.is_read_only else "operator"
        ready(await visiting.link(access.store, address.url, access.caller.instance, role))
        await stop.wait()


@asynccontextmanager
async def _keeping(access: Access, view: View) -> AsyncGenerator[None]:
    """Documents that people edit as files, and those that are edited on the page; where nothing is to be changed,
    neither."""
    if view.is_read_only:
        yield
        return
    async with DocumentKeeper(access.store, access.project.folder).keeping():
        yield


async def sign_out(access: Access) -> int:
    """Everybody; nobody comes in by an earlier link any more. How many visits and links that were."""
    return await access.store.write(visits.end_all, caller=SYSTEM)
