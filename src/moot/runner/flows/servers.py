"""The MCP servers that steps call: each started when it is first needed, and gone with the advance that needed it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from moot.client import connections
from moot.client.connections import Connections
from moot.client.external import Surroundings
from moot.client.offer import Answer
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import replace
from moot.core.servers import PREFIX, Server


def split(method: str, known: Mapping[str, Server]) -> tuple[Server, str] | None:
    """`server/tool`, however that is spelled; None if no server of that name is known."""
    plain = method.removeprefix(PREFIX)
    for sign in ("/", ".", "__"):
        name, found, tool = plain.removeprefix("mcp__" if sign == "__" else "").partition(sign)
        if found and tool and name in known:
            return known[name], tool
    return None


class Servers:
    """Used inside one task group, which they end with."""

    def __init__(self, around: Surroundings, group: asyncio.TaskGroup) -> None:
        self._around = around
        self._group = group
        self._opened: dict[str, asyncio.Future[Connections]] = {}
        self._leaving = asyncio.Event()

    async def call(self, server: Server, tool: str, params: Mapping[str, Json]) -> Answer:
        """CallFailed says whether it was executed."""
        if server.name not in self._opened:
            self._opened[server.name] = asyncio.get_running_loop().create_future()
            self._group.create_task(self._hold(server, self._opened[server.name]))
        opened = await asyncio.shield(self._opened[server.name])
        return await opened.connected[server.name].call(tool, params)

    def leave(self) -> None:
        self._leaving.set()

    async def _hold(self, server: Server, opened: "asyncio.Future[Connections]") -> None:
        needed = replace(server, is_optional=False)  # a step that calls it cannot do without
        try:
            async with connections.opened([needed], self._around) as found:
                opened.set_result(found)
                await self._leaving.wait()
        except MootError as error:
            self._opened.pop(server.name, None)  # whoever comes next tries again
            if not opened.done():
                opened.set_exception(error)
                with suppress(MootError):
                    await opened
