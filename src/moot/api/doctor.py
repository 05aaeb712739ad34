"""All checks in the order in which one leans on the other."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import urlsplit

from moot.api import access, check
from moot.api.check import Check
from moot.api.checks import backends, folder, store, store_file, surroundings
from moot.app import settings
from moot.app.project import Project
from moot.app.stores import file_of, kind_of, open_store
from moot.core.errors import MootError
from moot.store import sqlite
from moot.store.store import Limits, Store

PATIENCE = Limits(queued_seconds=3.0)


async def examine(store_url: str | None) -> AsyncIterator[Check]:
    """Every check, as soon as it is done."""
    for found in surroundings.checks():
        yield found
    try:
        project = access.find_project()
        if project.config:
            yield check.guarded("settings", lambda: _settings(project))
        async for found in backends.checks(project):
            yield found
        for found in folder.checks(project):
            yield found
        async for found in _store(project.store_url(store_url)):
            yield found
    except MootError as error:
        yield check.failed("project", error)


def _settings(project: Project) -> Check:
    settings.check(project.config)
    return check.ok("settings", ", ".join(project.config))


async def _store(url: str) -> AsyncIterator[Check]:
    match kind_of(url):
        case "memory":
            yield check.ok("store", "in memory; every command has its own")
        case "postgres":
            async for found in _opened(without_secrets(url), lambda: open_store(url, create=False)):
                yield found
        case "sqlite":
            async for found in _file(file_of(url)):
                yield found


async def _file(file: Path) -> AsyncIterator[Check]:
    is_sound = True
    for found in store_file.checks(file):
        is_sound = is_sound and found.state != "problem"
        yield found
    if is_sound and store_file.is_current(file):
        async for found in _opened(None, lambda: sqlite.open_file(file, create=False, limits=PATIENCE)):
            yield found


async def _opened(address: str | None, open_it: Callable[[], Store]) -> AsyncIterator[Check]:
    try:
        opened = open_it()
    except MootError as error:
        yield check.failed("store", error)
        return
    try:
        if address is not None:
            yield check.ok("store", f"{address} can be reached")
        async for found in store.checks(opened):
            yield found
    finally:
        await opened.close()


def without_secrets(url: str) -> str:
    """The address without user, password and settings."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
