"""What moot did at the steps of a recorded flow. Commands and calls of other servers are not made again: what came of
them is on the tape. Calls of moot's own tools are made again, in their turn, and change the store as they did."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import Strand
from moot.engine.step import Outcome
from moot.runner.flows import deeds
from moot.taping.replaying import notes
from moot.taping.replaying.flow_parts import FlowPart
from moot.taping.replaying.performance import Performance
from moot.taping.replaying.turns import first_of
from moot.taping.tape import Call
from moot.tools import table

Calling = Callable[[], Awaitable[Outcome]]
_UNKNOWN = "The recording does not say what comes of it."


class RecalledDeeds:
    """A `Recall`. As long as a flow keeps to its recording, what came of its work is told with its turn, not here."""

    def __init__(self, performance: Performance) -> None:
        self._performance = performance

    def is_about(self, flow: Flow) -> bool:
        return flow.instance == self._performance.instance

    async def outcome(self, flow: Flow, strand: Strand, call: Calling | None) -> Outcome:
        part = self._performance.flows.part(flow)
        made: Outcome | None = None
        if call is not None and (note := part.call_of(strand)) is not None and await self._turn(part, note):
            made = await self._made(part, note, flow, strand, call)
        await part.freed.wait()
        if call is not None:
            return made or await call()
        worked = part.worked(strand)
        if worked is None:
            self._performance.drifts.add(f"{strand.step_id}: the recording does not say what comes of it")
            return Outcome("failed", None, _UNKNOWN)
        return Outcome(worked.status, self._performance.likeness.renamed(worked.result), worked.error)

    async def _turn(self, part: FlowPart, note: Call) -> bool:
        """False if the flow goes its own way by then."""
        turns = self._performance.turns
        with part.awaiting(note):
            while not part.is_free and turns.current is not note:
                await first_of(turns.moved(), part.freed.wait())
        return not part.is_free

    async def _made(self, part: FlowPart, note: Call, flow: Flow, strand: Strand, call: Calling) -> Outcome:
        asking = asyncio.ensure_future(cast(Coroutine[Any, Any, Outcome], call()))
        try:
            with part.working():
                if _waits(note):  # what it waits for may come from others: they go on as soon as it is on record
                    await notes.until_on_record(await self._performance.store, asking, deeds.key_of(flow, strand))
                else:
                    self._compare(note, await asking)
                self._performance.turns.done(note)
            outcome = await asking
            if _waits(note):
                self._compare(note, outcome)
            return outcome
        finally:
            asking.cancel()

    def _compare(self, note: Call, now: Outcome) -> None:
        self._performance.likeness.learn(note.structured or note.text, now.result)
        if now.status == "failed" and not note.is_error:
            self._performance.drifts.refused(note.step, note.tool, now.error)
        elif now.status == "success" and note.is_error:
            self._performance.drifts.add(f"{note.step}: {note.tool} was refused in the recording, and is not any more")


def _waits(note: Call) -> bool:
    tool = table.TOOLS.get(note.tool)
    return tool is not None and tool.waits and note.operation is not None
