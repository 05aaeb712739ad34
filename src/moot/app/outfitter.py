"""Gives attempts what they need while they run: tools, a way in for programs, and places on disk."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.app import private_folders
from moot.app.project import Project
from moot.backends.backend import Access
from moot.core.ids import TokenId
from moot.core.records import record
from moot.core.tool import Toolbox
from moot.mcp.server import Address
from moot.process.guardian import Guardian
from moot.runner.begun import Begun, Kit
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.tools.around import Around
from moot.tools.toolbox import AttemptToolbox, RemoteToolbox

if TYPE_CHECKING:
    from moot.client.toolbox import McpToolbox

_IN_PROCESS = ("scripted", "api")  # start no program: a folder for each attempt would cost them much


@record
class Outfitter:
    project: Project
    store: Store
    address: Address
    met: set[TokenId]  # who came to our server with the token of an attempt
    guardian: Guardian
    worktrees: Worktrees
    around: Around  # calls in process; the server has its own

    def equip(self, begun: Begun) -> AbstractAsyncContextManager[Kit]:
        return self._equip(begun)

    @asynccontextmanager
    async def _equip(self, begun: Begun) -> AsyncGenerator[Kit]:
        token = begun.caller.token
        assert token is not None
        access = Access(self.address.url or "", begun.token, lambda: token in self.met, self.around.witness is not None)
        try:
            async with (
                self._folder(begun) as folder,
                self._toolbox(begun) as toolbox,
            ):
                yield Kit(toolbox, access, await self._workspace(begun, folder), folder, self.guardian)
        finally:
            self.met.discard(token)

    @asynccontextmanager
    async def _folder(self, begun: Begun) -> AsyncGenerator[Path]:
        if begun.agent.backend in _IN_PROCESS and begun.agent.settings.get("workspace") != "none":
            yield self.project.private_folder / begun.attempt
            return
        async with private_folders.opened(self.project.private_folder, begun.attempt) as folder:
            with self.guardian.guarding(folder.name, folder):
                yield folder

    async def _workspace(self, begun: Begun, folder: Path) -> Path:
        """Of the project, or of the worktree of its task or of the agent, the whole or the folder in which its agent
        was asked."""
        settings = begun.agent.settings
        if settings.get("workspace") == "none":
            return folder
        root = await self.worktrees.of_task(begun.agent, begun.caller.token or "")
        if root is None:
            is_apart = settings.get("workspace") == "worktree"
            root = await self.worktrees.of_agent(begun.agent) if is_apart else self.project.root
        return root / str(settings.get("folder", ""))

    @asynccontextmanager
    async def _toolbox(self, begun: Begun) -> AsyncGenerator[Toolbox]:
        """In process, or as a real client of our own server if the agent wants that."""
        if begun.agent.settings.get("transport") != "mcp":
            yield AttemptToolbox(self.store, begun.caller, begun.delivery, self.around)
            return
        where = self.address.url or self.address.socket  # the client library is at its best over TCP
        assert where is not None
        toolbox_at = await asyncio.to_thread(_load_client)
        async with toolbox_at(where, begun.token) as toolbox:
            yield RemoteToolbox(toolbox, begun.delivery)


def _load_client() -> "Callable[[str | Path, str], AbstractAsyncContextManager[McpToolbox]]":
    """The MCP library is heavy, and few agents want it."""
    from moot.client.toolbox import toolbox  # noqa: PLC0415

    return toolbox
