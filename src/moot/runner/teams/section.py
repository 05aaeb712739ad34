"""The team of a run, as the run sees it: put together at its start, told its goal, asked at its end what is left."""

from moot.board import boards
from moot.board.boards import NewBoard
from moot.core import text
from moot.core.ids import BoardId
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, instances, names, tokens
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.registry.runs import Run
from moot.runner import terms
from moot.runner.teams import notices, waiting
from moot.teams import marks, reviews, stages, teams
from moot.teams.teams import NewTeam, Team
from moot.tools import attendance, talk, teamwork
from moot.tools.talk import Words
from moot.workflow.workflow import TeamDefinition, Workflow

_TYPED = "Type /plan FILE with a plan in a file, or /go to give everybody the goal."


def is_team(run: Run | None) -> bool:
    return run is not None and run.definition.get("team") is not None


def launch(tx: Tx, instance: Instance, run: Run, workflow: Workflow) -> None:
    """The team, its board and moot's own addresses are there before anybody is told anything."""
    if workflow.team is not None:
        team = teams.begin(tx, form(tx, instance, workflow.team), run.id)
        for name in team.members:
            _bind(tx, agents.named(tx, instance.stream, name))


def _bind(tx: Tx, agent: Agent) -> None:
    """Who comes from outside may have come before the team was there."""
    if agent.backend == "external" and agent.role in ("lead", "reviewer") and agent.settings.get("tools") is not None:
        tokens.regrant(tx, agent.id, agent.role, terms.held(agent, None))


def form(tx: Tx, instance: Instance, wanted: TeamDefinition, goal: str | None = None) -> Team:
    """As a file has it; without a goal, it keeps the last until it gets another."""
    before = teams.find(tx, instance.name)
    new = NewTeam(
        instance.name,
        instance.stream,
        goal if goal is not None else before.goal if before else "",
        wanted.parts,
        wanted.has_views,
        wanted.asks_for_plan,
        wanted.pushes,
        wanted.rounds,
    )
    for name in sorted(names.SERVICES):
        agents.service(tx, instance, name)
    return teams.form(tx, new)


def open(tx: Tx, run: Run, goal: str) -> None:
    """Setup is over: everybody is here, and the lead gets the goal."""
    team = teams.of_run(tx, run.id)
    if team is None:
        return
    team = teams.aim(tx, team, goal)
    instance = instances.get(tx, run.instance)
    new = NewBoard(
        instance=run.instance,
        stream=run.stream,
        name=text.shortened(goal, 100),
        source_type="prompt",
        source_content=goal,
        max_parallel=len(team.workers),
        created_by="system",
        id=BoardId(run.id),
    )
    boards.create(tx, new)
    notices.life(tx, instance, stages.LINE)
    attendance.settle(tx, run.instance)
    lead = agents.named(tx, run.stream, team.lead)
    talk.say(tx, instance, None, Words(_goal(team, lead), to=(team.lead,), kind="task", spoken=""))
    teamwork.look(tx, run.id, run.stream)


def _goal(team: Team, lead: Agent) -> str:
    workers = ", ".join(team.workers)
    if lead.backend == "human":
        how = f"for these workers: {workers}. {_TYPED}"
    else:
        when = "when you end your turn" if lead.is_started_by_moot else "at once"
        how = (
            f"with workflow_set_plan on the workflow {team.run} for these workers: {workers}. It is handed out {when}."
        )
        how += "" if lead.is_started_by_moot else f" At a terminal (moot team attach {team.instance}): {_TYPED}"
    return f"[GOAL] {team.goal}\n\nYou lead {team.instance}. Plan it {how}"


def carry_on(tx: Tx, run: Run) -> None:
    """Somebody goes on with the run: what has failed is tried again, as often as at the beginning."""
    team = teams.of_run(tx, run.id) if is_team(run) else None
    if team is None:
        return
    if teams.go_on(tx, team):
        team = teams.get(tx, team.instance)
        marks.clear(tx, team)
        reviews.renew(tx, team)
    teamwork.look(tx, run.id, run.stream)


def trouble(tx: ReadTx, run: Run) -> str:
    """Why the team of a run is not done, for whoever finds nobody at work."""
    team = teams.of_run(tx, run.id) if is_team(run) else None
    if team is None or team.stage == "done":
        return ""
    return team.reason if team.stage == "failed" else f"the team is still {team.stage}"


def awaited(tx: ReadTx, run: Run) -> list[Agent]:
    """People, and who come from outside, without whom the team does not come further."""
    team = teams.of_run(tx, run.id) if is_team(run) else None
    if team is None:
        return []
    lead = agents.named(tx, run.stream, team.lead)
    is_lead = not lead.is_started_by_moot and (_is_to_plan(tx, run, team) or waiting.is_for_lead(tx, run, team))
    missing = [one.reviewer for one in reviews.of_round(tx, team) if not one.is_given]
    judges = [agents.named(tx, run.stream, name) for name in missing if team.stage == "reviewing"]
    found = [*([lead] if is_lead else []), *(one for one in judges if not one.is_started_by_moot)]
    return list({one.id: one for one in found}.values())


def _is_to_plan(tx: ReadTx, run: Run, team: Team) -> bool:
    board = boards.find(tx, BoardId(run.id))
    return team.stage == "planning" and board is not None and board.status == "planning"
