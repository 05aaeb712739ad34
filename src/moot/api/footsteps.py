"""The steps of a run as they are taken, for whoever attends it: as much of them as it wants to see."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from moot.api import stepping, whereabouts
from moot.api.stepping import Seen, Walked
from moot.api.whereabouts import Whereabouts
from moot.core.events import StoredEvent
from moot.core.ids import FlowId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.engine.flow import flows, history, strands
from moot.engine.flow.flows import Flow
from moot.engine.flow.history import StepRow
from moot.engine.state.paths import SECTIONS
from moot.registry.runs import Run
from moot.store.store import Store

_PAGE = 1000  # steps at a time


@record
class Sight:
    """What is wanted beside the steps that somebody has done something for."""

    every_step: bool = False
    changes: bool = False  # what each has changed in the state, where they are taken one at a time
    whereabouts: bool = False  # where the flow is, whenever that has changed


@record
class Stepped:
    """A step was taken; `task` is whose it is, if it is a sub-agent's."""

    row: StepRow
    task: str = ""


@record
class Held:
    """The next step waits until somebody lets it be taken."""

    flow: Flow
    next: str


@record
class Moving:
    """Where the flow is now."""

    where: Whereabouts


Footstep = Stepped | Walked | Held | Moving


@dataclass(slots=True)
class Footsteps:
    """What was seen so far of the flow of one run."""

    store: Store
    run: Run
    sight: Sight
    _last: int = 0  # the number of the step that was told last
    _seen: Seen | None = None
    _held: int = -1  # the version of the flow at which it was said that it waits
    _shown: Whereabouts | None = None

    @property
    def _id(self) -> FlowId:
        return FlowId(self.run.id)

    async def of_event(self, event: StoredEvent) -> AsyncIterator[Footstep]:
        """A step that somebody has done something for, unless all are told anyway."""
        if event.kind != flows.STEPPED or event.subject != self._id or self.sight.every_step or self.sight.changes:
            return
        after = int(str(event.data["number"])) - 1
        for one in await self.store.read(lambda tx: self._steps(tx, after, 1)):
            yield one

    async def news(self) -> AsyncIterator[Footstep]:
        """What has come since the last look."""
        if self.sight == Sight():
            return
        flow = await self.store.read(lambda tx: flows.find(tx, self._id))
        if flow is None:
            return
        if self.sight.changes:
            async for one in self._walked(flow):
                yield one
        elif self.sight.every_step:
            while found := await self.store.read(lambda tx: self._steps(tx, self._last, _PAGE)):
                self._last = found[-1].row.number
                for one in found:
                    yield one
        if self.sight.whereabouts:
            where = await self.store.read(lambda tx: whereabouts.of(tx, flow))
            if where != self._shown:
                self._shown = where
                yield Moving(where)

    async def _walked(self, flow: Flow) -> AsyncIterator[Footstep]:
        """Once a step is taken for good: what it did and what changed; then which one is the next."""
        if flow.is_live and flow.waits_for == "":
            return
        before = self._seen or Seen(flow, {section: {} for section in SECTIONS}, 0)
        found, self._seen = await self.store.read(lambda tx: (stepping.since(tx, before), stepping.look(tx, self._id)))
        if found.steps or found.changes:
            yield found
        if flow.waits_for == "credit" and not flow.credits and self._held != flow.version:
            self._held = flow.version
            yield Held(flow, await self.store.read(lambda tx: stepping.ahead(tx, flow)))

    def _steps(self, tx: ReadTx, after: int, limit: int) -> list[Stepped]:
        found = history.steps(tx, self._id, after=after, limit=limit)
        tasks = (
            {one.number: one.task_id for one in strands.all_of(tx, self._id)} if any(r.strand for r in found) else {}
        )
        return [Stepped(one, tasks.get(one.strand, "")) for one in found]
