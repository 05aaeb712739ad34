"""The servers of a tree of sessions: all started at its beginning, and gone at its end."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager

from moot.client.external import External, Surroundings
from moot.core.errors import MootError
from moot.core.records import record
from moot.core.servers import Server


@record
class Connections:
    connected: Mapping[str, External]
    troubles: tuple[MootError, ...] = ()  # with servers that are optional


@asynccontextmanager
async def opened(servers: Iterable[Server], around: Surroundings) -> AsyncGenerator[Connections]:
    """ServerNotStarted if one of them cannot be had, unless it is optional."""
    failure: BaseException | None = None
    async with asyncio.TaskGroup() as group:
        found = [External(one, around, group) for one in servers]
        try:
            yield await _started(found)
        except BaseException as error:  # noqa: BLE001  # kept from the task group, which would wrap it
            failure = error
        for one in found:
            one.leave()
    if failure is not None:
        raise failure


async def _started(found: list[External]) -> Connections:
    results = await asyncio.gather(*(one.client() for one in found), return_exceptions=True)
    connected: dict[str, External] = {}
    troubles: list[MootError] = []
    for one, result in zip(found, results, strict=True):
        if not isinstance(result, BaseException):
            connected[one.name] = one
        elif isinstance(result, MootError) and one.server.is_optional:
            troubles.append(result)
        else:
            raise result
    return Connections(connected, tuple(troubles))
