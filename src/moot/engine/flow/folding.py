"""What has come for a flow, taken in: updates of its state that wait together in one computation, and everything else
one after the other."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from moot.core import json
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record, replace
from moot.engine import frames
from moot.engine.flow import endings, forks, handing, inbox, trouble
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.driving import Driver
from moot.engine.flow.history import Doer, Taken
from moot.engine.flow.inbox import Submission
from moot.engine.flow.strands import Strand, moved
from moot.engine.state.operations import Update
from moot.engine.state.reactive import Change
from moot.engine.step import Outcome


@record
class _Wanted:
    """An update that somebody submitted; `strand` is the one that had it in hand, `at` the one whose state is meant."""

    id: str
    updates: tuple[Update, ...]
    strand: Strand | None
    at: Strand


def is_ready(live: Live, first: Submission) -> bool:
    """Whether it can be answered from what is known. Whether tasks are done is known when none of them can go on at
    once: what was said of them before may have been the last that they waited for."""
    strand = live.strands.get(first.strand)
    is_of_tasks = strand is not None and strand.work is not None and strand.work.type == forks.TASKS
    if first.kind != "complete" or strand is None or not is_of_tasks or not live.flow.is_live:
        return True
    return not any(live.can_go_on(one) for one in live.children(strand))


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
    if not _is_awaited(strand, first):
        return _refused(first.id, "STEP_NOT_PENDING", "That step is not the one to be done now.", "Ask for the next.")
    delta = await endings.settled(driver.evaluator, live, await _finish(driver, live, strand, first))
    told = replace(_marked(delta, strand, first), answers={**delta.answers, first.id: _told(delta, strand)})
    return await driver.with_next(live, told) if first.kind == "complete" else told


def _is_awaited(strand: Strand, said: Submission) -> bool:
    """Whether it is about what the strand waits for now, and not about what it has asked for before."""
    if strand.work is None or strand.step_id != said.body.get("step_id"):
        return False
    if said.kind == "complete":
        return strand.status == "pending"
    is_this = (said.body.get("since"), said.body.get("tries")) == (strand.since, strand.tries)
    return strand.status == "waiting" and is_this


async def _finish(driver: Driver, live: Live, strand: Strand, said: Submission) -> Delta:
    assert strand.work is not None
    doer = "agent" if said.kind == "complete" else cast(Doer, said.body.get("by", "moot"))
    match said.body.get("verdict"):
        case "retry":
            again = replace(strand, status="given", waits_on=None, since=live.flow.version + 1)
            return Delta(strands=(again,))
        case "skip":
            return driver.past(live, strand, doer, "skipped")
        case _:
            pass
    if strand.work.type == forks.TASKS and said.kind == "complete" and said.body.get("status") != "failed":
        if not strand.work.definition.get("wait_for_all", True):
            return driver.past(live, strand, doer)
        found = forks.outcome(strand, live.children(strand))
        if found is None:
            return Delta()
        return await driver.finish(live, strand, found, doer)
    outcome = _outcome(said.body)
    if strand.work.type == handing.TYPE and outcome.status == "success":
        return await _updated(driver, live, strand)
    if said.body.get("is_written") and outcome.status == "success":
        return driver.past(live, strand, doer)
    return await driver.finish(live, strand, outcome, doer)


def _marked(delta: Delta, strand: Strand, said: Submission) -> Delta:
    """With the mark of what would not do, where the same work is to be done again: whoever says the same twice, because
    it has not heard the answer, has tried once."""
    again = next((one for one in delta.strands if one.number == strand.number and one.tries > strand.tries), None)
    if said.kind != "complete" or again is None or again.work is None:
        return delta
    marked = replace(again, work=replace(again.work, refused=inbox.mark(said.body)))
    return replace(delta, strands=tuple(marked if one is again else one for one in delta.strands))


async def _updated(driver: Driver, live: Live, strand: Strand) -> Delta:
    """The agent says that the updates are made: if nobody has made them, they are made now."""
    assert strand.work is not None
    try:
        change = Change() if strand.is_applied else await handing.applied(driver.evaluator, live, strand)
    except MootError as error:
        return await trouble.failed(driver.evaluator, live, strand, error, "agent")
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
    changes: dict[str, Change] = {}
    for place in dict.fromkeys(_place(one.at) for one in wanted):
        meant = [one for one in wanted if _place(one.at) == place]
        updates = [update for one in meant if not _is_repeated(one) for update in one.updates]
        changes[place] = await handing.written_at(driver.evaluator, live, meant[0].at, updates)
    version = live.flow.version + 1
    answers: dict[str, dict[str, Json]] = {
        one.id: {"success": True, "computed": _flat(changes[_place(one.at)], _place(one.at)), "version": version}
        for one in wanted
    }
    held = {one.strand.number: replace(one.strand, is_applied=True) for one in wanted if one.strand is not None}
    return Delta(
        {key: text for one in changes.values() for key, text in one.fields.items()},
        tuple(held.values()),
        traces=tuple(trace for one in changes.values() for trace in one.traces),
        answers=answers,
    )


def _place(strand: Strand) -> str:
    return strand.work.inside if strand.work is not None else ""


def _is_repeated(one: _Wanted) -> bool:
    """What a step wants is made once, however often it is asked for."""
    return one.strand is not None and one.strand.is_applied


def _wanted(live: Live, said: Submission, before: Sequence[_Wanted]) -> _Wanted:
    updates = tuple(handing.read(one) for one in cast(list[Mapping[str, Json]], said.body["updates"]))
    holders = cast(list[int], said.body.get("strands") or [])
    taken = {one.strand.number for one in before if one.strand is not None}
    strand = next((one for one in _holding(live, holders) if _is_same(one, updates) and one.number not in taken), None)
    return _Wanted(said.id, updates, strand, strand or _meant(live, holders))


def _meant(live: Live, numbers: Iterable[int]) -> Strand:
    """Whose state an update is of: of the included workflow in which whoever wants it works, or of the flow itself."""
    found = [live.strands[number] for number in numbers if number in live.strands]
    places = {_place(one): one for one in found if one.status == "pending"}
    outside = replace(live.main, frames=frames.START, work=None)
    return next(iter(places.values())) if len(places) == 1 else outside


def _holding(live: Live, numbers: Iterable[int]) -> Iterable[Strand]:
    found = (live.strands.get(number) for number in numbers)
    return (one for one in found if one is not None and one.work is not None and one.work.type == handing.TYPE)


def _is_same(strand: Strand, updates: tuple[Update, ...]) -> bool:
    return json.dumps([handing.written(one) for one in handing.updates_of(strand)]) == json.dumps(
        [handing.written(one) for one in updates]
    )


def _flat(change: Change, prefix: str) -> dict[str, Json]:
    begin = f"{prefix}computed."
    found = {key.removeprefix(begin): text for key, text in change.fields.items() if key.startswith(begin)}
    return {name: None if text is None else json.loads(text) for name, text in found.items()}


def _outcome(body: Mapping[str, Json]) -> Outcome:
    failed = body.get("status") == "failed" or body.get("verdict") == "fail"
    return Outcome(
        "failed" if failed else "success",
        body.get("result"),
        str(body.get("error") or ""),
        body.get("is_final") is True,
    )


def _told(delta: Delta, strand: Strand) -> dict[str, Json]:
    if not delta.strands and not delta.taken:
        return refusal("TASKS_UNFINISHED", "Not all tasks are done.", "Wait for them, then complete the step.")
    failed = next((one.error for one in delta.taken if one.step_id == strand.step_id and one.status == "failed"), "")
    return {"success": True, **({"error_text": failed} if failed else {})}


def _refused(id: str, code: str, fact: str, remedy: str) -> Delta:
    return Delta(answers={id: refusal(code, fact, remedy)})


def refusal(code: str, fact: str, remedy: str) -> dict[str, Json]:
    return {"error": {"code": code, "message": fact, "remedy": remedy}}
