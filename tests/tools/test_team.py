"""What lead and reviewers report, and what a team's plan and hand-offs have to be like."""

import pytest

from moot.board import boards, tasks
from moot.board.boards import NewBoard
from moot.bus import messages
from moot.bus.messages import Message
from moot.core.caller import Caller, Role
from moot.core.ids import BoardId, RunId
from moot.core.json import Json
from moot.core.tool import ToolAnswer
from moot.core.tx import Tx
from moot.registry import agents
from moot.registry.agents import Agent, NewAgent
from moot.store.store import Store
from moot.teams import reviews, teams
from moot.teams.teams import NewTeam
from moot.tools import dispatch
from tests.registry.house import House, build

RUN = RunId("wf_1")
PARTS: dict[str, tuple[Role, teams.Part]] = {
    "lead": ("lead", "lead"),
    "rita": ("reviewer", "reviewer"),
    "worker-1": ("member", "worker"),
}


class Desk:
    def __init__(self, house: House, members: dict[str, Agent]) -> None:
        self.house, self.members = house, members

    async def call(self, who: str, tool: str, **arguments: Json) -> ToolAnswer:
        agent = self.members[who]
        caller = Caller(who, agent.role, agent.instance, agent.id)
        return await dispatch.perform(self.house.store, caller, tool, arguments)

    async def said(self) -> list[Message]:
        return await self.house.read(lambda tx: messages.latest(tx, self.house.stream, 100))

    async def go(self, *stages: teams.Stage) -> None:
        for stage in stages:
            team = await self.house.read(lambda tx: teams.get(tx, self.house.instance.name))
            await self.house.write(lambda tx, team=team, stage=stage: teams.move(tx, team, stage))

    async def ask(self, *names: str) -> None:
        team = await self.house.read(lambda tx: teams.get(tx, self.house.instance.name))
        for name in names:
            await self.house.write(lambda tx, name=name: reviews.ask(tx, team, name))


async def open_desk(store: Store, lead: str = "external") -> Desk:
    house = await build(store)

    def change(tx: Tx) -> dict[str, Agent]:
        found = {
            name: agents.ensure(
                tx, house.instance, NewAgent(name, role=role, backend=lead if name == "lead" else "scripted")
            )
            for name, (role, _) in PARTS.items()
        }
        members: dict[str, teams.Part] = {name: part for name, (_, part) in PARTS.items()}
        team = teams.form(tx, NewTeam(house.instance.name, house.stream, "a goal", members))
        teams.begin(tx, team, RUN)
        boards.create(tx, NewBoard(house.instance.name, house.stream, "a board", "prompt", "", id=BoardId(RUN)))
        return found

    return Desk(house, await house.write(change))


async def reviewing(store: Store, lead: str = "external") -> Desk:
    desk = await open_desk(store, lead)
    await desk.go("delegating", "working", "reviewing")
    await desk.ask("lead", "rita")
    return desk


async def test_a_report_is_heard_and_shown_to_the_lead_without_waking_it(store: Store) -> None:
    desk = await reviewing(store)
    issues: Json = [{"text": "slow", "task": "a"}, {"text": "no docs"}]
    answer = await desk.call("rita", "review_report", verdict="changes", issues=issues, summary="looked at all")
    assert answer.structured == {"round": 1, "verdict": "changes", "issues": 2, "waiting_for": ["lead"]}
    (said,) = [one for one in await desk.said() if one.sender == "rita"]
    assert (said.kind, said.mentions) == ("status", ("lead",))
    assert said.body == "review 1: changes\nlooked at all\n- a: slow\n- no docs"
    assert await desk.house.unread(desk.members["lead"]) == []


async def test_the_same_report_again_is_answered_the_same_and_said_once(store: Store) -> None:
    desk = await reviewing(store)
    first = await desk.call("rita", "review_report", verdict="approved")
    assert (await desk.call("rita", "review_report", verdict="approved")).structured == first.structured
    assert len([one for one in await desk.said() if one.sender == "rita"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"verdict": "changes"}, "INVALID_INPUT"),
        ({"verdict": "approved", "issues": [{"text": "x"}]}, "INVALID_INPUT"),
        ({"verdict": "fine"}, "INVALID_INPUT"),
        ({"verdict": "changes", "issues": [{"text": ""}]}, "INVALID_INPUT"),
        ({"verdict": "changes", "issues": [{"text": "x"}] * 51}, "INVALID_INPUT"),
    ],
)
async def test_a_report_that_says_nothing_clear_is_refused(store: Store, arguments: dict[str, Json], code: str) -> None:
    desk = await reviewing(store)
    answer = await desk.call("rita", "review_report", **arguments)
    assert (answer.is_error, answer.text.startswith(code)) == (True, True), answer.text


async def test_a_worker_does_not_judge(store: Store) -> None:
    desk = await reviewing(store)
    answer = await desk.call("worker-1", "review_report", verdict="approved")
    assert answer.text.startswith("NOT_ALLOWED: worker-1 (member) may not use review_report.")


async def test_a_reviewer_of_another_team_does_not_judge_here(store: Store) -> None:
    desk = await reviewing(store)
    stranger = await desk.house.write(
        lambda tx: agents.ensure(tx, desk.house.instance, NewAgent("eve", role="reviewer", backend="scripted"))
    )
    desk.members["eve"] = stranger
    answer = await desk.call("eve", "review_report", verdict="approved")
    assert answer.text.startswith("NOT_ALLOWED: eve does not review in ")


async def test_without_a_team_there_is_nothing_to_review(store: Store) -> None:
    house = await build(store)
    caller = Caller("x", "operator", house.instance.name)
    answer = await dispatch.perform(store, caller, "review_report", {"verdict": "approved"})
    assert answer.text.startswith("TEAM_NOT_FOUND: ")


async def test_the_operator_speaks_for_a_person_who_leads(store: Store) -> None:
    desk = await reviewing(store, lead="human")
    caller = Caller("human", "operator", desk.house.instance.name)
    answer = await dispatch.perform(store, caller, "review_report", {"verdict": "approved"})
    assert answer.structured["waiting_for"] == ["rita"]


@pytest.mark.parametrize("tool", ["workflow_set_plan", "workflow_add_tasks"])
async def test_tasks_of_a_team_are_for_its_workers(store: Store, tool: str) -> None:
    desk = await open_desk(store)
    for who in ("lead", "rita", "nobody"):
        given: list[Json] = [{"name": "a", "assigned_agent": who}]
        more: dict[str, Json] = {"plan": {"tasks": given}} if tool == "workflow_set_plan" else {"tasks": given}
        answer = await desk.call("lead", tool, id=RUN, **more)
        assert answer.text.startswith(f"TEAM_REFUSED: The task 'a' is given to {who}, who is no worker of the team."), (
            who
        )
    plan: Json = {"tasks": [{"name": "a", "assigned_agent": "Worker-1"}, {"name": "b"}]}
    assert not (await desk.call("lead", "workflow_set_plan", id=RUN, plan=plan)).is_error
    assert len(await desk.house.read(lambda tx: tasks.page(tx, BoardId(RUN)))) == 2


async def test_only_who_leads_plans_for_a_team_and_says_how_it_stands(store: Store) -> None:
    desk = await open_desk(store)
    plan: Json = {"tasks": [{"name": "a"}]}
    for who in ("rita", "worker-1"):
        caller = Caller(who, desk.members[who].role, desk.house.instance.name, desk.members[who].id)
        for tool, said in (
            ("workflow_set_plan", {"id": RUN, "plan": plan}),
            ("workflow_add_tasks", {"id": RUN, "tasks": [{"name": "a"}]}),
            ("workflow_update_status", {"id": RUN, "status": "abandoned", "reason": "no"}),
        ):
            answer = await dispatch.perform(desk.house.store, caller, tool, said)
            assert answer.text.startswith("NOT_ALLOWED: What default does is for its lead to say."), (who, tool)
    assert not await desk.house.read(lambda tx: tasks.page(tx, BoardId(RUN)))
    person = Caller("human", "operator", desk.house.instance.name)
    assert not (
        await dispatch.perform(desk.house.store, person, "workflow_set_plan", {"id": RUN, "plan": plan})
    ).is_error


async def test_a_plan_that_is_being_judged_is_not_changed(store: Store) -> None:
    desk = await reviewing(store)
    answer = await desk.call("lead", "workflow_set_plan", id=RUN, plan={"tasks": [{"name": "a"}]})
    assert answer.text.startswith("TEAM_REFUSED: The team is reviewing: its plan stays as it is.")
