"""Every call from outside ends in an answer: a result, or a refusal with a stable code and nothing changed."""

import logging
from dataclasses import replace
from typing import Any, get_args

import pytest

from moot.bus.messages import Kind
from moot.core.caller import Caller, Role
from moot.core.json import Json
from moot.store.store import Store
from moot.tools import table
from tests.tools.desk import DEFAULT, OPERATOR, member, open_desk

READERS = {
    "channel_read",
    "channel_peek",
    "channel_search",
    "request_list",
    "inbox_check",
    "inbox_ack",
    "agent_get",
    "agent_list",
    "document_read",
    "document_list",
    "document_history",
    "proposal_status",
    "workflow_get",
    "workflow_list",
    "workflow_next_tasks",
    "workflow_progress",
    "workflow_summary",
    "task_get",
    "task_load_context",
    "task_check_dependencies",
    "task_available",
    "checkpoint_list",
    "workspace_list",
    "workflow_definitions",
    "workflow_get_info",
    "workflow_load_definition",
    "workflow_explain_plan",
    "workflow_state_read",
    "workflow_state_dependencies",
    "workflow_trace_transformations",
    "workflow_debug_info",
    "workflow_test_transformation",
}
WRITERS = READERS | {
    "channel_send",
    "agent_heartbeat",
    "agent_update",
    "agent_unregister",
    "document_write",
    "document_append",
    "document_create",
    "document_delete",
    "document_suggest",
    "proposal_create",
    "vote",
    "proposal_cancel",
    "request_create",
    "request_respond",
    "workflow_create",
    "workflow_set_plan",
    "workflow_add_tasks",
    "workflow_update_status",
    "task_claim",
    "task_release",
    "task_set_plan",
    "task_replan",
    "task_update_status",
    "checkpoint_add",
    "workspace_create",
    "workspace_update",
    "workspace_merge",
    "workflow_start",
    "workflow_get_next_step",
    "workflow_step_complete",
    "workflow_checkpoint",
    "workflow_resume",
    "workflow_complete",
    "workflow_state_update",
}


@pytest.mark.parametrize(
    ("role", "offered"),
    [
        ("observer", READERS),
        ("member", WRITERS),
        ("owner", WRITERS),
        ("lead", WRITERS | {"review_report"}),
        ("reviewer", WRITERS | {"review_report"}),
        ("operator", WRITERS | {"agent_register", "review_report"}),
        ("system", set[str]()),
    ],
)
def test_a_role_is_offered_what_it_may_call(role: Role, offered: set[str]) -> None:
    assert {tool.name for tool in table.offered(Caller("x", role, DEFAULT))} == offered


def test_a_caller_with_groups_is_offered_only_those() -> None:
    def names(*groups: str) -> set[str]:
        return {tool.name for tool in table.offered(Caller("x", "operator", DEFAULT, groups=groups))}

    assert names() == set()
    assert names("inbox") == {"inbox_check", "inbox_ack"}
    assert names("inbox", "channel_send") == {"inbox_check", "inbox_ack", "channel_send"}


async def test_what_is_not_offered_is_refused(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    observer = member(ann, "observer")
    for tool in [*sorted(WRITERS - READERS), "agent_register"]:
        assert await desk.refused(observer, tool) == "NOT_ALLOWED"
    assert await desk.refused(observer, "channel_send", message="hello") == "NOT_ALLOWED"
    assert await desk.refused(member(ann), "agent_register", name="bob", runtime="x") == "NOT_ALLOWED"
    limited = Caller("human", "operator", DEFAULT, groups=("inbox",))
    assert await desk.refused(limited, "channel_send", message="hello") == "NOT_ALLOWED"
    assert await desk.done(observer, "channel_read") == {"entries": []}


async def test_an_unknown_tool_is_refused(store: Store) -> None:
    desk = await open_desk(store)
    for name in ("", "nonsense", "channel.send", "CHANNEL_SEND", "\0", "x" * 100_000):
        assert await desk.refused(OPERATOR, name) == "TOOL_NOT_FOUND"


@pytest.mark.parametrize("tool", sorted(name for name, tool in table.TOOLS.items() if not tool.is_on_demand))
async def test_no_tool_takes_an_argument_it_does_not_know(sqlite_store: Store, tool: str) -> None:
    desk = await open_desk(sqlite_store)
    answer = await desk.call(OPERATOR, tool, {"bogus": 1, "_meta": None})
    assert answer.is_error
    assert answer.text.startswith(f"INVALID_INPUT: {tool} has ")
    assert "`bogus` is no key of the arguments." in answer.text


async def test_a_limit_is_a_number_within_bounds(sqlite_store: Store) -> None:
    desk = await open_desk(sqlite_store)
    nonsense: list[Json] = [-1, 0, 1001, 2**80, True, False, "50", 1e308, 1.0, None, [], {}, float("nan")]
    for tool in ("channel_read", "channel_peek", "inbox_check"):
        for limit in nonsense:
            assert await desk.refused(OPERATOR, tool, limit=limit) == "INVALID_INPUT"
        for limit in (1, 1000):
            await desk.done(OPERATOR, tool, limit=limit)


async def test_arguments_of_the_wrong_shape_are_refused(sqlite_store: Store) -> None:
    desk = await open_desk(sqlite_store)
    shapes: list[dict[str, Json]] = [
        {},
        {"message": None},
        {"message": 1},
        {"message": ["hello"]},
        {"message": "hello", "to": {"ann": 1}},
        {"message": "hello", "to": [None]},
        {"message": "hello", "to": ["human"] * 1001},
        {"message": "hello", "to": ["human"] * 1_000_000},
        {"message": "hello", "to": ["x" * 201]},
        {"message": "hello", "kind": None},
        {"message": "hello", "reply_to": 7},
        {"message": "hello", "task_id": ""},
        {"message": "hello", "agent_id": 1},
    ]
    for shape in shapes:
        assert await desk.refused(OPERATOR, "channel_send", **shape) == "INVALID_INPUT", str(shape)[:80]
    assert await desk.said() == []


async def test_a_refusal_names_the_places_and_not_the_values(sqlite_store: Store) -> None:
    desk = await open_desk(sqlite_store)
    secret = "hunter2-" * 50
    answer = await desk.call(
        OPERATOR, "channel_send", {"message": 1, "to": [secret, 2], "kind": secret, "task_id": secret, "x": secret}
    )
    known = table.TOOLS["channel_send"].arguments.model_fields
    told = [
        "channel_send has 5 problems:",
        "  `to item 1` must not have more than 200 characters. Shorten it.",
        f"  `kind` must be one of {', '.join(get_args(Kind))}. Choose one of them.",
        "  `task_id` must not have more than 200 characters. Shorten it.",
        f"  `x` is no key of the arguments. Known are: {', '.join(sorted(known))}.",
        "  `message` must be text, not a number. Put it in quotes.",
    ]
    fact, remedy = "\n".join(told), "Mend them and try again."
    assert answer.text == f"INVALID_INPUT: {fact} {remedy}"
    assert answer.structured == {"error": {"code": "INVALID_INPUT", "message": fact, "remedy": remedy}}


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("channel_send", {}, "`message` is missing in the arguments. Add it."),
        ("channel_read", {"lmit": 5}, "`lmit` is no key of the arguments. Did you mean `limit`?"),
        ("channel_read", {"limit": -1}, "`limit` must be at least 1. Choose another number."),
        ("channel_read", {"limit": "50"}, "`limit` must be a whole number, not text. Write digits, without quotes."),
        ("channel_read", {"limit": True}, "`limit` must be a whole number, not true. Write digits, without quotes."),
        ("channel_read", {"since": []}, "`since` must be text or a whole number, not a list. Write it as one text."),
        ("channel_send", {"message": "x", "to": "ann"}, '`to` must be a list, not text. Write a list: ["one", "two"].'),
        ("inbox_check", {"wait_seconds": 51}, "`wait_seconds` must be at most 50. Choose another number."),
        (
            "workflow_set_plan",
            {"id": "wf_1", "plan": "x"},
            '`plan` must be keys and values, not text. Write an object: {"key": "value"}.',
        ),
    ],
)
async def test_wrong_arguments_are_told_in_our_words_with_a_remedy(
    sqlite_store: Store, tool: str, arguments: dict[str, Json], told: str
) -> None:
    desk = await open_desk(sqlite_store)
    answer = await desk.call(OPERATOR, tool, arguments)
    assert answer.text == f"INVALID_INPUT: {tool}: {told}"


async def test_a_great_many_wrong_arguments_are_a_short_answer(sqlite_store: Store) -> None:
    desk = await open_desk(sqlite_store)
    many: dict[str, Json] = {f"{number}" * 1000: number for number in range(10, 110)}
    answer = await desk.call(OPERATOR, "channel_peek", many)
    assert "and 80 more" in answer.text
    assert len(answer.text) < 10_000
    answer = await desk.call(OPERATOR, "workflow_list", {"status": [1] * 5000})
    assert answer.text.startswith("INVALID_INPUT: workflow_list has ")
    assert len(answer.text) < 200


async def test_a_fault_inside_a_tool_is_logged_and_answered_without_details(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk = await open_desk(sqlite_store)

    async def fail(*_: Any) -> Any:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setitem(table.TOOLS, "broken", replace(table.TOOLS["channel_peek"], name="broken", function=fail))
    with caplog.at_level(logging.ERROR, "moot.tools"):
        answer = await desk.call(OPERATOR, "broken")
    assert answer.is_error
    assert answer.text == "ERROR: The tool broken failed inside moot. The host's log has the details."
    assert "hunter2" in caplog.text


async def test_the_same_key_sends_once(store: Store) -> None:
    desk = await open_desk(store)
    first = await desk.call(OPERATOR, "channel_send", {"message": "once"}, key="k1")
    second = await desk.call(OPERATOR, "channel_send", {"message": "once"}, key="k1")
    assert first == second
    assert await desk.said() == ["human: once"]
    other = await desk.call(OPERATOR, "channel_send", {"message": "other"}, key="k1")
    assert other.text.startswith("KEY_REUSED: ")
    await desk.call(OPERATOR, "channel_send", {"message": "once"}, key="k2")
    await desk.call(OPERATOR, "channel_send", {"message": "once"})
    assert await desk.said() == ["human: once"] * 3


async def test_a_refused_call_does_not_use_up_its_key(store: Store) -> None:
    desk = await open_desk(store)
    arguments: dict[str, Json] = {"message": "hello", "to": ["ann"]}
    assert (await desk.call(OPERATOR, "channel_send", arguments, key="k1")).is_error
    await desk.house.join("ann")
    assert (await desk.call(OPERATOR, "channel_send", arguments, key="k1")).text == "sent"


async def test_a_question_about_this_moment_is_answered_anew_under_the_same_key(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    seen: list[object] = []
    for body in ("m1", "m2"):
        await desk.house.post(body, ann)
        inbox = await desk.call(member(ann), "inbox_check", key="k1")
        beat = await desk.call(member(ann), "agent_heartbeat", key="k2")
        assert isinstance(inbox.structured["messages"], list)
        seen += [len(inbox.structured["messages"]), beat.structured["unread"]]
    assert seen == [1, 1, 2, 2]
    assert await desk.house.unread(ann) == ["delivered m1", "delivered m2"]
