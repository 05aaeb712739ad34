"""What one advance of a flow comes to: everything that is to be written, together or not at all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import cast

from moot.core import json
from moot.core.events import Event
from moot.core.ids import FlowId
from moot.core.json import Json
from moot.core.records import record, replace
from moot.core.tx import ReadTx, Tx
from moot.engine import scope
from moot.engine.definition import Definition
from moot.engine.flow import flows, history, inbox, strands
from moot.engine.flow.flows import Flow, WaitsFor
from moot.engine.flow.history import Taken
from moot.engine.flow.strands import MAIN, TASKS, Strand
from moot.engine.scope import INPUTS
from moot.engine.state import fields as states
from moot.engine.state.fields import Fields
from moot.engine.state.reactive import Change, Trace
from moot.engine.step import Work

_TIDIED_EVERY = 100  # versions of a flow


@record
class Delta:
    fields: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    strands: tuple[Strand, ...] = ()  # as they are then
    taken: tuple[Taken, ...] = ()
    traces: tuple[Trace, ...] = ()
    answers: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Mapping[str, Json]])
    flow: Flow | None = None  # as it is then, if more of it changes than its version
    says: tuple[str, ...] = ()  # what moot itself tells those who use the flow
    checkpoint: str = ""  # why the state is kept apart, if it is
    is_anew: bool = False  # everything before is gone: it begins again

    def then(self, further: "Delta") -> "Delta":
        """Both at once, of the same strands, where this changes no more of the flow than its version."""
        return replace(
            self,
            fields={**self.fields, **further.fields},
            strands=further.strands,
            taken=(*self.taken, *further.taken),
            traces=(*self.traces, *further.traces),
            flow=further.flow,
            checkpoint=further.checkpoint,
        )

    @property
    def is_mere_move(self) -> bool:
        """Whether nobody can have waited for it: the flow goes on at once, and nothing was told or asked."""
        if self.flow is not None or self.answers or self.checkpoint:
            return False
        return not [one for one in self.strands if one.status != "moving"] and not _told(self.taken)

    def strand(self, number: int) -> Strand | None:
        """As it is then; None if it stays as it was."""
        for one in self.strands:
            if one.number == number:
                return one
        return None


@record
class Live:
    """A flow as whoever advances it knows it, in one snapshot."""

    flow: Flow
    definition: Definition
    fields: Fields
    strands: Mapping[int, Strand]
    names: Mapping[str, str]  # that expressions know of the whole flow beside the state: JSON text
    next_number: int = 1  # of a strand

    @property
    def main(self) -> Strand:
        return self.strands[MAIN]

    @property
    def others(self) -> list[Strand]:
        """Those beside the first that are not over."""
        return [one for one in self.strands.values() if one.number != MAIN and not one.is_over]

    def is_at_end(self, strand: Strand) -> bool:
        """Whether it has no step left to take."""
        return len(strand.frames) == 1 and strand.frames[0].at >= len(self.definition.root(strand.frames[0].block))

    def can_go_on(self, strand: Strand) -> bool:
        """Whether it goes on without anybody, as soon as it is its turn."""
        return strand.status == "moving" and (self.flow.credits != 0 or self.is_at_end(strand))

    def children(self, parent: Strand) -> list[Strand]:
        """The strands of the tasks that one waits for."""
        return self.families.get((parent.number, parent.since), [])

    @property
    def families(self) -> dict[tuple[int, int], list[Strand]]:
        """The strands of tasks, by the one that waits for them and which of its forks they are of. Whoever asks for
        many asks once: there may be thousands."""
        found: dict[tuple[int, int], list[Strand]] = {}
        for one in self.strands.values():
            if one.parent is not None:
                found.setdefault((one.parent, one.fork), []).append(one)
        return found

    def own(self, strand: Strand) -> dict[str, str]:
        """What the expressions of a strand know beside the state: JSON text by name."""
        known = {INPUTS: self.fields.get(INPUTS) or json.dumps(self.flow.given), **self.names}
        return {**known, **_texts(strand.own)} if strand.own else known

    def after(self, delta: Delta) -> "Live":
        """With what was committed."""
        flow = delta.flow or self.flow
        known = Change(delta.fields).over({} if delta.is_anew else self.fields)
        found = {} if delta.is_anew else dict(self.strands)
        next_number = 1 if delta.is_anew else self.next_number  # strands that are gone leave their numbers to others
        for one in delta.strands:
            found[one.number] = one
            next_number = max(next_number, one.number + 1)
        changed = replace(flow, version=self.flow.version + 1, last_step=self.flow.last_step + len(delta.taken))
        return Live(changed, self.definition, known, found, self.names, next_number)


Place = Callable[[Tx, Flow, Strand], Strand]  # gives the work of a strand to whoever is to do it


def load(tx: ReadTx, id: FlowId, definition: Definition) -> Live:
    flow, known = flows.get(tx, id), flows.fields(tx, id)
    return Live(
        flow, definition, known, strands.of_flow(tx, id), _texts(flow.own), next_number=strands.next_number(tx, id)
    )


def _texts(own: Mapping[str, Json]) -> dict[str, str]:
    return {name: json.dumps(value) for name, value in own.items() if not name.startswith("$")}  # those are moot's own


def commit(tx: Tx, live: Live, delta: Delta, place: Place, *, is_quiet: bool = False) -> Live | None:
    """None if somebody else has changed the flow since: then all of it is computed anew. With `is_quiet` a mere move
    wakes nobody."""
    delta = _tidied(live, delta)
    before, after = live.flow, delta.flow or live.flow
    if not flows.step(tx, before, len(delta.taken), delta.strand(MAIN) or live.main):
        return None
    if after is not before:
        flows.turn(tx, after)
    version = before.version + 1
    if delta.is_anew:
        flows.clear(tx, before.id)
        strands.drop(tx, before.id)
    flows.write_fields(tx, before.id, version, delta.fields)
    if [one for one in delta.strands if one.status == "given"]:
        placed = (place(tx, before, one) if one.status == "given" else one for one in delta.strands)
        delta = replace(delta, strands=tuple(placed))
    known: Mapping[int, Strand] = {} if delta.is_anew else live.strands
    if new := [one for one in delta.strands if one.number not in known]:
        strands.add(tx, new)
    for one in delta.strands:
        if (here := known.get(one.number)) is not None:
            strands.change(tx, here, one)
    history.note(tx, before.id, before.last_step, delta.taken)
    if delta.traces:
        history.trace(tx, before.id, version, delta.traces, {**live.fields, **delta.fields})
    for id, said in delta.answers.items():
        inbox.answer(tx, id, said)
    if version % _TIDIED_EVERY == 0:
        inbox.clear(tx, before.id)
        history.prune(tx, before.id, version)
    found = _marked(tx, live.after(delta))
    if delta.checkpoint:
        at = delta.taken[-1].step_id if delta.taken else live.main.step_id
        history.keep(tx, before.id, at, delta.checkpoint, version, states.flat(found.fields))
    _tell(tx, before, after, delta)
    if not (is_quiet and delta.is_mere_move):
        tx.wake()
    return found


def _tidied(live: Live, delta: Delta) -> Delta:
    """Without what was kept for strands that are over, or begin anew."""
    gone = {one.number for one in delta.strands if one.number != MAIN and (one.is_over or one.status == "ready")}
    if gone.isdisjoint(live.strands):
        return delta
    keys = live.fields.keys() | delta.fields.keys()
    found = sorted(key for key in keys if not gone.isdisjoint(scope.strands_of(key)))
    return replace(delta, fields={**delta.fields, **dict.fromkeys(found)}) if found else delta


def _marked(tx: Tx, live: Live) -> Live:
    """For those who ask whether anything goes on here: what the flow waits for."""
    waits = waits_for(live)
    if waits == live.flow.waits_for:
        return live
    flows.mark(tx, live.flow, waits)
    return replace(live, flow=replace(live.flow, waits_for=waits))


def waits_for(live: Live) -> WaitsFor:
    """Nothing, if anything of it moves; else what comes first to end it."""
    if live.flow.credits is None and any(one.status == "moving" for one in live.strands.values()):
        return ""
    active = [one for one in live.strands.values() if not one.is_over]
    if live.flow.credits == 0 and _needs_leave(live, active):
        return "credit"
    held_up = _held_up(live)
    found = {_waits_for(live, one) for one in active if one.status != "forked" and one.number not in held_up}
    for one in ("", "time", "agent", "subject", "person"):
        if one in found:
            return one
    return ""


def _needs_leave(live: Live, active: Sequence[Strand]) -> bool:
    """Whether something would move if it were allowed to, and nothing else does."""
    known = {one.status for one in active}
    is_free = known.isdisjoint(("doing", "given"))
    return is_free and any(one.status == "moving" and not live.is_at_end(one) for one in active)


def _held_up(live: Live) -> set[int]:
    """The strands that only wait for others of their kind to end: moot begins no more of them at once."""
    if live.flow.driver != "moot":
        return set()
    families = live.families.items()
    full = {parent for (parent, fork), children in families if not _has_room(live.strands.get(parent), fork, children)}
    return {one.number for one in live.strands.values() if one.status == "ready" and one.parent in full}


def _has_room(parent: Strand | None, fork: int, children: Sequence[Strand]) -> bool:
    if parent is None or parent.work is None or parent.work.type != TASKS or parent.since != fork:
        return True  # nobody waits for these
    return room(parent.work, children) > 0


def room(work: Work, children: Iterable[Strand]) -> int:
    """How many more of these tasks may begin, where moot begins them."""
    active = sum(one.status != "ready" and not one.is_over for one in children)
    return max(int(cast(int, work.definition["max_parallel"])) - active, 0)


def _waits_for(live: Live, strand: Strand) -> WaitsFor:
    if strand.status == "ready" and live.flow.driver == "moot":  # moot begins it at once
        return ""
    if strand.status == "pending" or (strand.status == "ready" and strand.holder is None):
        return "agent"
    if strand.status != "waiting":
        return ""
    if strand.waits_on is None:
        return "time"
    if strand.work is None or strand.work.type == "user_input" or strand.waits_on.startswith("rq_"):
        return "person"
    return "subject" if strand.work.type == "wait" else "agent"


def _tell(tx: Tx, before: Flow, after: Flow, delta: Delta) -> None:
    """What somebody may want to see as it happens."""
    for at, one in _told(delta.taken):
        facts: dict[str, Json] = {"step": one.step_id, "type": one.type, "status": one.status, "error": one.error}
        facts["number"] = before.last_step + 1 + at
        tx.announce(Event(before.stream, flows.STEPPED, before.id, facts, is_quiet=True))
    if after is not before and before.is_live and not after.is_live:
        facts = {"status": after.status, "error": after.error}
        tx.announce(Event(before.stream, flows.ENDED, before.id, facts))


def _told(taken: Sequence[Taken]) -> list[tuple[int, Taken]]:
    """Those that others hear of, each with its place among them."""
    return [(at, one) for at, one in enumerate(taken) if one.detail or one.error or one.doer != "moot"]
