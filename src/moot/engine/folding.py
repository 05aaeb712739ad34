"""What has come for a flow, taken in: updates of its state that wait together in one computation, and everything else
one after the other."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from moot.core import json
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record, replace
from moot.engine import forks, frames, handing
from moot.engine.delta import Delta, Live
from moot.engine.driving import Driver
from moot.engine.history import Taken
from moot.engine.inbox import Submission
from moot.engine.state import reactive
from moot.engine.state.operations import Update
from moot.engine.state.reactive import Change
from moot.engine.step import Outcome
from moot.engine.strands import Strand, moved


@record
class _Wanted:
    """An update that somebody submitted; `strand` is the one that had it in hand."""

    id: str
    updates: tuple[Update, ...]
    strand: Strand | None


async def take_in(driver: Driver, live: Live, submissions: Sequence[Submission]) -> Delta:
    """As many as go together, of which there is at least one."""
    first = submissions[0]
    if first.kind == "update":
        return await _update(driver, live, submissions)
    strand = live.strands.get(first.strand)
    if strand is None or not live.flow.is_live:
        return _refused(first.id, "STEP_NOT_PENDING", "That is over already.", "Ask for the next step.")
    if first.kind == "begin":
        following = (replace(strand, status="moving"),) if strand.status == "ready" else ()
        return Delta(strands=following, answers={first.id: {"success": True}})
    if strand.work is None or strand.step_id != first.body.get("step_id"):
        return _refused(first.id, "STEP_NOT_PENDING", "That step is not the one to be done now.", "Ask for the next.")
    delta = await _finish(driver, live, strand, first)
    return replace(delta, answers={**delta.answers, first.id: _told(delta, strand)})


async def _finish(driver: Driver, live: Live, strand: Strand, said: Submission) -> Delta:
    assert strand.work is not None
    doer = "agent" if said.kind == "complete" else "person" if said.body.get("by") == "person" else "moot"
    match said.body.get("verdict"):
        case "retry":
            again = replace(strand, status="given", waits_on=None, since=live.flow.version + 1)
            return Delta(strands=(again,))
        case "skip":
            return driver.past(live, strand, doer, "skipped")
        case _:
            pass
    if strand.work.type == forks.TASKS and said.kind == "complete" and said.body.get("status") != "failed":
        found = forks.outcome(live, strand)
        if found is None:
            return Delta()
        return await driver.finish(live, strand, found, doer)
    outcome = _outcome(said.body)
    if strand.work.type == handing.TYPE and outcome.status == "success":
        return await _updated(driver, live, strand)
    if said.body.get("is_written") and outcome.status == "success":
        return driver.past(live, strand, doer)
    return await driver.finish(live, strand, outcome, doer)


async def _updated(driver: Driver, live: Live, strand: Strand) -> Delta:
    """The agent says that the updates are made: if nobody has made them, they are made now."""
    assert strand.work is not None
    change = Change() if strand.is_applied else await handing.applied(driver.evaluator, live, strand)
    following = moved(strand, frames.from_json(strand.work.then))
    taken = Taken(strand.number, strand.step_id, handing.TYPE, "agent")
    seen = live.flow.last_step + 1
    return Delta(change.fields, (replace(following, seen_step=seen),), (taken,), change.traces)


async def _update(driver: Driver, live: Live, submissions: Sequence[Submission]) -> Delta:
    """All updates that wait, in one computation. If that fails, only the first: it may be somebody else's fault."""
    wanted: list[_Wanted] = []
    for one in submissions:
        if one.kind != "update" or not live.flow.is_live:
            break
        try:
            wanted.append(_wanted(live, one, wanted))
        except MootError as error:
            if not wanted:
                return _refused(one.id, error.code, error.fact, error.remedy)
            break
    if not wanted:
        return _refused(submissions[0].id, "INVALID_TRANSITION", "The workflow is over.", "Start it again.")
    try:
        return await _together(driver, live, wanted)
    except MootError as error:
        if len(wanted) > 1:
            return await _update(driver, live, submissions[:1])
        return _refused(wanted[0].id, error.code, error.fact, error.remedy)


async def _together(driver: Driver, live: Live, wanted: Sequence[_Wanted]) -> Delta:
    updates = [update for one in wanted if not _is_repeated(one) for update in one.updates]
    change = await reactive.update(driver.evaluator, live.definition.schema, live.fields, updates)
    answer: dict[str, Json] = {"success": True, "computed": _flat(change), "version": live.flow.version + 1}
    held = {one.strand.number: replace(one.strand, is_applied=True) for one in wanted if one.strand is not None}
    return Delta(change.fields, tuple(held.values()), traces=change.traces, answers={one.id: answer for one in wanted})


def _is_repeated(one: _Wanted) -> bool:
    """What a step wants is made once, however often it is asked for."""
    return one.strand is not None and one.strand.is_applied


def _wanted(live: Live, said: Submission, before: Sequence[_Wanted]) -> _Wanted:
    updates = tuple(handing.read(one) for one in cast(list[Mapping[str, Json]], said.body["updates"]))
    holders = cast(list[int], said.body.get("strands") or [])
    taken = {one.strand.number for one in before if one.strand is not None}
    strand = next((one for one in _holding(live, holders) if _is_same(one, updates) and one.number not in taken), None)
    return _Wanted(said.id, updates, strand)


def _holding(live: Live, numbers: Iterable[int]) -> Iterable[Strand]:
    found = (live.strands.get(number) for number in numbers)
    return (one for one in found if one is not None and one.work is not None and one.work.type == handing.TYPE)


def _is_same(strand: Strand, updates: tuple[Update, ...]) -> bool:
    return json.dumps([handing.written(one) for one in handing.updates_of(strand)]) == json.dumps(
        [handing.written(one) for one in updates]
    )


def _flat(change: Change) -> dict[str, Json]:
    return {
        key.removeprefix("computed."): None if text is None else json.loads(text)
        for key, text in change.computed.items()
    }


def _outcome(body: Mapping[str, Json]) -> Outcome:
    failed = body.get("status") == "failed" or body.get("verdict") == "fail"
    return Outcome("failed" if failed else "success", body.get("result"), str(body.get("error") or ""))


def _told(delta: Delta, strand: Strand) -> dict[str, Json]:
    if not delta.strands and not delta.taken:
        return _error("TASKS_UNFINISHED", "Not all tasks are done.", "Wait for them, then complete the step.")
    failed = next((one.error for one in delta.taken if one.step_id == strand.step_id and one.status == "failed"), "")
    return {"success": True, **({"error_text": failed} if failed else {})}


def _refused(id: str, code: str, fact: str, remedy: str) -> Delta:
    return Delta(answers={id: _error(code, fact, remedy)})


def _error(code: str, fact: str, remedy: str) -> dict[str, Json]:
    return {"error": {"code": code, "message": fact, "remedy": remedy}}
