"""Removing an instance from a terminal, with the folder that moot keeps for it."""

import shutil

from moot.api import rights
from moot.api.access import Access
from moot.core.ids import InstanceName
from moot.registry import instances
from moot.runner import neighbours, removal, trails
from moot.views import places


async def find(access: Access, instance: InstanceName) -> None:
    """InstanceNotFound if there is nothing to remove."""
    await access.store.read(lambda tx: instances.get(tx, instance))


async def remove(access: Access, instance: InstanceName) -> None:
    """For good. A folder of the person's own, where a workflow has put the files, stays."""
    rights.check_operator(access.caller)
    await neighbours.see_to(access.store)
    where = await access.store.read(lambda tx: places.spot(tx, access.project.folder, instance))
    await removal.remove(access.store, instance, access.caller)
    shutil.rmtree(trails.folder_of(access.project.folder, instance), ignore_errors=True)
    if where.above == access.project.folder:
        shutil.rmtree(where.path, ignore_errors=True)
