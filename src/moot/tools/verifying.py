"""Whether a task that its holder calls done is done: what a plan asks for is looked at, by a job, before it counts."""

from moot.board import boards, checks, progress, tasks
from moot.board.checks import Check
from moot.board.evidence import VOTE, Approval, Command, Existing
from moot.board.progress import Result
from moot.board.tasks import Task
from moot.core.events import Event
from moot.core.ids import ProposalId, RequestId, TaskId
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.proposals import proposals
from moot.proposals.proposals import NewProposal
from moot.registry import agents, instances
from moot.registry.instances import Instance
from moot.requests import requests
from moot.tools import asking, isolation, talk, voting
from moot.tools.asking import Question
from moot.tools.talk import Words
from moot.workspaces.workspaces import Workspace

VERIFY = "verify"  # the kind of job that looks
MOST_TRIES = 5  # of one holder, until a task has failed
_SHOWN = 2000


def begin(tx: Tx, task: Task, result: Result) -> None:
    """Its holder says that it is done. Said again while somebody looks, it changes nothing."""
    if task.status == "verifying" and any(not one.is_over for one in checks.latest(tx, task.id)):
        return
    progress.propose(tx, task, result)
    checks.begin(tx, task)
    look_again(tx, task)


def look_again(tx: Tx, task: Task) -> None:
    jobs.add(tx, NewJob(f"{VERIFY}:{task.id}", VERIFY, task.stream, task.id))


def next_check(tx: ReadTx, id: TaskId) -> Check | None:
    """What is to be looked at next; None if nobody waits for that any more."""
    task = tasks.find(tx, id)
    if task is None or task.status != "verifying":
        return None
    return next((one for one in checks.latest(tx, id) if not one.is_over), None)


def where(tx: ReadTx, task: Task) -> Workspace | None:
    """The worktree that must be looked into; None if there is none, or nothing is left to be looked for in one."""
    left = (one.evidence for one in checks.latest(tx, task.id) if not one.is_over)
    return isolation.where(tx, task) if any(isinstance(one, Command | Existing) for one in left) else None


def _is_next(tx: ReadTx, check: Check) -> bool:
    """Not so if the task was given back, or is checked anew, meanwhile."""
    found = next_check(tx, check.task)
    return found is not None and (found.round, found.place) == (check.round, check.place)


def settle(tx: Tx, check: Check, trouble: str | None) -> None:
    """What was found: trouble sends the task back to its holder, the last check that passes ends it."""
    task = tasks.locked(tx, check.task)
    if not _is_next(tx, check):
        return
    checks.settle(tx, check, has_passed=trouble is None, output=trouble or "")
    if trouble is not None:
        _send_back(tx, task, check, trouble)
        return
    if next_check(tx, check.task) is None:
        progress.complete(tx, task, Result(task.outcome, task.outcome_detail, by=task.holder))
    tx.announce(_checked(task, check, has_passed=True))


def _checked(task: Task, check: Check, *, has_passed: bool) -> Event:
    facts = {"name": task.name, "round": check.round, "place": check.place, "has_passed": has_passed}
    return Event(task.stream, checks.CHECKED, task.id, facts, is_quiet=True)


def _send_back(tx: Tx, task: Task, check: Check, trouble: str) -> None:
    assert task.holder is not None
    holder = agents.get(tx, task.holder)
    if checks.tries(tx, task.id) >= MOST_TRIES:  # or two who do not understand each other would go on for ever
        progress.fail(tx, task, Result(error=f"It did not hold {MOST_TRIES} times: {trouble}", by=holder.id))
        tx.announce(_checked(task, check, has_passed=False))
        return
    progress.advance(tx, task, "in_progress")
    tx.emit(_checked(task, check, has_passed=False))  # before what is said of it
    fact = f"The task {task.name!r} does not count as done: {trouble[:_SHOWN]}"
    to = () if holder.left_at is not None else (holder.name,)
    talk.say(tx, _instance(tx, task), None, Words(fact, to=to, kind="task", task_id=task.id, spoken=""))


def approval(tx: Tx, check: Check, wanted: Approval) -> str | None:
    """Ask for it, or see what came of that: None while nobody has answered. Empty: approved; else why not."""
    task = tasks.locked(tx, check.task)
    if not _is_next(tx, check):
        return None
    if check.subject is None:
        checks.ask(tx, check, _asked(tx, task, check, wanted))
        return None
    return _voted(tx, check.subject) if wanted.by == VOTE else _answered(tx, check.subject)


def withdraw(tx: Tx, task: Task) -> None:
    """Nobody is asked any more whether it is done: somebody works on it again, or it is over."""
    for one in checks.latest(tx, task.id):
        wanted = one.evidence
        if one.state != "asked" or one.subject is None or not isinstance(wanted, Approval):
            continue
        if wanted.by == VOTE:
            if proposals.get(tx, ProposalId(one.subject)).is_open:
                voting.cancel(tx, _instance(tx, task), ProposalId(one.subject), None, f"{task.name} is {task.status}")
        elif requests.get(tx, RequestId(one.subject)).is_open:
            asking.cancel(tx, _instance(tx, task), RequestId(one.subject), None, is_operator=True)


def _asked(tx: Tx, task: Task, check: Check, wanted: Approval) -> str:
    instance = _instance(tx, task)
    title, body = f"Is the task {task.name!r} done?", task.outcome or ""
    if wanted.by == VOTE:
        electors = tuple(one for one in voting.electorate(tx, instance) if one.agent != task.holder)
        new = NewProposal(instance.stream, instance.name, "approval", title, "system", electors, description=body)
        return voting.start(tx, instance, new).id
    question = Question(
        wanted.by, "plan_approval", title, body, hash=f"{check.task}:{check.round}:{check.place}", lasts=None
    )
    return asking.ask(tx, instance, None, question).id


def _answered(tx: ReadTx, id: str) -> str | None:
    request = requests.get(tx, RequestId(id))
    if request.is_open:
        return None
    if request.state == "approved":
        return ""
    return f"{request.addressee} has {request.state} it{f': {request.answer}' if request.answer else '.'}"


def _voted(tx: ReadTx, id: str) -> str | None:
    proposal = proposals.get(tx, ProposalId(id))
    if proposal.is_open:
        return None
    return "" if proposal.outcome.winner == "yes" else f"the vote {id} has not approved it."


def _instance(tx: ReadTx, task: Task) -> Instance:
    return instances.get(tx, boards.get(tx, task.board).instance)
