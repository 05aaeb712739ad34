"""Who in a team waits for its lead: members whose questions it has not answered, and the whole team where it has to
decide. A lead that moot starts has its turns for that; another takes its time."""

from moot.board import boards, tasks
from moot.core.ids import BoardId
from moot.core.tx import ReadTx
from moot.registry import agents
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner.teams.situation import Situation
from moot.teams import reviews
from moot.teams.teams import Team
from moot.tools import open_questions

_MOST_TASKS = 1000  # that are looked at


def is_for_answer(tx: ReadTx, now: Situation, name: str) -> bool:
    """Whether a member has asked the lead, and may still hear from it."""
    is_to_come = not now.is_started(now.team.lead) or not now.is_quiet([now.team.lead])
    return is_to_come and name in _asking(tx, now.lead, now.run)


def is_for_lead(tx: ReadTx, run: Run, team: Team) -> bool:
    """Whether the team comes no further without a word of a lead that moot does not start."""
    board = boards.find(tx, BoardId(run.id))
    if board is None or team.stage not in ("working", "reviewing", "merging"):
        return False
    if team.stage == "working" and board.status == "failed":
        return True  # it was told, and decides how that goes on
    lead = agents.named(tx, run.stream, team.lead)
    return not _asking(tx, lead, run).isdisjoint(_stuck(tx, board.id, team))


def _stuck(tx: ReadTx, board: BoardId, team: Team) -> list[str]:
    """Those whose work is not done: they may have ended their turn with a question."""
    if team.stage == "reviewing":
        return [one.reviewer for one in reviews.of_round(tx, team) if not one.is_given]
    held = tasks.held(tx, board, _MOST_TASKS)
    return [agents.get(tx, one.holder).name for one in held if one.holder is not None and one.status != "verifying"]


def _asking(tx: ReadTx, lead: Agent, run: Run) -> frozenset[str]:
    return frozenset(one.sender for one in open_questions.asked_of(tx, lead, run.first_seq))
