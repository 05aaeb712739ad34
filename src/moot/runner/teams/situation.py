"""A team as it stands at one moment: who is busy, how far the plan has come. What comes next is decided from this."""

from collections.abc import Iterable, Mapping

from moot.board import boards, tasks
from moot.board.boards import Board
from moot.board.tasks import Task
from moot.bus import mailbox
from moot.core.ids import BoardId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.jobs import jobs
from moot.registry import agents, instances
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.registry.runs import Run
from moot.requests import requests
from moot.runner import handing_out
from moot.runner.reactions.wake_agents import ATTEMPT
from moot.store import feed
from moot.teams import teams
from moot.teams.teams import Team
from moot.tools import isolation, verifying
from moot.workspaces import workspaces
from moot.workspaces.workspaces import Workspace

MATERIAL = "team_material"  # the kind of job that writes down what was changed
_MOST_TASKS = 1000  # that are looked at
# What goes on by itself. Who ends one of these looks at the team: nobody else looks again before.
_WORK = frozenset((handing_out.HAND_OUT, verifying.VERIFY, isolation.WORKTREE, MATERIAL))


@record
class Situation:
    run: Run
    team: Team
    board: Board
    instance: Instance
    members: Mapping[str, Agent]  # by name
    busy: frozenset[str]  # those with unread mail, at work, or waiting for an answer
    has_news: bool  # what nobody has reacted to yet, and may be work for somebody
    has_work: bool  # something else goes on: a check, a merge, tasks that are about to be handed out, news

    def is_quiet(self, names: Iterable[str]) -> bool:
        return self.busy.isdisjoint(names)

    @property
    def is_all_quiet(self) -> bool:
        """Nobody does anything, and nothing is about to happen by itself."""
        return not self.has_work and not self.busy

    @property
    def lead(self) -> Agent:
        return self.members[self.team.lead]

    def is_started(self, name: str) -> bool:
        """Whether moot knows when it has ended its turn; others take their time."""
        return self.members[name].is_started_by_moot


def look(tx: ReadTx, run: Run) -> Situation | None:
    """None if the run has no team, or another run has it by now."""
    team = teams.of_run(tx, run.id)
    board = boards.find(tx, BoardId(run.id))
    if team is None or board is None:
        return None
    members = {name: agents.named(tx, run.stream, name) for name in team.members}
    names = {one.id: one.name for one in members.values()}
    live = jobs.live(tx, run.stream)
    unread = {agent for agent, count in mailbox.counts(tx, run.stream).items() if count.unread}
    asking = {one.requester_id for one in requests.open_of(tx, run.stream)}
    at_work = {one.subject for one in live if one.kind == ATTEMPT}
    busy = frozenset(name for id, name in names.items() if id in unread or id in asking or id in at_work)
    has_news = feed.has_news(tx, run.stream)
    has_work = has_news or any(one.kind in _WORK for one in live)
    return Situation(run, team, board, instances.get(tx, run.instance), members, busy, has_news, has_work)


def spaces(tx: ReadTx, situation: Situation) -> list[Workspace]:
    """Where workers have worked, in the order of the team. Who comes from outside has no worktree of its own, but may
    have made some for its tasks."""
    made = workspaces.all_of(tx, situation.run.instance, situation.board.id)
    found: list[Workspace] = []
    for name in situation.team.workers:
        worker = situation.members[name]
        own = isolation.own(tx, worker)
        found += [] if own is None else [own]
        found += [one for one in made if one.created_by == worker.id and _counts(one)]
    return found


def _counts(one: Workspace) -> bool:
    return one.status in ("active", "merged") and one.repo_path is not None


def held_tasks(tx: ReadTx, situation: Situation) -> list[Task]:
    return tasks.held(tx, situation.board.id, _MOST_TASKS)


def ended_tasks(tx: ReadTx, situation: Situation) -> list[Task]:
    return tasks.page(tx, situation.board.id, statuses=("completed",), limit=_MOST_TASKS)


def failed_tasks(tx: ReadTx, situation: Situation) -> list[Task]:
    return tasks.page(tx, situation.board.id, statuses=("failed",), limit=_MOST_TASKS)
