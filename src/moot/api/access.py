"""Access to a project's store: which one, and as whom. Imports little, because every command begins here."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from moot.api import showing, targets
from moot.api.targets import DEFAULT
from moot.app import project as projects
from moot.app.project import Project
from moot.app.stores import open_store
from moot.core.caller import Caller
from moot.core.errors import InvalidInput, MootError, NotAllowed
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import instances, names
from moot.registry.agents import PERSON
from moot.runner import neighbours
from moot.store.errors import StoreNotFound, StorePlaceRefused, StoreUnavailable
from moot.store.store import Store
from moot.tools import groups

LOOK_AGAIN_SECONDS = 0.3
# What a command is for: the tool that does the same, or what no tool does and only the person of the project may.
Purpose = groups.Looking | groups.Acting | Literal["manage"]


# What is looked at or changed in one instance, whoever is there.
_IN_ONE_PLACE: frozenset[Purpose] = frozenset(
    (
        "channel_read",
        "channel_search",
        "document_delete",
        "document_history",
        "document_list",
        "document_read",
        "document_write",
        "proposal_cancel",
        "proposal_status",
        "vote",
        "workflow_list",
        "workflow_progress",
        "task_get",
        "task_claim",
        "task_release",
        "task_update_status",
        "workflow_state_read",
        "workflow_debug_info",
        "workflow_trace_transformations",
    )
)


class InstanceUnclear(InvalidInput):
    """Several could be meant."""

    code = "INSTANCE_UNCLEAR"


class FolderGone(MootError):
    """The folder that a command was started in does not exist any more."""

    code = "FOLDER_GONE"


class StoreElsewhere(MootError):
    """An agent looks for its store in the wrong place."""

    code = "STORE_NOT_FOUND"


class OnlyServer(MootError):
    """An agent cannot reach its store from here, but perhaps its server."""

    code = "ONLY_SERVER"

    def __init__(self, url: str, token: str) -> None:
        super().__init__(
            "The store of this agent cannot be reached from here, and without it this cannot be done.",
            "Change to the project's folder. Over its server work: send, inbox, log, doc, vote, context.",
        )
        self.url, self.token = url, token


@record
class Inside:
    """What the environment says to a program that runs as an agent."""

    token: str = field(repr=False)
    url: str | None
    is_only_server: bool = False  # though it may reach the store: somebody writes down what it does

    @staticmethod
    def found(environ: Mapping[str, str]) -> "Inside | None":
        token = environ.get("MOOT_TOKEN")
        url, through = environ.get("MOOT_URL") or None, environ.get("MOOT_THROUGH")
        return Inside(token, url, through == "server" and url is not None) if token else None

    def astray(self, error: MootError) -> MootError:
        """What it means to an agent that its store is not where it looked."""
        if self.url is not None:
            return OnlyServer(self.url, self.token)
        if isinstance(error, StoreNotFound):
            return StoreElsewhere(
                "MOOT_TOKEN is set, and the store that it belongs to is not here.",
                "Change to the agent's project, set MOOT_URL to its server, or unset MOOT_TOKEN.",
            )
        return error


@record
class Access:
    """An open store of a project, and who uses it."""

    store: Store
    project: Project
    caller: Caller


@asynccontextmanager
async def access(
    purpose: Purpose,
    *,
    store: str | None = None,
    instance: str | None = None,
    create: bool = False,
    waits: bool = False,
    start: Path | None = None,
) -> AsyncGenerator[Access]:
    """Open the project's store for a purpose; NotAllowed, if an agent does not hold the tool that does the same. With
    `create`, make the store if there is none, but never for an agent: its store is there. InstanceNotFound, if one is
    named that is not there, unless it may come: by `create`, or because the command `waits` for it.
    OnlyServer, if an agent is somewhere from where its store cannot be reached, and its server might be."""
    wanted = None if instance is None else InstanceName(names.check_instance(instance))
    project = find_project(start)
    inside = Inside.found(os.environ)
    opened = _opened(project.store_url(store), inside, create=create)
    try:
        caller = await _caller(opened, wanted, inside)
        if inside is not None:
            _check(caller, purpose)
        else:
            if await neighbours.see_to(opened):  # who was killed hosts and attends nothing
                await showing.bring_all(opened, project)
            if wanted is None and purpose in _IN_ONE_PLACE:
                caller = replace(caller, instance=await opened.read(_only_instance))
        if wanted is not None and not (create or waits):
            await opened.read(lambda tx: instances.get(tx, wanted))
        yield Access(opened, project, caller)
    finally:
        await opened.close()


def _only_instance(tx: ReadTx) -> InstanceName:
    """Where a person looks who names none: the default instance, or the only other one there is."""
    found = [one.name for one in instances.all_of(tx)]
    others = [name for name in found if not name.startswith(targets.QUESTION)]
    if DEFAULT in found or not others:
        return DEFAULT
    if len(others) > 1:
        raise InstanceUnclear("It is not clear which instance is meant.", f"Use --instance {' or '.join(others[:20])}.")
    return others[0]


def _check(caller: Caller, purpose: Purpose) -> None:
    """The same that an agent is told by its server, though here it reaches the store by itself."""
    if purpose != "manage":
        groups.check(caller, purpose)
    elif caller.role != "operator":
        raise NotAllowed(f"{caller.name} may not start or stop others.", "Ask the person: mention @human.")


def _opened(url: str, inside: "Inside | None", *, create: bool) -> Store:
    if inside is not None and inside.is_only_server and inside.url is not None:
        raise OnlyServer(inside.url, inside.token)
    try:
        return open_store(url, create=create and inside is None)
    except (StoreNotFound, StorePlaceRefused, StoreUnavailable) as error:
        if inside is None:
            raise
        raise inside.astray(error) from error


async def wait_for_store(store: str | None, waiting: Callable[[StoreNotFound], None]) -> None:
    """Until there is one: reading makes none. `waiting` is called once, if it is not there yet."""
    url = find_project().store_url(store)
    is_told = False
    while True:
        try:
            opened = open_store(url, create=False)
        except StoreNotFound as error:
            if not is_told:
                waiting(error)
                is_told = True
            await asyncio.sleep(LOOK_AGAIN_SECONDS)  # before there is a store, nothing can wake us
        else:
            await opened.close()
            return


def find_project(start: Path | None = None) -> Project:
    try:
        return projects.find(start)
    except FileNotFoundError as error:
        raise FolderGone("The current folder does not exist any more.", "Change to another one.") from error


async def _caller(store: Store, instance: InstanceName | None, inside: "Inside | None") -> Caller:
    """The agent whose token is in the environment, or else the person."""
    if inside is None:
        return Caller(name=PERSON, role="operator", instance=instance or DEFAULT)
    from moot.registry import tokens  # noqa: PLC0415  # people have none, and their commands start faster without
    from moot.registry.errors import NotAuthenticated  # noqa: PLC0415
    from moot.tools import sharing  # noqa: PLC0415

    token = inside.token
    try:
        caller = await store.read(lambda tx: sharing.as_now(tx, tokens.identify(tx, token)))
    except NotAuthenticated as error:  # perhaps this is another project's store
        raise inside.astray(error) from error
    if instance not in (None, caller.instance):
        raise NotAllowed(f"The token in MOOT_TOKEN is for the instance {caller.instance}.", "Unset it, or stay there.")
    return caller
