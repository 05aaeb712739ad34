"""Whose the work at a step is: moot's own, an agent's, a person's, or that of time. It is given out in the transaction
that brings the flow there, so that nobody is asked twice."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import cast

from moot.board import boards, tasks
from moot.board.tasks import Task
from moot.core.errors import InvalidInput, MootError
from moot.core.ids import BoardId, ProposalId, RequestId, TaskId
from moot.core.json import Json
from moot.core.records import record, replace
from moot.core.tx import Tx
from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import Strand
from moot.engine.resolving import text_of
from moot.proposals import proposals
from moot.registry import agents, instances
from moot.requests import requests
from moot.runner.flows import asking_agents
from moot.runner.flows.asking_agents import NobodyToDoIt
from moot.tools import advancing, asking, talk
from moot.tools.asking import Question
from moot.tools.talk import Words

DEEDS = frozenset(("shell_command", "mcp_call"))  # what moot may do itself
VERDICTS = ("retry", "skip", "fail")  # of a person, on what nobody knows the end of
_TITLE = 200  # characters of a question that stand in lists


@record
class Placing:
    """`can_call` says which tools moot can call by itself: its own, and those of servers that it knows."""

    can_call: Callable[[Flow, str], bool]
    place: str  # this machine, for what is done outside the store

    def __call__(self, tx: Tx, flow: Flow, strand: Strand) -> Strand:
        try:
            return self._placed(tx, flow, strand)
        except MootError as error:  # nobody can do it: that is what came of it
            is_final = isinstance(error, NobodyToDoIt)  # which follows from the file, and that stays as it is
            advancing.tell(tx, strand, {"status": "failed", "error": str(error), "is_final": is_final})
            return replace(strand, status="waiting")

    def _placed(self, tx: Tx, flow: Flow, strand: Strand) -> Strand:
        work = strand.work
        assert work is not None
        match work.type:
            case "shell_command":
                return replace(strand, status="doing", waits_on=self.place)
            case "mcp_call" if self._is_own(flow, work.definition):
                return replace(strand, status="doing", waits_on=self.place)
            case "wait":
                return _wait(tx, flow, strand)
            case _ if flow.driver == "agent":
                return replace(strand, status="pending")
            case "user_input":
                return _ask_person(tx, flow, strand)
            case _:
                return asking_agents.ask(tx, flow, strand)

    def _is_own(self, flow: Flow, said: Mapping[str, Json]) -> bool:
        return not said.get("agent") and self.can_call(flow, str(said["method"]))


def say(tx: Tx, flow: Flow, text: str) -> None:
    """Tell those who use a flow."""
    words = Words(text.strip() or "(nothing)", kind="status", spoken="")
    talk.say(tx, instances.get(tx, flow.instance), None, words)


def _ask_person(tx: Tx, flow: Flow, strand: Strand) -> Strand:
    assert strand.work is not None
    said = strand.work.definition
    prompt, wrong = str(said["prompt"]).strip(), str(said.get("previous_error") or "")
    title, _, body = prompt.partition("\n")
    options = tuple(text_of(one) for one in cast(list[Json], said.get("options") or ()))
    if "default" not in said:
        return _asked(tx, flow, strand, title[:_TITLE], (body, wrong), options)
    default = f"An empty answer means: {text_of(said['default'])}"
    return _asked(tx, flow, strand, title[:_TITLE], (body, wrong, default), (*options, ""))


def ask_what_became(tx: Tx, flow: Flow, strand: Strand) -> Strand:
    """Nobody knows what a command has done whose host died: a person decides."""
    assert strand.work is not None
    what = strand.work.definition.get("command") or strand.work.definition.get("method")
    title = f"Was `{str(what)[:_TITLE]}` done? moot ended in the middle of it."
    return _asked(tx, flow, strand, title, (f"Step {strand.step_id} of {flow.name}.",), VERDICTS)


def _asked(
    tx: Tx, flow: Flow, strand: Strand, title: str, body: tuple[str, ...], options: tuple[str, ...] = ()
) -> Strand:
    """By a request of its own: tasks that ask the same at once are answered each by itself."""
    of = f"For the task {strand.task_id}." if strand.task_id else ""
    text = "\n".join(part for part in (*body, of) if part)
    own = f"{strand.flow}:{strand.number}:{strand.since}:{strand.tries}"
    question = Question(agents.PERSON, "question", title, text, options, hash=own, lasts=None)
    asked = asking.ask(tx, instances.get(tx, flow.instance), None, question)
    return replace(strand, status="waiting", waits_on=asked.id)


def _wait(tx: Tx, flow: Flow, strand: Strand) -> Strand:
    """For a time, or for the end of something; what has ended already is told at once."""
    assert strand.work is not None
    said = strand.work.definition
    until = _until(tx, said)
    subject = _subject(tx, flow, said)
    if subject is None:
        return replace(strand, status="waiting", wakes_at=until or tx.now)
    waiting = replace(strand, status="waiting", waits_on=subject, wakes_at=until)
    ended = ended_as(tx, subject)
    if ended is not None:
        advancing.tell(tx, waiting, ended)
    return waiting


def _until(tx: Tx, said: Mapping[str, Json]) -> datetime | None:
    if said.get("seconds") is not None:
        return tx.now + timedelta(seconds=float(cast(float, said["seconds"])))
    if said.get("timeout") is not None:
        return tx.now + timedelta(milliseconds=float(cast(float, said["timeout"])))
    until = said.get("until")
    if until is None:
        return None
    try:
        found = datetime.fromisoformat(str(until))
    except ValueError:
        raise InvalidInput(f"{str(until)[:40]!r} is not a time.", "Write it as 2026-05-01T12:00:00Z.") from None
    return found if found.tzinfo else found.replace(tzinfo=tx.now.tzinfo)


def _subject(tx: Tx, flow: Flow, said: Mapping[str, Json]) -> str | None:
    match said["wait_for"]:
        case "time":
            return None
        case "task":
            return _task(tx, flow, str(said["id"])).id
        case "approval":
            return requests.get(tx, RequestId(str(said["id"])), flow.stream).id
        case _:
            return proposals.get(tx, ProposalId(str(said["id"]))).id


def _task(tx: Tx, flow: Flow, named: str) -> Task:
    """By its id, or by its name in the plan of the same run."""
    found = tasks.find(tx, TaskId(named))
    if found is None and boards.find(tx, BoardId(flow.id)) is not None:
        found = tasks.named(tx, BoardId(flow.id), named)
    if found is None:
        raise InvalidInput(f"There is no task {named[:80]!r} to wait for.", "Give its id, or its name in this plan.")
    return found


def ended_as(tx: Tx, subject: str) -> dict[str, Json] | None:
    """What became of it; None if it is not over."""
    if subject.startswith("rq_"):
        asked = requests.get(tx, RequestId(subject))
        if asked.is_open:
            return None
        is_well = asked.state in ("approved", "answered")
        answer: Json = {"state": asked.state, "answer": asked.answer, "by": asked.answered_by}
        return {"status": "success" if is_well else "failed", "result": answer, "error": "" if is_well else asked.state}
    if subject.startswith("tk_"):
        task = tasks.get(tx, TaskId(subject))
        if task.status not in ("completed", "failed", "skipped"):
            return None
        is_well = task.status != "failed"
        found: Json = {"status": task.status, "outcome": task.outcome}
        return {"status": "success" if is_well else "failed", "result": found, "error": task.error or ""}
    proposal = proposals.get(tx, ProposalId(subject))
    if proposal.is_open:
        return None
    outcome = proposal.outcome
    result: Json = {"status": outcome.status, "winner": outcome.winner}
    is_decided = outcome.status == "resolved"
    return {"status": "success" if is_decided else "failed", "result": result, "error": "" if is_decided else "no vote"}


def heard(strand: Strand, ended: Mapping[str, Json]) -> Mapping[str, Json]:
    """What an answer means to a step: to a question its words, to one about a lost command the verdict."""
    assert strand.work is not None
    if strand.work.type == "wait":
        return ended
    answer = cast(Mapping[str, Json], ended["result"]).get("answer")
    if ended["status"] != "success":
        return {"status": "failed", "error": f"The question was not answered: {ended['error']}.", "by": "person"}
    if strand.work.type != "user_input":
        word = str(answer or "").strip().lower()
        verdict = word if word in VERDICTS else "fail"
        return {"verdict": verdict, "error": "A person has said that it failed.", "by": "person"}
    return {"status": "success", "result": answer, "by": "person"}
