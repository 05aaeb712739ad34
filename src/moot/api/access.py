"""Access to a project's store: which one, and as whom. Imports little, because every command begins here."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from moot.api.targets import DEFAULT
from moot.app import project as projects
from moot.app.project import Project
from moot.app.stores import open_store
from moot.core.caller import Caller
from moot.core.errors import MootError, NotAllowed
from moot.core.ids import InstanceName
from moot.registry import names
from moot.registry.agents import PERSON
from moot.store.errors import StoreNotFound
from moot.store.store import Store

LOOK_AGAIN_SECONDS = 0.3


class FolderGone(MootError):
    """The folder that a command was started in does not exist any more."""

    code = "FOLDER_GONE"


@dataclass(frozen=True, slots=True)
class Access:
    """An open store of a project, and who uses it."""

    store: Store
    project: Project
    caller: Caller


@asynccontextmanager
async def access(
    *, store: str | None = None, instance: str | None = None, create: bool = False, start: Path | None = None
) -> AsyncGenerator[Access]:
    """Open the project's store; with `create`, make it if there is none."""
    wanted = None if instance is None else InstanceName(names.check_instance(instance))
    project = find_project(start)
    opened = open_store(project.store_url(store), create=create)
    try:
        yield Access(opened, project, await _caller(opened, wanted))
    finally:
        await opened.close()


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


async def _caller(store: Store, instance: InstanceName | None) -> Caller:
    """The agent whose token is in the environment, or else the person."""
    token = os.environ.get("MOOT_TOKEN")
    if not token:
        return Caller(name=PERSON, role="operator", instance=instance or DEFAULT)
    from moot.registry import tokens  # noqa: PLC0415  # people have none, and their commands start faster without

    caller = await store.read(lambda tx: tokens.identify(tx, token))
    if instance not in (None, caller.instance):
        raise NotAllowed(f"The token in MOOT_TOKEN is for the instance {caller.instance}.", "Unset it, or stay there.")
    return caller
