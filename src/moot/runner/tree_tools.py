"""The tools of everybody in one tree of sessions: moot's own, those for files and commands, and those of other MCP
servers, which are started with the tree and gone with it."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeGuard, runtime_checkable
from typing import cast as cast_to

from moot.backends.backend import Assignment
from moot.core import servers, workspace_tools
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record
from moot.core.servers import Server
from moot.core.tool import Tool, ToolAnswer
from moot.process.guardian import Guardian
from moot.runner.journals import Kept
from moot.session.agent import Agent, Cast
from moot.session.external_tools import Connection, ExternalTools
from moot.session.moot_tools import MootTools
from moot.session.permitting import Nobody, Permitting
from moot.session.source import Source
from moot.session.workspace import place
from moot.session.workspace.tools import WorkspaceTools

if TYPE_CHECKING:
    from moot.client.connections import Connections

Connect = Callable[[Iterable[Server]], "AbstractAsyncContextManager[Connections]"]


@runtime_checkable
class Offering(Protocol):
    """A toolbox that knows what it holds."""

    def offered(self) -> tuple[Tool, ...]: ...
    async def call(self, name: str, arguments: Mapping[str, Json], path: str) -> ToolAnswer: ...


def has_offer(toolbox: object) -> TypeGuard[Offering]:
    """Found out once for all toolboxes of a kind: of a protocol, Python looks at every method again and again."""
    return _is_offering(type(toolbox))


@cache
def _is_offering(kind: type) -> bool:
    return issubclass(kind, Offering)


@record
class TreeTools:
    assignment: Assignment
    toolbox: Offering
    connected: Mapping[str, Mapping[str, Connection]]  # servers by name, of each agent
    troubles: tuple[MootError, ...] = ()  # with servers that one can do without

    def of(self, agent: Agent, path: str) -> Sequence[Source]:
        named, is_root = agent.tools or (), agent.name == self.assignment.agent
        held = _held(agent, self.toolbox.offered(), is_root=is_root)
        found: list[Source] = [MootTools(held, self.toolbox)] if held else []
        if not named:
            return found
        person = _permitting(self.assignment, "" if is_root else agent.name)
        if workspace_tools.chosen(named):
            files = cast_to(Sequence[str], self.assignment.settings.get("files", ()))
            where = place.at(self.assignment.workspace, _guardian(self.assignment), files)
            found.append(WorkspaceTools(where, named, agent.permissions, person))
        own = self.connected.get(agent.name, {})
        chosen = servers.chosen(named).items()
        return (*found, *(ExternalTools(own[name], only, person) for name, only in chosen if name in own))


def _held(agent: Agent, offered: Sequence[Tool], *, is_root: bool) -> list[Tool]:
    """Of the tools that the attempt may use, those of one agent: all if it is its own, else what its file names."""
    if is_root:
        return list(offered)
    if not (named := agent.tools):
        return []
    return [one for one in offered if one.name in named or one.group in named]


@asynccontextmanager
async def opened(assignment: Assignment, toolbox: Offering, cast: Cast) -> AsyncGenerator[TreeTools]:
    """ServerNotStarted if a server cannot be had that is not optional."""
    if not any(agent.servers for agent in cast.values()):
        yield TreeTools(assignment, toolbox, {})
        return
    connect = await asyncio.to_thread(_load, assignment.workspace, _guardian(assignment))
    async with AsyncExitStack() as stack:
        rounds = [(one, await stack.enter_async_context(connect(one.values()))) for one in _rounds(cast)]
        connected = {name: _own(agent, rounds) for name, agent in cast.items()}
        yield TreeTools(assignment, toolbox, connected, tuple(each for _, one in rounds for each in one.troubles))


def _rounds(cast: Cast) -> list[dict[str, Server]]:
    """Each server once; those that have one name and are different ones apart."""
    rounds: list[dict[str, Server]] = []
    for server in (one for agent in cast.values() for one in agent.servers):
        free = next((one for one in rounds if one.setdefault(server.name, server) == server), None)
        if free is None:
            rounds.append({server.name: server})
    return rounds


def _own(agent: Agent, rounds: "Sequence[tuple[Mapping[str, Server], Connections]]") -> dict[str, Connection]:
    return {
        server.name: found.connected[server.name]
        for server in agent.servers
        for declared, found in rounds
        if declared.get(server.name) == server and server.name in found.connected
    }


def _load(root: Path, guardian: Guardian | None) -> Connect:
    """The MCP library is heavy, and few agents want it."""
    from moot.client import connections  # noqa: PLC0415
    from moot.client.external import Surroundings  # noqa: PLC0415

    return partial(connections.opened, around=Surroundings(root, os.environ, guardian))


def _guardian(assignment: Assignment) -> Guardian | None:
    return assignment.guardian if isinstance(assignment, Kept) else None


def _permitting(assignment: Assignment, asker: str) -> Permitting:
    return assignment.requests.of(asker) if isinstance(assignment, Kept) else Nobody()
