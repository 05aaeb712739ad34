"""Removing an instance from a terminal, with the folder that moot keeps for it."""

import shutil
from collections.abc import Sequence
from contextlib import suppress

from moot.api import rights, workspaces
from moot.api.access import Access
from moot.api.workspaces import Retired
from moot.core import folder
from moot.core.ids import InstanceName
from moot.core.tx import ReadTx
from moot.documents import documents
from moot.documents import places as document_places
from moot.registry import instances
from moot.runner import removal, trails
from moot.views import channel_file, instance_files, live, places
from moot.views import documents as document_files
from moot.views.places import Spot
from moot.views.team.writing import TeamFolder

_FILES = (
    instance_files.INBOX_STATE,
    instance_files.PROPOSALS,
    instance_files.MCP,
    live.SOCKET,
    live.LOCK,
    channel_file.NOTE,
    document_files.BASES,
)


async def find(access: Access, instance: InstanceName) -> None:
    """InstanceNotFound if there is nothing to remove."""
    await access.store.read(lambda tx: instances.get(tx, instance))


async def remove(access: Access, instance: InstanceName) -> Retired:
    """For good. Work that is not merged stays on its branches, which are told. Of a folder elsewhere, where a workflow
    has put the files, what is not moot's stays."""
    rights.check_operator(access.caller)
    await removal.check(access.store, instance, access.caller)
    retired = await workspaces.retire(access, instance)
    where = await access.store.read(lambda tx: places.spot(tx, access.project.folder, instance))
    ours = await access.store.read(lambda tx: _files(tx, instance, where))
    await removal.remove(access.store, instance, access.caller)
    shutil.rmtree(trails.folder_of(access.project.folder, instance), ignore_errors=True)
    shutil.rmtree(access.project.folder / instance, ignore_errors=True)
    if where is not None:
        _clear(where, ours)
    with suppress(OSError):  # another program's, or not to be reached
        TeamFolder(access.project.root).remove(instance)
    return retired


def _files(tx: ReadTx, instance: InstanceName, where: Spot | None) -> list[str]:
    """What moot has written there; nothing, if it is another instance's, too."""
    place = document_places.place(tx, instance)
    if where is None or place.folder is None or document_places.sharing(tx, instance, place.folder):
        return []
    return [where.channel, *_FILES, *(one.file for one in documents.all_of(tx, instance))]


def _clear(where: Spot, ours: Sequence[str]) -> None:
    with suppress(OSError), folder.opened(where.above, where.name) as found:
        stamps = {path: found.stamp(path) for path in ours} if found is not None else {}
        for path, stamp in stamps.items():
            if found is not None and stamp is not None:
                found.remove(path, stamp)
    if ours:
        with suppress(OSError):  # something else lies there
            where.path.rmdir()
