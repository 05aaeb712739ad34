"""All that the live view shows of an instance, read in one snapshot, and again whenever something has happened."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta

from moot.api import around, flow_plans, needs, overview
from moot.api.around import Around
from moot.api.connection import Connection
from moot.api.needs import Needs
from moot.api.overview import Overview
from moot.bus import messages
from moot.bus.messages import Message
from moot.core.errors import MootError
from moot.core.ids import FlowId
from moot.core.records import record, replace
from moot.core.tx import ReadTx
from moot.registry import instances
from moot.registry.instances import Instance
from moot.workspaces import grounds

_CALM_SECONDS = 0.1  # between two looks: more often than that nobody sees
_LOST_SECONDS = 5.0  # a host that has died says nothing, and those who seem to work on it do not


@record
class Glance:
    overview: Overview
    needs: Needs
    around: Around
    moment: float  # of the snapshot, on the clock of this process
    lengths: Mapping[FlowId, int]  # how many steps the files of the flows have

    @property
    def age(self) -> timedelta:
        return timedelta(seconds=time.monotonic() - self.moment)

    @property
    def is_moving(self) -> bool:
        """Whether somebody works, whose time goes on."""
        return any(one.since is not None for one in self.overview.status.agents)

    @property
    def is_live(self) -> bool:
        run = self.overview.status.run
        return run is not None and run.state == "live"


async def asked_before(person: Connection, last: int) -> list[Message]:
    """The messages by which a person was asked what is still open, if they are not among the last so many."""

    def look(tx: ReadTx) -> list[Message]:
        instance = instances.get(tx, person.caller.instance)
        seen = {one.id for one in messages.latest(tx, instance.stream, last)}
        found = _needs(tx, person, instance)
        asked = {one.message for one in found.requests} | {one.terms.message for one in found.votes}
        by = [messages.get(tx, id, instance.stream) for id in asked if id is not None and id not in seen]
        return sorted(by, key=lambda one: one.seq)

    return await person.store.read(look)


async def follow(opened: Connection, person: Connection) -> AsyncIterator[Glance]:
    """As it stands, with what needs this person; and again after commits, however many there are."""
    place = grounds.place(opened.project.root)
    lengths = dict[FlowId, int]()
    with opened.store.listen() as signal:
        while True:
            signal.clear()
            found = await opened.store.read(lambda tx: _look(tx, person, place))
            for one in found.overview.status.flows:
                if one.flow.id not in lengths:
                    lengths[one.flow.id] = await _length(opened, one.flow.id)
            yield replace(found, lengths=dict(lengths))
            await asyncio.sleep(_CALM_SECONDS)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOST_SECONDS if found.is_moving else None):
                    await signal.wait()


def _look(tx: ReadTx, person: Connection, place: str) -> Glance:
    instance = instances.get(tx, person.caller.instance)
    return Glance(
        overview.of(tx, instance, place), _needs(tx, person, instance), around.of(tx, instance), time.monotonic(), {}
    )


def _needs(tx: ReadTx, person: Connection, instance: Instance) -> Needs:
    who = person.whose(tx, None)
    if person.caller.role == "operator":
        return needs.of_operator(tx, instance, who)
    return needs.of_agent(tx, instance, who) if who else Needs()


async def _length(opened: Connection, id: FlowId) -> int:
    """0 if nobody can say any more."""
    try:
        return await flow_plans.length(opened.store, id)
    except MootError:
        return 0
