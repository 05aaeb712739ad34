"""A whole host in this process: it serves tools, reacts, works and runs agents, until it is told to stop."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field, replace
from pathlib import Path

from moot.app import backends, private_folders, settings
from moot.app.crew import Crew
from moot.app.outfitter import Outfitter
from moot.app.project import Project
from moot.app.shelves import Shelves
from moot.core.caller import SYSTEM, Caller
from moot.core.ears import Ears
from moot.core.ids import InstanceName, TokenId
from moot.core.records import record
from moot.core.tx import Tx
from moot.edge.page import Page
from moot.engine.expressions.sandbox import Sandbox
from moot.mcp import server
from moot.mcp.server import Address, Endpoints, Options
from moot.mcp.sockets import ServerRunning
from moot.process import identity
from moot.process.guardian import Guardian
from moot.registry import agents, hosts, instances
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.runner import neighbours, telemetry, worktree_worker
from moot.runner.host import Host, Pace
from moot.runner.retry import Retry
from moot.runner.stage import Stage
from moot.runner.trails import Heard, Trails
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.tools.around import Around
from moot.tools.spellings import Spelling
from moot.tools.table import Functions
from moot.views.keeper import DocumentKeeper
from moot.views.live import LiveViews
from moot.views.team.keeper import TeamViews

EVERYTHING = ("serve", "react", "work", "run")
WITHOUT_AGENTS = ("serve", "react", "work")  # for a lone MCP client, which is the agent itself


@record
class HostOptions:
    """What this host does, and where it listens."""

    roles: tuple[str, ...] = EVERYTHING
    port: int | None = 0
    trust_agent_header: bool = False
    spelling: Spelling = "underscored"  # of names of tools
    keeps_files: bool = True
    has_person: bool = False  # at its terminal, who can answer
    needs_socket: bool = False  # give up where another host serves the project's socket
    retry: Retry | None = None  # None: as the project's configuration says
    pace: Pace = field(default_factory=Pace)
    heard: Heard | None = None  # hears what agents do on their way
    page: Page | None = None  # for people, beside the tools
    stage: Stage | None = None  # records what happens, or plays it again
    functions: Functions = field(default_factory=Functions)  # in Python, of the program that this host is a part of


@record
class Running:
    """A host at work."""

    host: Host
    address: Address
    taken: Path | None = None  # the project's socket, if another host serves it


@asynccontextmanager
async def hosting(project: Project, store: Store, options: HostOptions | None = None) -> AsyncGenerator[Running]:
    """A host while the block runs. Attempts may still use the server while the host comes to its end."""
    chosen = options or HostOptions()
    met: set[TokenId] = set()
    ears = Ears()
    await asyncio.to_thread(_clear_up, project)
    with Guardian() as guardian:
        async with (
            Sandbox().open() as sandbox,
            _keeping(project, store, chosen),
            _serving(project, store, chosen, met, ears) as address,
        ):
            worktrees, heard = Worktrees(store, project.root, project.folder, guardian), None
            if chosen.stage is not None:
                worktrees, heard = chosen.stage.worktrees(worktrees), chosen.stage.heard
            around = Around(Shelves(project), heard, functions=chosen.functions, ears=ears)
            outfitter = Outfitter(project, store, address, met, guardian, worktrees, around)
            host = _host(project, store, chosen, outfitter, sandbox)
            await worktree_worker.take_up(worktrees)
            async with telemetry.sending(store, lambda: host.id, os.environ), _working(host):
                yield Running(host, address, project.socket if address.socket is None else None)


def _clear_up(project: Project) -> None:
    """After a host that was killed."""
    private_folders.clear(project.private_folder)
    backends.recover(project.root)


@asynccontextmanager
async def _working(host: Host) -> AsyncGenerator[Host]:
    is_ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(host.run(is_ready.set))
        await is_ready.wait()
        try:
            yield host
        finally:
            host.stop()


@asynccontextmanager
async def _keeping(project: Project, store: Store, options: HostOptions) -> AsyncGenerator[None]:
    """The files people read and edit, in step with the store."""
    if not options.keeps_files:
        yield
        return
    async with (
        DocumentKeeper(store, project.folder).keeping(),
        LiveViews(store, project.folder).keeping(),
        TeamViews(store, project.root).keeping(),
    ):
        yield


async def introduce(store: Store, instance: InstanceName, newcomers: tuple[NewAgent, ...]) -> None:
    """Make the agents of a file known, or bring what is known of them up to date."""

    def change(tx: Tx) -> None:
        opened = instances.ensure(tx, instance)
        for new in newcomers:
            agents.ensure(tx, opened, new)

    await store.write(change, caller=SYSTEM)


@asynccontextmanager
async def _serving(
    project: Project, store: Store, options: HostOptions, met: set[TokenId], ears: Ears
) -> AsyncGenerator[Address]:
    """On the project's socket if it is free; a second host of one project has only its port."""
    project.make_folder()
    endpoints = Endpoints(project.socket, port=options.port)

    def note(caller: Caller) -> None:
        if caller.attempt is not None and caller.token is not None:
            met.add(caller.token)

    witness = options.stage.heard if options.stage else None
    around = Around(Shelves(project), witness, options.spelling, options.functions, ears)
    how = Options(options.trust_agent_header, options.page, note, around)
    async with AsyncExitStack() as stack:
        try:
            address = await stack.enter_async_context(server.serving(store, endpoints, how))
        except ServerRunning:
            if options.needs_socket:
                raise
            alone = replace(endpoints, socket=None)
            address = await stack.enter_async_context(server.serving(store, alone, how))
        yield address


def _host(project: Project, store: Store, options: HostOptions, outfitter: Outfitter, sandbox: Sandbox) -> Host:
    can_ask = options.has_person or settings.notify(project.config) is not None
    roles = (*options.roles, hosts.ASKS) if can_ask else options.roles
    new = NewHost(neighbours.machine(), str(identity.current()), roles, outfitter.address.url)
    stopping = asyncio.Event()
    retry = options.retry or settings.retry(project.config)
    trails = Trails(project.folder if options.keeps_files else None, options.heard)
    crew = Crew(project, store, outfitter, sandbox, stopping, retry, trails, options.stage)
    return Host(store, new, crew.workers, options.pace, stopping)
