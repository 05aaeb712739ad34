"""The end of a worker's turn: a hand-off in its last words ends its task; else the task stays in its hands."""

from moot.board import progress, tasks
from moot.board.progress import Result
from moot.bus import messages
from moot.core.ids import AttemptId
from moot.core.records import record
from moot.core.tx import Tx
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner import handing_out
from moot.runner.teams import situation, working
from moot.teams import handoffs, teams
from moot.tools import teamwork, verifying


@record
class Turn:
    """An attempt of a team's member that has succeeded."""

    run: Run
    agent: Agent
    hand: str
    attempt: AttemptId
    text: str  # its last words


def end(tx: Tx, turn: Turn) -> None:
    run = turn.run
    team = teams.of_run(tx, run.id)
    if team is None or team.members.get(turn.agent.name) != "worker":
        handing_out.finish(tx, turn.agent, turn.hand, turn.text)
    else:
        _end(tx, turn)
    teamwork.look(tx, run.id, run.stream)


def _end(tx: Tx, turn: Turn) -> None:
    agent, handoff = turn.agent, handoffs.last(turn.text)
    held = [one for one in tasks.held_by(tx, agent.id) if one.hand == turn.hand and one.status != "verifying"]
    if handoff is None:
        now = situation.look(tx, turn.run)
        if now is not None and not messages.has_asked(tx, turn.run.stream, turn.attempt):
            for one in held:  # it has not asked anybody either: nobody will come back to it
                working.nudge(tx, now, one)
        return
    for one in held:
        task, result = tasks.locked(tx, one.id), Result(handoff, by=agent.id)
        if task.checks:
            verifying.begin(tx, task, result)
        else:
            progress.complete(tx, task, result)
