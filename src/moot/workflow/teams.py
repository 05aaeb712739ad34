"""Who has which part in the team of a workflow file: by what it says, or by the names that are usual."""

from collections.abc import Iterator, Mapping

from moot.core import problems, yaml
from moot.core.nearest import hint
from moot.core.problems import Problem
from moot.core.yaml import Document
from moot.workflow.drafts import Faults
from moot.workflow.shape import FileShape
from moot.workflow.team_form import LedTeamShape
from moot.workflow.workflow import TeamDefinition

LEAD = "lead"
REVIEWERS = ("reviewer-1",)
WORKERS = 3
_ELSEWHERE = ("tasks", "steps", "together", "auto_create_workspaces")


def workers(count: int) -> tuple[str, ...]:
    return tuple(f"worker-{number}" for number in range(1, count + 1))


def read(said: FileShape, document: Document, faults: Faults) -> TeamDefinition | None:
    """The team; None if the file has none."""
    if said.team is None:
        return None
    team = _named(said.team, said.agents or {})
    for path, fact, remedy in (*_doubled(said.team, team), *_strangers(said, team), *_unfit(said)):
        faults.add(document, Problem(path, fact, remedy))
    return team


def _named(said: LedTeamShape, agents: Mapping[str, object]) -> TeamDefinition:
    lead = said.lead or LEAD
    reviewers = tuple(said.reviewers or REVIEWERS)
    others = tuple(name for name in agents if name not in (lead, *reviewers))
    return TeamDefinition(
        lead=lead,
        reviewers=reviewers,
        workers=tuple(said.workers or others or workers(WORKERS)),
        rounds=said.rounds,
        asks_for_plan=said.approve_plan,
        pushes=said.push,
        has_views=said.views,
    )


Wrong = tuple[yaml.Path, str, str]


def _doubled(said: LedTeamShape, team: TeamDefinition) -> Iterator[Wrong]:
    named = [team.lead, *team.reviewers, *team.workers]
    for name in sorted({one for one in named if named.count(one) > 1}):
        field = "workers" if said.workers and name in said.workers else "reviewers"
        yield ("team", field), f"`{name[:80]}` has two parts in the team", "Give everybody one."


def _strangers(said: FileShape, team: TeamDefinition) -> Iterator[Wrong]:
    for name in said.agents or {}:
        if name not in team.parts:
            path: yaml.Path = ("agents", name)
            yield path, f"`{problems.spell(path)}` has no part in the team", hint(name, team.parts)


def _unfit(said: FileShape) -> Iterator[Wrong]:
    """The lead plans, and the stages of the team say what comes next."""
    for name in _ELSEWHERE:
        if getattr(said, name) is not None:
            yield (name,), f"`{name}` does not go with `team`", "Leave one of them out."
    if said.context is False:
        yield ("context",), "a team cannot do without what it shares", "Leave `context: false` out."
