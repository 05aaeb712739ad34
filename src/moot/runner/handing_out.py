"""Handing out the tasks of a run: whoever is free and fits gets the next that is ready, by mail, and holds it.

Who works for moot holds a task for as long as it takes: not by a lease, but until it is done, has failed, or was given
back. Its last words are the outcome, if it has not said what came of it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from moot.board import boards, claims, context, evidence, laying, progress, tasks
from moot.board.boards import Board
from moot.board.claims import Holder, Taken
from moot.board.context import Include
from moot.board.progress import Result
from moot.board.states import OPEN_BOARDS
from moot.board.tasks import Task
from moot.core.events import StoredEvent
from moot.core.ids import AgentId, BoardId, RunId, TaskId
from moot.core.json import Json
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, NewJob
from moot.registry import agents, instances, runs
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.requests import requests
from moot.runner import plan_section
from moot.teams import teams
from moot.teams.teams import Team
from moot.tools import agreement, isolation, talk, teamwork, verifying
from moot.tools.doing import Able
from moot.tools.talk import Words
from moot.workflow import stored
from moot.workspaces.workspaces import Workspace

HAND_OUT = "hand_out"
_GIVEN = re.compile(r"\[TASK:\w+\] (.*)")
_LOOKED_THROUGH = 1000  # ready tasks, for those that fit somebody
_TOKENS = 4000  # of what somebody is told with a task
_TOLD = Include(siblings=False, prior_task_outcomes=False, workflow_plan=False)


def look(tx: Tx, event: StoredEvent) -> None:
    """Something about a task or a plan has changed: if it is a run's own, a job looks who can go on."""
    task = tasks.find(tx, TaskId(event.subject))
    board = BoardId(event.subject) if task is None else task.board
    add(tx, board)


def add(tx: Tx, board: BoardId) -> None:
    found = boards.find(tx, board)
    run = found and runs.live(tx, found.instance)
    if run is not None and run.id == board:
        jobs.add(tx, NewJob(f"{HAND_OUT}:{board}", HAND_OUT, run.stream, run.id))
        if run.definition.get("team") is not None:
            teamwork.look(tx, run.id, run.stream)


def hand_out(tx: Tx, job: Job) -> None:
    """The job: as many tasks as may be worked on at once, each to somebody who is free."""
    teamwork.finish(tx, job)
    run = runs.get(tx, RunId(job.subject))
    board = plan_section.board_of(tx, run)
    if run.state != "live" or run.is_paused or run.stop_asked or board is None or board.status not in OPEN_BOARDS:
        return
    team = teams.of_run(tx, run.id) if run.definition.get("team") is not None else None
    if team is not None and not _is_open(tx, team, board):
        return
    lead = None if team is None else agents.find(tx, run.stream, team.lead)
    room = board.max_parallel - tasks.at_work(tx, board.id)
    free = [one for one in _free(tx, run) if team is None or one.name in team.workers]
    for task in tasks.available(tx, board.id, _LOOKED_THROUGH):
        if room <= 0 or not free:
            return
        agent = next((one for one in free if _suits(one, task)), None)
        if agent is not None and _give(tx, board, task, agent, lead):
            free.remove(agent)
            room -= 1


def _is_open(tx: Tx, team: Team, board: Board) -> bool:
    """Whether tasks of a team may be handed out. What was approved stays as it is until they are."""
    if agreement.is_needed(tx, team):
        laying.hold(tx, board.id)
    return team.stage in agreement.WORKED_IN and agreement.is_given(tx, team)


def give(tx: Tx, run: Run, name: str, agent: Agent) -> bool:
    """This task to this agent, whatever else there is to do; False if it cannot be had."""
    board = plan_section.board_of(tx, run)
    task = None if board is None else tasks.named(tx, board.id, name)
    return board is not None and task is not None and task.holder is None and _give(tx, board, task, agent)


def given(words: str) -> str | None:
    """The name of the task that somebody is told of in these words; None if that is not what they say."""
    found = _GIVEN.match(words)
    return None if found is None else found[1]


def _free(tx: ReadTx, run: Run) -> list[Agent]:
    """The agents of the run that hold no task."""
    named = (agents.find(tx, run.stream, name) for name in stored.names(run.definition))
    here = (one for one in named if one is not None and (one.stopped_at is None or not one.is_started_by_moot))
    return [one for one in here if not tasks.held_by(tx, one.id)]


def _suits(agent: Agent, task: Task) -> bool:
    """People, and who come from outside, are given what is meant for them; the rest they may claim themselves."""
    is_meant = task.assigned is not None or agent.is_started_by_moot
    return is_meant and Able(agent.name, frozenset(agent.capabilities)).fits(task)


def _give(tx: Tx, board: Board, task: Task, agent: Agent, lead: Agent | None = None) -> bool:
    """In the name of who leads, if somebody does."""
    # Through no hand yet: that is the attempt which the mail wakes.
    taken = claims.claim(tx, task.id, Holder(agent.id, agent.name, ""), task.stream, lease=None)
    if not isinstance(taken, Taken):
        return False
    has_place = agent.settings.get("workspace") != "none"
    where = isolation.for_task(tx, board, task.id, task.name, agent) if has_place else None
    instance = instances.get(tx, agent.instance)
    told = _told(tx, task, where)
    words = Words(told, to=(agent.name,), kind="task", task_id=task.id, spoken="", is_relayed=True)
    talk.say(tx, instance, lead, words)
    return True


def _told(tx: ReadTx, task: Task, where: Workspace | None) -> str:
    """The task in words, with where it is done and what came of what it needs."""
    found = context.load(tx, task, _TOLD, _TOKENS)
    parts = [f"[TASK:{task.id}] {task.name}", str(found.current_task["description"])]
    if where is not None:
        parts.append(f"It has a worktree of its own on the branch {where.branch} (workspace {where.id}).")
    parts += _listed("What it builds on:", [_line(one, "name", "outcome") for one in found.dependency_outcomes])
    noted = cast(Sequence[Json], found.current_task["checkpoints"])
    parts += _listed("What was noted of it before:", [_line(one, "type", "summary") for one in noted])
    if task.error:
        parts.append(f"It was tried before, and failed: {found.current_task['error']}")
    wanted = [evidence.spell(evidence.parse(one)) for one in task.checks]
    parts += _listed("It counts as done when:", wanted)
    return "\n\n".join(part for part in parts if part)


def _line(one: Json, name: str, said: str) -> str:
    facts = cast(Mapping[str, Json], one)
    return f"{facts[name]}: {facts.get(said) or facts.get('status') or ''}"


def _listed(heading: str, lines: Sequence[str]) -> list[str]:
    return ["\n".join((heading, *(f"- {line}" for line in lines)))] if lines else []


def take_in_hand(tx: Tx, agent: AgentId, hand: str) -> None:
    """An attempt begins: what its agent holds without a lease, it holds through this attempt now."""
    claims.rebind(tx, agent, hand)


def finish(tx: Tx, agent: Agent, hand: str, text: str) -> None:
    """An attempt has succeeded. What its agent still holds is done, and its last words are the outcome; unless it waits
    for an answer."""
    held = [one for one in tasks.held_by(tx, agent.id) if one.hand == hand and one.status != "verifying"]
    if not held or any(one.requester_id == agent.id for one in requests.open_of(tx, agent.stream)):
        return
    for one in held:
        task = tasks.locked(tx, one.id)
        result = Result(text.strip() or f"{agent.name} ended without a word.", by=agent.id)
        if task.checks:
            verifying.begin(tx, task, result)
        else:
            progress.complete(tx, task, result)


def retry(tx: Tx, run: Run | None) -> dict[str, int]:
    """Try the failed tasks of a run again, by their names."""
    board = plan_section.board_of(tx, run) if run is not None else None
    failed = tasks.page(tx, board.id, statuses=("failed",), limit=_LOOKED_THROUGH) if board is not None else []
    for one in failed:
        progress.retry(tx, tasks.locked(tx, one.id))
    return {f"task {one.name}": 1 for one in failed}


def fail(tx: Tx, agent: Agent, error: str) -> frozenset[str]:
    """An agent was given up with its mail: what it held through attempts has failed."""
    held = [one for one in tasks.held_by(tx, agent.id) if one.lease_until is None]
    for one in held:
        progress.fail(tx, tasks.locked(tx, one.id), Result(error=error or "it failed", by=agent.id))
    return frozenset(one.id for one in held)
