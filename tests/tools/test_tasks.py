"""The lifecycle of the protocol by its tools: names, answers, refusals and codes."""

from typing import Any

import pytest

from moot.board import claims
from moot.board import tasks as board_tasks
from moot.board.claims import LEASE, Holder, Taken
from moot.core.caller import Caller
from moot.core.ids import InstanceName, TaskId, TokenId
from moot.core.json import Json
from moot.core.tx import Tx
from moot.registry import agents, tokens
from moot.registry.agents import NewAgent
from moot.registry.tokens import Grant
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.tools.desk import DEFAULT, OPERATOR, Desk, member, open_desk

OTHER = Caller("human", "operator", DEFAULT, token=TokenId("to_2"))


async def planned(desk: Desk, *lines: str, caller: Caller = OPERATOR) -> tuple[str, dict[str, str]]:
    """A workflow of `name: needs…`, and the ids of its tasks."""
    made = await desk.done(caller, "workflow_create", name="oauth", source_type="prompt", source_content="Add OAuth")
    tasks: list[Json] = [
        {"name": name.strip(), "description": f"do {name}", "depends_on": [*needs.split()]}
        for name, _, needs in (line.partition(":") for line in lines)
    ]
    answer = await desk.done(caller, "workflow_set_plan", id=made["id"], plan={"summary": "s", "tasks": tasks})
    assert (answer["tasks_created"], answer["status"]) == (len(lines), "ready")
    seen = await desk.done(caller, "workflow_get", id=made["id"])
    return made["id"], {task["name"]: task["id"] for task in seen["tasks"]}


async def agent(desk: Desk, name: str, caller: Caller = OPERATOR, **more: Json) -> str:
    return (await desk.done(caller, "agent_register", name=name, runtime="claude_code", **more))["id"]


async def test_who_comes_from_outside_goes_on_with_what_it_was_given_by_mail(store: Store) -> None:
    desk = await open_desk(store)
    _, ids = await planned(desk, "fix")

    def give(tx: Tx) -> Caller:
        ben = agents.ensure(tx, desk.house.instance, NewAgent("ben", backend="external"))
        holder = Holder(ben.id, ben.name, "")  # as whoever hands tasks out: through no hand yet
        assert isinstance(claims.claim(tx, TaskId(ids["fix"]), holder, ben.stream, lease=None), Taken)
        return member(ben)

    ben = await desk.house.write(give)
    eve = member(await desk.house.join("eve"))
    assert await desk.refused(eve, "task_update_status", id=ids["fix"], status="in_progress") == "CLAIM_LOST"
    await desk.done(ben, "task_update_status", id=ids["fix"], status="in_progress")
    held = await desk.house.read(lambda tx: board_tasks.get(tx, TaskId(ids["fix"])))
    assert (held.hand, held.lease_until is not None) == (ben.token, True)
    other = Caller(ben.name, ben.role, DEFAULT, ben.agent, TokenId("to_another"))
    assert await desk.refused(other, "task_update_status", id=ids["fix"], status="in_progress") == "CLAIM_LOST"
    await desk.done(ben, "task_update_status", id=ids["fix"], status="completed", outcome="mended")


async def test_the_seven_steps_of_the_protocol(store: Store) -> None:
    desk = await open_desk(store)
    worker = await agent(desk, "worker-1", capabilities=["typescript"])
    workflow, ids = await planned(desk, "setup", "login: setup")
    found = await desk.done(OPERATOR, "workflow_next_tasks", workflow_id=workflow)
    assert [task["name"] for task in found["tasks"]] == ["setup"]
    assert (found["max_parallel"], found["recommended_count"], found["all_complete"]) == (1, 1, False)
    claimed = await desk.done(OPERATOR, "task_claim", task_id=ids["setup"], agent_id=worker)
    assert claimed["success"] is True
    context = await desk.done(
        OPERATOR,
        "task_load_context",
        task_id=ids["setup"],
        include={"workflow_plan": True, "prior_task_outcomes": True, "recent_checkpoints": 5},
        max_tokens=8000,
    )
    assert context["current_task"]["name"] == "setup"
    await desk.done(OPERATOR, "task_set_plan", id=ids["setup"], plan={"approach": "carefully", "steps": ["a", "b"]})
    await desk.done(OPERATOR, "task_update_status", id=ids["setup"], status="in_progress")
    noted = await desk.done(
        OPERATOR, "checkpoint_add", task_id=ids["setup"], type="progress", summary="half", files_changed=["a.ts"]
    )
    assert noted["number"] == 1
    beat = await desk.done(OPERATOR, "agent_heartbeat", agent_id=worker, current_task_id=ids["setup"], status="busy")
    assert (beat["success"], beat["next_heartbeat_ms"], "claim_lost" in beat) == (True, 30000, False)
    done = await desk.done(
        OPERATOR,
        "task_update_status",
        id=ids["setup"],
        status="completed",
        outcome="set up",
        outcome_detail={"files_created": ["a.ts"]},
    )
    assert done == {"success": True, "status": "completed"}
    after = await desk.done(OPERATOR, "task_load_context", task_id=ids["login"])
    assert [(one["name"], one["outcome"]) for one in after["dependency_outcomes"]] == [("setup", "set up")]
    assert (await desk.done(OPERATOR, "agent_unregister", id=worker))["success"] is True


async def test_who_comes_second_is_told_who_came_first(store: Store) -> None:
    desk = await open_desk(store)
    first, second = await agent(desk, "a"), await agent(desk, "b", OTHER)
    _, ids = await planned(desk, "one", "two: one")
    await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=first)
    conflict = await desk.done(OTHER, "task_claim", task_id=ids["one"], agent_id=second)
    assert (conflict["success"], conflict["already_claimed_by"]) == (False, first)
    blocked = await desk.done(OTHER, "task_claim", task_id=ids["two"], agent_id=second)
    assert (blocked["success"], blocked["waiting_on"]) == (False, ["one"])
    assert "already_claimed_by" not in blocked
    again = await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=first)
    assert (again["success"], again["fence"]) == (True, 2)


WRITES: list[tuple[str, dict[str, Any]]] = [
    ("checkpoint_add", {"task_id": "", "type": "progress", "summary": "s"}),
    ("task_set_plan", {"id": "", "plan": {"approach": "a"}}),
    ("task_replan", {"id": "", "reason": "r", "new_plan": {"approach": "a"}}),
    ("task_update_status", {"id": "", "status": "in_progress"}),
    ("task_update_status", {"id": "", "status": "completed", "outcome": "o"}),
    ("task_update_status", {"id": "", "status": "failed", "error": "e"}),
]


@pytest.mark.parametrize(("tool", "arguments"), WRITES)
async def test_a_stale_holder_is_refused_on_every_write(
    store: Store, clock: ManualClock, tool: str, arguments: dict[str, Any]
) -> None:
    desk = await open_desk(store)
    stale = await agent(desk, "a")
    _, ids = await planned(desk, "one")
    await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=stale)
    clock.advance(LEASE.total_seconds())
    named = {name: ids["one"] if name in ("id", "task_id") else value for name, value in arguments.items()}
    assert await desk.refused(OPERATOR, tool, **named) == "CLAIM_LOST"
    beat = await desk.done(OPERATOR, "agent_heartbeat", agent_id=stale, current_task_id=ids["one"])
    assert beat["claim_lost"] is True
    other = await agent(desk, "b", OTHER)
    assert (await desk.done(OTHER, "task_claim", task_id=ids["one"], agent_id=other))["success"] is True
    assert await desk.refused(OPERATOR, tool, **named) == "CLAIM_LOST"
    assert not (await desk.call(OTHER, tool, named)).is_error


async def test_what_was_held_by_somebody_who_cannot_come_back_is_free_at_once(store: Store) -> None:
    desk = await open_desk(store)
    grant = Grant("operator", DEFAULT, "operator")
    text = tokens.new_text()
    token = await desk.house.write(lambda tx: tokens.mint(tx, text, grant))
    gone = Caller("human", "operator", DEFAULT, token=token)
    before = await agent(desk, "before", gone)
    _, ids = await planned(desk, "one")
    await desk.done(gone, "task_claim", task_id=ids["one"], agent_id=before)
    later = await agent(desk, "later", OTHER)
    assert (await desk.done(OTHER, "task_claim", task_id=ids["one"], agent_id=later))["success"] is False
    await desk.house.write(lambda tx: tokens.revoke(tx, token))
    assert (await desk.done(OTHER, "task_claim", task_id=ids["one"], agent_id=later))["success"] is True


async def test_who_leaves_gives_back_what_it_holds(store: Store) -> None:
    desk = await open_desk(store)
    worker = await agent(desk, "a")
    workflow, ids = await planned(desk, "one")
    await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=worker)
    assert (await desk.done(OPERATOR, "agent_get", id=worker))["current_task_id"] == ids["one"]
    await desk.done(OPERATOR, "agent_unregister", id=worker)
    found = await desk.done(OPERATOR, "workflow_next_tasks", workflow_id=workflow)
    assert [task["id"] for task in found["tasks"]] == [ids["one"]]


async def test_signs_of_life_keep_a_claim(store: Store, clock: ManualClock) -> None:
    desk = await open_desk(store)
    worker = await agent(desk, "a")
    _, ids = await planned(desk, "one")
    await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=worker)
    for _ in range(4):
        clock.advance(LEASE.total_seconds() - 1)
        await desk.done(OPERATOR, "agent_heartbeat", agent_id=worker)
    await desk.done(OPERATOR, "task_update_status", id=ids["one"], status="completed", outcome="fine")


async def test_a_task_is_released_by_its_holder_or_an_operator_and_by_nobody_else(store: Store) -> None:
    desk = await open_desk(store)
    worker = await agent(desk, "a")
    _, ids = await planned(desk, "one")
    await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=worker)
    ben = member(await desk.house.join("ben"))
    assert await desk.refused(ben, "task_release", task_id=ids["one"]) == "CLAIM_LOST"
    assert await desk.refused(ben, "task_update_status", id=ids["one"], status="skipped") == "CLAIM_LOST"
    assert (await desk.done(OTHER, "task_release", task_id=ids["one"], reason="stuck"))["status"] == "pending"
    assert await desk.refused(OPERATOR, "task_release", task_id=ids["one"]) == "CLAIM_LOST"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("task_claim", {"task_id": "tk_none"}, "TASK_NOT_FOUND"),
        ("task_load_context", {"task_id": "tk_none"}, "TASK_NOT_FOUND"),
        ("checkpoint_add", {"task_id": "tk_none", "type": "plan", "summary": "s"}, "TASK_NOT_FOUND"),
        ("checkpoint_list", {"task_id": "tk_none"}, "TASK_NOT_FOUND"),
        ("task_update_status", {"id": "tk_none", "status": "failed", "error": "e"}, "TASK_NOT_FOUND"),
        ("task_get", {"id": "tk_none"}, "TASK_NOT_FOUND"),
        ("task_check_dependencies", {"task_id": "tk_none"}, "TASK_NOT_FOUND"),
        ("workflow_next_tasks", {"workflow_id": "wf_none"}, "WORKFLOW_NOT_FOUND"),
        ("workflow_progress", {"workflow_id": "wf_none"}, "WORKFLOW_NOT_FOUND"),
        ("workflow_update_status", {"id": "wf_none", "status": "paused"}, "WORKFLOW_NOT_FOUND"),
        ("task_claim", {"task_id": "tk_none", "agent_id": "ag_none"}, "AGENT_NOT_FOUND"),
    ],
)
async def test_what_is_not_there_has_its_code(store: Store, tool: str, arguments: dict[str, Json], code: str) -> None:
    desk = await open_desk(store)
    assert await desk.refused(OPERATOR, tool, **arguments) == code


async def test_another_instance_sees_and_touches_nothing(store: Store) -> None:
    desk = await open_desk(store)
    workflow, ids = await planned(desk, "one")
    stranger = Caller("human", "operator", InstanceName("other"), token=TokenId("to_9"))
    assert await desk.refused(stranger, "workflow_get", id=workflow) == "WORKFLOW_NOT_FOUND"
    assert await desk.refused(stranger, "workflow_update_status", id=workflow, status="paused") == "WORKFLOW_NOT_FOUND"
    assert await desk.refused(stranger, "task_get", id=ids["one"]) == "TASK_NOT_FOUND"
    assert await desk.refused(stranger, "task_claim", task_id=ids["one"]) == "TASK_NOT_FOUND"
    assert (await desk.done(stranger, "workflow_list"))["workflows"] == []


async def test_transitions_that_are_not_there_name_those_that_are(store: Store) -> None:
    desk = await open_desk(store)
    _, ids = await planned(desk, "one")
    worker = await agent(desk, "a")
    await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=worker)
    await desk.done(OPERATOR, "task_update_status", id=ids["one"], status="completed", outcome="fine")
    for status in ("planning", "in_progress", "completed", "failed", "pending", "skipped"):
        said: dict[str, Json] = {"id": ids["one"], "status": status, "outcome": "again", "error": "oh"}
        answer = await desk.call(OPERATOR, "task_update_status", said)
        assert answer.text == (
            f"INVALID_TRANSITION: The task 'one' is completed and cannot become {status}. Completed is final."
        )
    stranger = member(await desk.house.join("eve"))
    assert await desk.refused(stranger, "task_update_status", id=ids["one"], status="failed", error="x") == "CLAIM_LOST"
    assert "current_task_id" not in await desk.done(OPERATOR, "agent_get", id=worker)


async def test_a_task_ends_with_words_and_waits_for_no_checks_that_it_does_not_have(store: Store) -> None:
    desk = await open_desk(store)
    _, ids = await planned(desk, "one")
    worker = await agent(desk, "a")
    await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=worker)
    await desk.done(OPERATOR, "agent_heartbeat", agent_id=worker, current_task_id=ids["one"])
    for more in ({"status": "completed", "outcome": " \n"}, {"status": "failed", "error": " "}):
        assert await desk.refused(OPERATOR, "task_update_status", id=ids["one"], **more) == "INVALID_INPUT"
    # Its holder would keep it for ever, dead or alive.
    said: dict[str, Json] = {"id": ids["one"], "status": "verifying", "outcome": "fine"}
    assert await desk.refused(OPERATOR, "task_update_status", **said) == "INVALID_TRANSITION"
    assert (await desk.done(OPERATOR, "task_get", id=ids["one"]))["status"] == "planning"


async def test_recovery_finds_the_work_by_its_workflow(store: Store) -> None:
    """As somebody does whose memory is gone: list, progress, context with all checkpoints."""
    desk = await open_desk(store)
    worker = await agent(desk, "a")
    workflow, ids = await planned(desk, "one")
    await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=worker)
    for number in range(8):
        await desk.done(OPERATOR, "checkpoint_add", task_id=ids["one"], type="progress", summary=f"step {number}")
    assert (await desk.done(OPERATOR, "workflow_list", status="paused"))["workflows"] == []
    found = await desk.done(OPERATOR, "workflow_list", status=["in_progress"])
    assert [one["id"] for one in found["workflows"]] == [workflow]
    progress = await desk.done(OPERATOR, "workflow_progress", workflow_id=workflow)
    assert [one["id"] for one in progress["current_tasks"]] == [ids["one"]]
    context = await desk.done(OPERATOR, "task_load_context", task_id=ids["one"], include={"all_checkpoints": True})
    assert [one["summary"] for one in context["current_task"]["checkpoints"]] == [f"step {n}" for n in range(8)]
    recent = await desk.done(OPERATOR, "task_load_context", task_id=ids["one"])
    assert len(recent["current_task"]["checkpoints"]) == 5


async def test_work_is_found_by_what_somebody_can_do(store: Store) -> None:
    desk = await open_desk(store)
    made = await desk.done(OPERATOR, "workflow_create", name="w")
    tasks: list[Json] = [
        {"name": "any"},
        {"name": "rusty", "capabilities": ["rust"]},
        {"name": "ours", "assigned_agent": "ann"},
    ]
    await desk.done(OPERATOR, "workflow_set_plan", id=made["id"], plan={"tasks": tasks})
    ann = await agent(desk, "ann", capabilities=["python"])
    bob = await agent(desk, "bob", capabilities=["rust", "go"])

    async def found(**arguments: Json) -> list[str]:
        answer = await desk.done(OPERATOR, "task_available", **arguments)
        return [one["name"] for one in answer["tasks"]]

    assert await found(agent_id=ann) == ["any", "ours"]
    assert await found(agent_id=bob, workflow_id=made["id"]) == ["any", "rusty"]
    assert await found(agent_id=bob, capabilities=[]) == ["any"]


async def test_a_paused_workflow_gives_out_nothing_until_it_goes_on(store: Store) -> None:
    desk = await open_desk(store)
    worker = await agent(desk, "a")
    workflow, ids = await planned(desk, "one")
    await desk.done(OPERATOR, "workflow_update_status", id=workflow, status="paused", reason="lunch")
    found = await desk.done(OPERATOR, "workflow_next_tasks", workflow_id=workflow)
    assert (found["tasks"], found["workflow_status"]) == ([], "paused")
    claimed = await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=worker)
    assert (claimed["success"], claimed["reason"]) == (False, "The workflow is paused.")
    await desk.done(OPERATOR, "workflow_update_status", id=workflow, status="in_progress")
    assert (await desk.done(OPERATOR, "task_claim", task_id=ids["one"], agent_id=worker))["success"] is True


async def test_a_plan_that_cannot_be_is_refused_with_the_reason(store: Store) -> None:
    desk = await open_desk(store)
    made = await desk.done(OPERATOR, "workflow_create", name="w")
    tasks: list[Json] = [{"name": "a", "depends_on": ["b"]}, {"name": "b", "depends_on": [{"task": "a"}]}]
    answer = await desk.call(OPERATOR, "workflow_set_plan", {"id": made["id"], "plan": {"tasks": tasks}})
    assert answer.text.startswith("INVALID_PLAN: Tasks wait for each other: a → b → a.")
    assert (await desk.done(OPERATOR, "workflow_get", id=made["id"]))["status"] == "planning"


async def test_agents_cannot_have_commands_run_by_the_checks_of_a_plan(store: Store) -> None:
    desk = await open_desk(store)
    made = await desk.done(OPERATOR, "workflow_create", name="w")
    plan: dict[str, Json] = {"tasks": [{"name": "a", "checks": [{"shell": "true"}]}]}
    ben = member(await desk.house.join("ben"))
    assert await desk.refused(ben, "workflow_set_plan", id=made["id"], plan=plan) == "NOT_ALLOWED"
    await desk.done(OPERATOR, "workflow_set_plan", id=made["id"], plan=plan)


async def test_a_check_by_a_schema_that_is_none_is_refused_before_anybody_waits_for_it(store: Store) -> None:
    desk = await open_desk(store)
    made = await desk.done(OPERATOR, "workflow_create", name="w")
    good: Json = {"name": "a", "checks": [{"schema": {"required": ["files"]}}]}
    bad: Json = {"name": "b", "checks": [{"schema": {"type": 7}}]}
    assert (
        await desk.refused(OPERATOR, "workflow_set_plan", id=made["id"], plan={"tasks": [good, bad]}) == "INVALID_PLAN"
    )
    await desk.done(OPERATOR, "workflow_set_plan", id=made["id"], plan={"tasks": [good]})
    assert await desk.refused(OPERATOR, "workflow_add_tasks", id=made["id"], tasks=[bad]) == "INVALID_PLAN"


async def test_who_is_to_do_a_task_may_be_written_as_a_mention(store: Store) -> None:
    desk = await open_desk(store)
    made = await desk.done(OPERATOR, "workflow_create", name="w")
    plan: Json = {"tasks": [{"name": "a", "assigned_agent": "@ben"}]}
    await desk.done(OPERATOR, "workflow_set_plan", id=made["id"], plan=plan)
    card = await desk.done(OPERATOR, "workflow_get", id=made["id"])
    assert card["tasks"][0]["assigned_agent"] == "ben"


async def test_a_workflow_is_not_called_completed_while_tasks_are_left(store: Store) -> None:
    desk = await open_desk(store)
    workflow, ids = await planned(desk, "one")
    said: dict[str, Json] = {"id": workflow, "status": "completed"}
    assert await desk.refused(OPERATOR, "workflow_update_status", **said) == "INVALID_TRANSITION"
    assert (await desk.done(OPERATOR, "workflow_next_tasks", workflow_id=workflow))["workflow_status"] == "ready"
    await desk.done(OPERATOR, "task_update_status", id=ids["one"], status="skipped")
    assert (await desk.done(OPERATOR, "workflow_update_status", **said))["status"] == "completed"


async def test_of_a_fault_in_a_plan_only_the_fault_is_told(store: Store) -> None:
    desk = await open_desk(store)
    made = await desk.done(OPERATOR, "workflow_create", name="w")
    wrong: Json = {"tasks": [{"name": "a", "sequence": -1}]}
    answer = await desk.call(OPERATOR, "workflow_set_plan", {"id": made["id"], "plan": wrong})
    fault = "`plan.tasks item 1, sequence` must be at least 0. Choose another number."
    assert answer.text == f"INVALID_INPUT: workflow_set_plan: {fault}"


async def test_what_is_abandoned_is_planned_no_more(store: Store) -> None:
    desk = await open_desk(store)
    workflow, _ = await planned(desk, "one")
    await desk.done(OPERATOR, "workflow_update_status", id=workflow, status="abandoned")
    more: list[Json] = [{"name": "two"}]
    assert await desk.refused(OPERATOR, "workflow_add_tasks", id=workflow, tasks=more) == "INVALID_TRANSITION"
    plan: Json = {"tasks": more}
    assert await desk.refused(OPERATOR, "workflow_set_plan", id=workflow, plan=plan) == "INVALID_TRANSITION"
    assert [one["name"] for one in (await desk.done(OPERATOR, "workflow_get", id=workflow))["tasks"]] == ["one"]


async def test_progress_and_summary_tell_how_it_stands(store: Store) -> None:
    desk = await open_desk(store)
    worker = await agent(desk, "a")
    workflow, ids = await planned(desk, "one", "two: one", "three")
    await desk.done(OPERATOR, "task_claim", task_id=ids["three"], agent_id=worker)
    await desk.done(OPERATOR, "task_update_status", id=ids["three"], status="completed", outcome="fine")
    how = await desk.done(OPERATOR, "workflow_progress", workflow_id=workflow)
    assert (how["total_tasks"], how["completed_tasks"], how["blocked_tasks"], how["percent"]) == (3, 1, 1, 33)
    assert how["by_status"] == {"completed": 1, "pending": 1, "blocked": 1}
    assert how["estimated_remaining"] == {"tasks": 2, "by_complexity": {"unknown": 2}}
    summary = await desk.done(OPERATOR, "workflow_summary", workflow_id=workflow)
    assert "1 of 3 tasks are done" in summary["summary"]
