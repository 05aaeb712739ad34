"""What a team asks of its members beyond the rules of the board, and the job that looks whether it has come further."""

from collections.abc import Iterable

from moot.board.boards import Board
from moot.board.plans import Planned
from moot.board.tasks import Task
from moot.core.caller import Caller, Role
from moot.core.errors import NotAllowed
from moot.core.ids import BoardId, RunId, StreamId
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Job, NewJob
from moot.teams import handoffs, teams
from moot.teams.errors import TeamRefused
from moot.teams.stages import Stage
from moot.teams.teams import Team
from moot.tools import agreement

LOOK = "team"  # the kind of job
_LEADING: frozenset[Role] = frozenset(("lead", "operator", "system"))
_PLANNED_IN: tuple[Stage, ...] = ("planning", "delegating", "working")


def look(tx: Tx, run: RunId, stream: StreamId) -> None:
    """Something has changed that may let a team come to its next stage."""
    jobs.add(tx, NewJob(f"{LOOK}:{run}", LOOK, stream, run))


def finish(tx: Tx, job: Job) -> None:
    """End a job that a team may wait for: what is an event of it was looked at while it still went on."""
    jobs.finish(tx, job)
    run = teams.run_in(tx, job.stream)
    if run is not None:
        look(tx, run, job.stream)


def check_plan(tx: ReadTx, caller: Caller, board: Board, tasks: Iterable[Planned]) -> None:
    """Who leads plans, workers work, and while the work is judged nobody plans anew; of boards that are no team's,
    nothing is asked."""
    team = check_stage(tx, board.id)
    if team is None:
        return
    check_leads(caller, team)
    workers = {name.casefold() for name in team.workers}
    for one in tasks:
        if one.assigned is not None and one.assigned.casefold() not in workers:
            raise TeamRefused(
                f"The task {one.name!r} is given to {one.assigned}, who is no worker of the team.",
                f"Give it to one of {', '.join(team.workers)}, or leave assigned_agent out.",
            )


def check_leads(caller: Caller, team: Team) -> None:
    """NotAllowed for whoever neither leads the team nor is the person whose agents they are."""
    if caller.role not in _LEADING:
        raise NotAllowed(f"What {team.instance} does is for its lead to say.", f"Tell @{team.lead} what you think.")


def check_stage(tx: ReadTx, board: BoardId) -> Team | None:
    """The team of a board, if that is one's; TeamRefused while its plan stays as it is."""
    team = teams.of_run(tx, board)
    if team is not None and team.stage not in _PLANNED_IN:
        fact = f"The team is {team.stage}: its plan stays as it is."
        raise TeamRefused(fact, "Name what is missing as an issue, with review_report.")
    return team


def check_work(tx: ReadTx, board: Board) -> None:
    """TeamRefused while nobody is to work on a team's plan."""
    fact = trouble(tx, board)
    if fact is not None:
        raise TeamRefused(fact, "Wait until you are given a task by mail.")


def trouble(tx: ReadTx, board: Board) -> str | None:
    """Why nobody is to work on the plan, if it is a team's: it is not made, not approved, or judged."""
    team = teams.of_run(tx, board.id) if board.created_by == "system" else None
    if team is None or (team.stage in agreement.WORKED_IN and agreement.is_given(tx, team)):
        return None
    if team.stage in agreement.WORKED_IN:
        return f"The plan of {team.instance} was changed, and is not approved yet."
    return f"Nobody works on the plan of {team.instance} now: the team is {team.stage}."


def check_handoff(tx: ReadTx, caller: Caller, task: Task, outcome: str | None) -> None:
    """HandoffRefused if a worker of a team says in another form what it has done."""
    if caller.attempt is None:  # who is not started by moot is no worker of a team
        return
    team = teams.of_run(tx, task.board)
    if team is not None and team.members.get(caller.name) == "worker":
        handoffs.check(outcome)
