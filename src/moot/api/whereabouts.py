"""Where a flow is: what each of its strands is at, what it waits for, and what helps."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from moot.api import targets
from moot.board import tasks
from moot.bus import mailbox, messages
from moot.core import clock, text
from moot.core.errors import MootError
from moot.core.ids import InstanceName, MessageId, RequestId, TaskId
from moot.core.json import Json
from moot.core.records import record, replace
from moot.core.tx import ReadTx
from moot.engine.flow import flows, strands
from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import MAIN, Status, Strand
from moot.engine.step import Work
from moot.registry import agents
from moot.requests import requests
from moot.tools import flow_access

_MOST = 200  # characters of what is being done
_ABOUT = ("command", "method", "message", "prompt", "file", "wait_for")  # of a step, what says most


@record
class Spot:
    """What one strand is at."""

    number: int
    task: str  # of a sub-agent; none on the first strand
    step: str
    type: str
    about: str  # the command, the question, and so on, on one line
    status: Status
    waits: str  # for what, in words; none if it moves
    since: datetime | None


@record
class Whereabouts:
    flow: Flow
    spots: tuple[Spot, ...]  # of what is not over, the first strand first
    tasks: int = 0  # of sub-agents, that the flow waits for
    tasks_over: int = 0
    is_in_vain: bool = False  # to resume it, if it has failed
    at: int = 0  # how many of the steps of the file itself are behind it

    @property
    def step(self) -> str:
        """Where it is, in a few words."""
        if not self.flow.is_live:
            return ""
        named = [one.step for one in self.spots if one.step]
        return named[0] if named else ""

    @property
    def waits(self) -> str:
        """For what it waits as a whole; none if anything of it moves."""
        if not self.flow.is_live or not self.flow.waits_for:
            return ""
        if self.flow.waits_for == "credit":
            return "for you to let it take the next step"
        return "; ".join(dict.fromkeys(one.waits for one in self.spots if one.waits and one.status != "forked"))


def of(tx: ReadTx, flow: Flow) -> Whereabouts:
    found = strands.of_flow(tx, flow.id) if flow.is_live else {}
    spots = tuple(_spot(tx, flow, one, found) for one in found.values() if not one.is_over)
    shared = [one for one in found.values() if one.number != MAIN]
    at = found[MAIN].frames[0].at if MAIN in found else 0
    return Whereabouts(flow, spots, len(shared), sum(one.is_over for one in shared), at=at)


def current(tx: ReadTx, instance: InstanceName) -> list[Whereabouts]:
    """Of the flows that are not over, and of the newest if an agent drove it and it has failed."""
    every = flows.all_of(tx, instance)
    failed = every[:1] if every and every[0].status == "failed" and every[0].driver == "agent" else []
    told = [replace(of(tx, one), is_in_vain=flow_access.is_in_vain(tx, one)) for one in failed]
    return [*told, *(of(tx, one) for one in every if one.is_live)]


def obstacles(found: Whereabouts, *, is_served: bool) -> list[str]:
    """Why it does not go on, with what helps; nothing if it does, or if a person is asked, who is told elsewhere."""
    flow = found.flow
    if flow.status == "failed":
        resume = f"go on with workflow_resume {flow.id} once that is mended"
        again = "once that is mended, start it again with workflow_start"
        return [f"{flow.name} has failed: {flow.error.rstrip('.')}; {again if found.is_in_vain else resume}"]
    match flow.waits_for:
        case "credit":
            step = targets.at("moot flow step", flow.instance)
            return [f"{flow.name} waits for you to let it take the next step: {step}"]
        case "agent" | "subject":
            again = f"; to go on in a new conversation: /workflow resume {flow.id}" if flow.driver == "agent" else ""
            return [f"{flow.name} waits {found.waits} ({found.step or flow.status}){again}"]
        case "" | "time" if flow.driver == "agent" and not is_served:
            return [f"{flow.name} has steps to be done by moot and no host is running; start one with: moot serve"]
        case _:
            return []


def _spot(tx: ReadTx, flow: Flow, strand: Strand, known: Mapping[int, Strand]) -> Spot:
    work = strand.work
    return Spot(
        strand.number,
        strand.task_id,
        strand.step_id,
        "" if work is None else work.type,
        "" if work is None else about(work),
        strand.status,
        _waits(tx, flow, strand, known),
        strand.given_at,
    )


def about(work: Work) -> str:
    """What is to be done, as short as it can be told."""
    said: Json = next((work.definition[key] for key in _ABOUT if work.definition.get(key)), "")
    line = " ".join(str(said).split())
    return line if len(line) <= _MOST else f"{line[: _MOST - 1]}…"


def _waits(tx: ReadTx, flow: Flow, strand: Strand, known: Mapping[int, Strand]) -> str:
    match strand.status:
        case "ready":
            return "for a sub-agent to begin it" if flow.driver == "agent" else "for its turn"
        case "pending":
            who = "the agent that drives it" if strand.holder is None else agents.get(tx, strand.holder).name
            return f"for {who} to do it"
        case "forked":
            return f"for its tasks, {_done(known.values(), strand)}"
        case "waiting":
            return _waits_on(tx, flow, strand)
        case _:
            return ""


def _done(known: Iterable[Strand], parent: Strand) -> str:
    own = [one for one in known if one.parent == parent.number and one.fork == parent.since]
    return f"{sum(one.is_over for one in own)} of {text.counted(len(own), 'task')} done"


def _waits_on(tx: ReadTx, flow: Flow, strand: Strand) -> str:
    subject = strand.waits_on
    until = f" until {clock.to_iso(strand.wakes_at)}" if strand.wakes_at is not None else ""
    if subject is None and not until:  # what came of it is on its way
        return ""
    if subject is None:
        again = "to try it again" if strand.work is not None and strand.work.type != "wait" else ""
        return f"{again}{until}".strip()
    return f"for {_subject(tx, flow, subject)}{until}"


def _subject(tx: ReadTx, flow: Flow, id: str) -> str:
    try:
        if id.startswith("rq_"):
            asked = requests.get(tx, RequestId(id))
            return f"{asked.addressee} to answer: {asked.title}"
        if id.startswith("tk_"):
            return f"the task {tasks.get(tx, TaskId(id)).name}"
        if id.startswith("ms_"):
            asked_by = messages.get(tx, MessageId(id), flow.stream)
            return (
                ", ".join(agents.get(tx, one.agent).name for one in mailbox.receipts(tx, flow.stream, asked_by.seq))
                or "an agent"
            )
    except MootError:  # it is gone
        return id
    return f"the vote {id}"


def plain(found: Whereabouts) -> dict[str, Json]:
    flow = found.flow
    return {
        "workflow_id": flow.id,
        "name": flow.name,
        "instance": flow.instance,
        "status": flow.status,
        "driven_by": flow.driver,
        "step": found.step or None,
        "waits_for": flow.waits_for or None,
        "waits": found.waits or None,
        "steps_taken": flow.last_step,
        "steps_allowed": flow.credits,
        "error": flow.error or None,
        "at": [
            {
                "task_id": one.task or None,
                "step_id": one.step or None,
                "type": one.type or None,
                "about": one.about or None,
                "status": one.status,
                "waits": one.waits or None,
            }
            for one in found.spots
        ],
        "started_at": clock.to_iso(flow.started_at),
        "ended_at": None if flow.ended_at is None else clock.to_iso(flow.ended_at),
    }
