"""Everything out of the store: views for people, JSON lines for programs."""

from collections.abc import AsyncIterator
from pathlib import Path

from moot.api import plain, trace
from moot.api.connection import Connection
from moot.api.plain import Plain
from moot.bus import messages
from moot.core.errors import MootError
from moot.core.ids import AttemptId, MessageId
from moot.documents import documents
from moot.ledger import traces
from moot.registry import instances
from moot.registry.instances import Instance
from moot.views import places
from moot.views.keeper import DocumentKeeper
from moot.views.live import LiveViews
from moot.views.team.keeper import TeamViews

_PAGE = 500  # attempts


class ViewsBlocked(MootError):
    """Something stands where a view should be. All others are written."""

    code = "VIEWS_BLOCKED"


async def views(connection: Connection) -> list[Path]:
    """Write the views of every instance again; returns the files."""
    connection.project.make_folder()
    live = LiveViews(connection.store, connection.project.folder, is_anew=True)
    teams = TeamViews(connection.store, connection.project.root, is_anew=True)
    written = [*await live.look(), *await teams.look()]
    for instance in await connection.store.read(instances.all_of):
        written += await _documents(connection, instance)
    if problems := [*live.problems, *teams.problems]:
        raise ViewsBlocked(" ".join(problems), "Move away what is there, then do it again.")
    return written


async def _documents(connection: Connection, instance: Instance) -> list[Path]:
    """Edits on disk are taken in before anything is written."""
    folder = connection.project.folder
    await DocumentKeeper(connection.store, folder).look(instance.name)
    found = await connection.store.read(lambda tx: documents.all_of(tx, instance.name))
    where = await connection.store.read(lambda tx: places.spot(tx, folder, instance.name))
    return [] if where is None else [where.path / one.file for one in found]


async def lines(connection: Connection) -> AsyncIterator[Plain]:
    """Every event, with the whole message where one was posted; then what every attempt did, each node of that tree
    with the id of the one it belongs to. `type` says which of the two a line is."""
    async for event in connection.events():
        line: Plain = {"type": "event", **plain.event(event)}
        if event.kind == messages.POSTED:
            id = MessageId(event.subject)
            found = await connection.store.read(lambda tx, id=id, stream=event.stream: messages.get(tx, id, stream))
            line["message"] = plain.message(found)
        yield line
    async for node in _operations(connection):
        yield {"type": "operation", **node}


async def _operations(connection: Connection) -> AsyncIterator[Plain]:
    last = AttemptId("")
    while page := await connection.store.read(lambda tx, last=last: traces.after(tx, last, _PAGE)):
        for id in page:
            for node in await connection.store.read(lambda tx, id=id: trace.done_in(tx, id)):
                yield node
        last = page[-1]
