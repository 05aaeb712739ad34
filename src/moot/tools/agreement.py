"""Agreement: what a person says to the plan of a team, to exactly that one. What is changed afterwards is another plan,
which nobody works on before it is approved, too."""

import hashlib

from moot.board import boards, plans, tasks
from moot.board.boards import Board
from moot.board.tasks import Task
from moot.core import json
from moot.core.ids import BoardId
from moot.core.tx import ReadTx, Tx
from moot.registry import agents
from moot.requests import requests
from moot.requests.requests import Request
from moot.teams import marks
from moot.teams.stages import Stage
from moot.teams.teams import Team

_ALL = 1_000_000  # tasks: what was left out could be changed without a word
WORKED_IN: tuple[Stage, ...] = ("delegating", "working", "merging")
_OWN = (
    "own:"  # begins the marks of tasks that moot has added by itself: a review has found them, or a merge is to be made
)


def is_needed(tx: ReadTx, team: Team) -> bool:
    """A person who leads approves no plan of its own."""
    return team.asks_for_plan and agents.named(tx, team.stream, team.lead).backend != "human"


def asked(tx: ReadTx, team: Team, board: Board) -> Request | None:
    """The request about just this plan, however it stands."""
    return requests.about(tx, team.stream, hash_of(tx, team, board))


def is_given(tx: ReadTx, team: Team) -> bool:
    """Whether the plan as it is may be worked on. What moot itself adds at the end is not a part of it."""
    if team.stage == "merging" or not is_needed(tx, team):
        return True
    board = boards.find(tx, BoardId(team.run or ""))
    found = None if board is None else asked(tx, team, board)
    return found is not None and found.state == "approved"


def add_own(tx: Tx, team: Team, name: str) -> Task:
    """A task that moot has just added by itself."""
    task = tasks.named(tx, BoardId(team.run or ""), name)
    assert task is not None
    marks.add(tx, team, f"{_OWN}{task.id}")
    return task


def planned(tx: ReadTx, team: Team, board: Board) -> list[Task]:
    """What is approved with a plan."""
    own = {name.removeprefix(_OWN) for name in marks.names(tx, team) if name.startswith(_OWN)}
    return [one for one in tasks.page(tx, board.id, limit=_ALL) if one.id not in own]


def hash_of(tx: ReadTx, team: Team, board: Board) -> str:
    """Of everything that is approved with a plan."""
    said = [_spelled(tx, one) for one in planned(tx, team, board)]
    return hashlib.sha256(json.dumps([board.id, dict(board.plan), said]).encode()).hexdigest()


def _spelled(tx: ReadTx, one: Task) -> list[json.Json]:
    needs = sorted([edge.name, edge.kind] for edge in tasks.needs(tx, one.id, plans.MOST_NEEDS))
    checks = [dict(check) for check in one.checks]
    lists = (list(one.files), list(one.capabilities), checks, [list(edge) for edge in needs])
    return [one.name, one.description, one.assigned, one.parallel_group, *lists]
