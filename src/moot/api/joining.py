"""Brings an MCP client on standard input and output to the project's host, and is the host where there is none."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from moot.api import access, showing
from moot.app import joining
from moot.app.project import Project
from moot.app.stores import open_store
from moot.core.ids import InstanceName
from moot.mcp.relay import link, relaying, stdio
from moot.mcp.relay.courier import Client
from moot.mcp.relay.link import TakeOver
from moot.store.store import Store


async def join(
    *,
    store: str | None,
    agent: str | None,
    instance: InstanceName,
    groups: tuple[str, ...] | None,
    spelling: str | None = None,
) -> None:
    """Until the client closes its end. Without an agent, the client acts as the operator."""
    project = access.find_project()
    opened = open_store(project.store_url(store), create=True)
    project.make_folder()
    try:
        async with (
            joining.token(opened, agent=agent, instance=instance, groups=groups) as token,
            substitute(project, opened) as take_over,
        ):
            if not await _is_served(project.socket):
                await take_over()
            stdin, stdout = await stdio.opened()
            await relaying.relay(project.socket, Client(token, spelling), stdin, stdout, take_over=take_over)
        await showing.leave(opened, project, instance)
    finally:
        await opened.close()


async def _is_served(socket: Path) -> bool:
    try:
        _, writer = await link.Link(socket, None, link.Patience()).open()
    except OSError:
        return False
    writer.close()
    return True


@asynccontextmanager
async def substitute(project: Project, store: Store) -> AsyncGenerator[TakeOver]:
    """A function that starts a host in this process; on leaving, the host ends."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:

        async def take_over() -> None:
            begun = asyncio.get_running_loop().create_future()
            group.create_task(_host(project, store, begun, stop))
            await begun

        try:
            yield take_over
        finally:
            stop.set()


async def _host(project: Project, store: Store, begun: "asyncio.Future[None]", stop: asyncio.Event) -> None:
    # Only now: a client that finds a host must not pay for what it does not need.
    from moot.app import hosting  # noqa: PLC0415

    options = hosting.HostOptions(roles=hosting.WITHOUT_AGENTS, port=None, needs_socket=True)
    try:
        async with hosting.hosting(project, store, options):
            _tell(begun)
            await stop.wait()
    except Exception as error:  # the relay is told, and tries again
        if begun.done():
            raise
        if _was_somebody_faster(error):
            _tell(begun)
        else:
            begun.set_exception(error)


def _was_somebody_faster(error: Exception) -> bool:
    """A host is many tasks: what one of them meets comes in a group."""
    from moot.mcp.sockets import ServerRunning  # noqa: PLC0415

    if not isinstance(error, ExceptionGroup):
        return isinstance(error, ServerRunning)
    return cast("ExceptionGroup[Exception]", error).split(ServerRunning)[1] is None


def _tell(begun: "asyncio.Future[None]") -> None:
    if not begun.done():  # by now the client may be gone
        begun.set_result(None)
