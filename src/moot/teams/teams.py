"""Teams: a lead, reviewers and workers with one goal, and the stage that they have come to.

A team is of an instance and has its name. What it does is done in runs of that instance, one at a time. All changes are
made under the lock of the instance, and a stage is left by whoever finds the team in it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from moot.core import json
from moot.core.events import Event
from moot.core.ids import InstanceName, RunId, StreamId
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries
from moot.teams import attendance, stages
from moot.teams.errors import TeamNotFound, TeamRefused
from moot.teams.stages import Stage

sql = queries.beside(__file__)
Part = Literal["lead", "reviewer", "worker"]
ROUNDS = 3
FORMED, STAGE, DISBANDED = "team_formed", "team_stage_changed", "team_disbanded"


@record
class Team:
    instance: InstanceName  # its name, too
    stream: StreamId
    goal: str
    members: Mapping[str, Part]  # in order
    has_views: bool
    asks_for_plan: bool  # a person approves the plan before anybody works on it
    pushes: bool  # what was merged goes to the remote
    most_rounds: int  # of work and review
    stage: Stage
    left_in: Stage | None
    reason: str  # why it has failed
    round: int  # counts from 1; 0 before it has begun
    run: RunId | None  # in which it works, or has worked last
    made_at: datetime
    changed_at: datetime

    @property
    def lead(self) -> str:
        return self.named("lead")[0]

    @property
    def reviewers(self) -> tuple[str, ...]:
        return self.named("reviewer")

    @property
    def workers(self) -> tuple[str, ...]:
        return self.named("worker")

    def named(self, part: Part) -> tuple[str, ...]:
        return tuple(name for name, one in self.members.items() if one == part)

    @property
    def is_live(self) -> bool:
        return self.stage in stages.LIVE


@record
class NewTeam:
    instance: InstanceName
    stream: StreamId
    goal: str
    members: Mapping[str, Part]
    has_views: bool = True
    asks_for_plan: bool = False
    pushes: bool = False
    most_rounds: int = ROUNDS


def form(tx: Tx, new: NewTeam) -> Team:
    """Make a team, or give the one of this name another shape. Whether it is at work is for the caller to see."""
    _check(new)
    tx.lock("instances", new.instance)
    tx.run(
        sql.form,
        instance=new.instance,
        stream=new.stream,
        goal=new.goal,
        members=json.dumps(new.members),
        has_views=new.has_views,
        asks_for_plan=new.asks_for_plan,
        pushes=new.pushes,
        most_rounds=new.most_rounds,
        now=tx.now,
    )
    tx.announce(Event(new.stream, FORMED, new.instance, {"members": dict(new.members)}, is_quiet=True))
    return get(tx, new.instance)


def _check(new: NewTeam) -> None:
    parts = list(new.members.values())
    if parts.count("lead") != 1 or "worker" not in parts or "reviewer" not in parts:
        raise TeamRefused("A team has one lead, a reviewer and a worker at least.", "Name them.")
    if new.most_rounds < 1:
        raise TeamRefused(f"{new.most_rounds} rounds are too few.", "Allow one at least.")


def begin(tx: Tx, team: Team, run: RunId) -> Team:
    """With its goal, in a run of its own: the lead plans first."""
    tx.lock("instances", team.instance)
    before = get(tx, team.instance).stage
    tx.run(sql.begin, instance=team.instance, run=run, now=tx.now)
    _tell(tx, get(tx, team.instance), before)
    return get(tx, team.instance)


def aim(tx: Tx, team: Team, goal: str) -> Team:
    """What it is to reach, once that is known in full."""
    tx.run(sql.aim, instance=team.instance, goal=goal)
    return get(tx, team.instance)


def move(tx: Tx, team: Team, stage: Stage, reason: str = "") -> bool:
    """On from the stage it was read in; False if somebody else was faster."""
    if not stages.is_way(team.stage, stage):
        raise AssertionError(f"there is no way from {team.stage} to {stage}")
    tx.lock("instances", team.instance)
    changed = tx.run(
        sql.move,
        instance=team.instance,
        run=team.run,
        before=team.stage,
        before_round=team.round,
        stage=stage,
        left_in=team.stage if stage == "failed" else None,
        reason=reason,
        round=team.round + (team.stage == "redelegating" and stage == "working"),
        now=tx.now,
    )
    if changed:
        _tell(tx, get(tx, team.instance), team.stage)
    return bool(changed)


def go_on(tx: Tx, team: Team) -> bool:
    """From where it has failed, with one round more if they were used up; False if it has not failed."""
    if team.stage != "failed" or team.left_in is None:
        return False
    tx.lock("instances", team.instance)
    if team.left_in == "comparing":
        tx.run(sql.allow_round, instance=team.instance)
    return move(tx, team, team.left_in)


def get(tx: ReadTx, instance: str) -> Team:
    found = find(tx, instance)
    if found is None:
        known = ", ".join(one.instance for one in all_of(tx))
        raise TeamNotFound(
            f"There is no team {instance[:80]!r}.", f"There are: {known}." if known else "See moot team."
        )
    return found


def find(tx: ReadTx, instance: str) -> Team | None:
    return tx.maybe(sql.get, Team, instance=instance)


def of_run(tx: ReadTx, run: str) -> Team | None:
    """The team that works in this run, or has."""
    return tx.maybe(sql.of_run, Team, run=run)


def run_in(tx: ReadTx, stream: StreamId) -> RunId | None:
    """The run of the team that is at work in a stream, for those who ask often."""
    found = tx.maybe(sql.run_in, str, stream=stream)
    return None if found is None else RunId(found)


def all_of(tx: ReadTx) -> list[Team]:
    return tx.all(sql.all_of, Team)


def disband(tx: Tx, instance: InstanceName) -> None:
    """There is no such team any more."""
    team = find(tx, instance)
    if team is not None:
        forget(tx, instance)
        tx.announce(Event(team.stream, DISBANDED, instance, is_quiet=True))


def forget(tx: Tx, instance: InstanceName) -> None:
    attendance.forget(tx, instance)
    for statement in (sql.forget_reviews, sql.forget_marks, sql.forget):
        tx.run(statement, instance=instance)


def _tell(tx: Tx, team: Team, before: Stage) -> None:
    facts = {"from": before, "to": team.stage, "round": team.round, "run": team.run, "reason": team.reason}
    tx.announce(Event(team.stream, STAGE, team.instance, facts, is_quiet=True))
