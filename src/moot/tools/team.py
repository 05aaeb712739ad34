"""The team: what its lead and its reviewers say of a round's work."""

from typing import Annotated, Self

from pydantic import FailFast, Field, model_validator

from moot.core.caller import Role
from moot.core.errors import NotAllowed
from moot.core.tool import Call, Tool
from moot.core.tx import Tx
from moot.registry import agents
from moot.registry.agents import Agent
from moot.teams import reviews, teams
from moot.teams.reviews import Issue, Verdict
from moot.teams.teams import Team
from moot.tools import acting, groups, talk
from moot.tools.shapes import Arguments, For, Line, Prose, Result, written
from moot.tools.talk import Words

JUDGES: frozenset[Role] = frozenset(("lead", "reviewer", "operator"))
_MOST_ISSUES = 50  # in one review


class WrittenIssue(Arguments):
    text: Annotated[Prose, Field(min_length=1, description="What is wrong, and what would show that it is mended.")]
    task: Annotated[Line | None, Field(description="The name of the task that it is about.")] = None
    file: Annotated[Line | None, Field(description="The file that it is about.")] = None


class Report(Arguments):
    verdict: Annotated[Verdict, Field(description="approved, or changes with the issues to be mended first.")]
    issues: Annotated[tuple[WrittenIssue, ...], Field(max_length=_MOST_ISSUES, strict=False), FailFast()] = ()
    summary: Annotated[Prose, Field(description="What you have looked at, in a few words.")] = ""
    agent_id: For = None

    @model_validator(mode="after")
    def _are_issues_there(self) -> Self:
        if (self.verdict == "changes") != bool(self.issues):
            raise ValueError("changes come with issues, and approved without")
        return self


class Reported(Result):
    round: int
    verdict: Verdict
    issues: int
    waiting_for: tuple[str, ...]  # who has not reported yet


async def report(call: Call, arguments: Report) -> Reported:
    found = tuple(Issue(one.text, one.task, one.file) for one in arguments.issues)

    def change(tx: Tx) -> Reported:
        instance = acting.instance_of(tx, call.caller)
        team = teams.get(tx, instance.name)
        agent = _judge(tx, call, arguments, team)
        if team.members.get(agent.name) not in ("lead", "reviewer"):
            raise NotAllowed(f"{agent.name} does not review in {team.instance}.", "Its lead and its reviewers do.")
        if reviews.give(tx, team, agent.name, arguments.verdict, found):
            said = "\n".join([f"review {team.round}: {arguments.verdict}", *filter(None, [arguments.summary])])
            lines = "".join(f"\n- {_spelled(one)}" for one in found)
            to = () if agent.name == team.lead else (team.lead,)
            words = Words(said + lines, to=to, kind="status", attempt=call.caller.attempt, spoken="", is_quiet=True)
            talk.say(tx, instance, agent, words)
        left = tuple(one.reviewer for one in reviews.of_round(tx, team) if not one.is_given)
        return Reported(round=team.round, verdict=arguments.verdict, issues=len(found), waiting_for=left)

    return await call.write(change)


def _judge(tx: Tx, call: Call, arguments: Report, team: Team) -> Agent:
    """Who calls; the operator speaks for a person who leads."""
    agent = acting.agent_for(tx, call.caller, arguments.agent_id)
    if call.caller.role != "operator" or arguments.agent_id is not None:
        return agent
    lead = agents.find(tx, team.stream, team.lead)
    return lead if lead is not None and lead.backend == "human" else agent


def _spelled(issue: Issue) -> str:
    about = ", ".join(part for part in (issue.task, issue.file) if part)
    return f"{about}: {issue.text}" if about else issue.text


TOOLS = (
    Tool(
        name="review_report",
        group=groups.TEAM,
        words="Say what you think of the round's work, once: approved, or changes with their issues.",
        effect="store",
        arguments=Report,
        result=Reported,
        function=report,
        text=written,
        roles=JUDGES,
    ),
)
