"""The permission prompt: what may be done without asking, what a person decides, and what nobody is there to decide."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from moot.core.caller import SYSTEM, Caller
from moot.core.ids import HostId
from moot.core.json import Json
from moot.core.permissions import PRESETS, Answer, Permissions
from moot.core.tx import Tx
from moot.registry import agents, attempts, hosts, runs
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.registry.runs import Mode, NewRun
from moot.requests import requests
from moot.store.store import Store
from moot.tools import approving, table
from tests.tools.desk import OPERATOR, Desk, member, open_desk
from tests.tools.team import TeamDesk, open_team

COMMAND = {"command": "rm -rf build\nmake", "description": "Build anew"}
DEADLINE = 30.0


async def coder(desk: Desk, permissions: Permissions = PRESETS["ask"]) -> Caller:
    """An attempt of an agent with these permissions, that is offered the tool."""
    said: dict[str, Json] = {"edit": permissions.edit, "shell": permissions.shell, "network": permissions.network}
    new = NewAgent("coder", backend="claude", settings={"permissions": said})
    agent = await desk.house.write(lambda tx: agents.ensure(tx, desk.house.instance, new))
    attempt = await desk.attempt(agent)
    return replace(member(agent, attempt=attempt.id, fence=1), groups=("channel", "approve"))


async def ask(desk: Desk, caller: Caller, tool: str = "Bash", **given: Json) -> dict[str, Any]:
    """The one text of the answer, read as the program reads it."""
    arguments: dict[str, Json] = {"tool_name": tool, "input": given or COMMAND, "tool_use_id": "toolu_1"}
    async with asyncio.timeout(DEADLINE):
        answer = await desk.call(caller, "approve", arguments)
    assert (answer.is_error, answer.is_text_only, answer.structured) == (False, True, {}), answer
    found: dict[str, Any] = json.loads(answer.text)
    return found


async def opened(desk: Desk) -> str:
    """The id of the request, once there is one."""
    async with asyncio.timeout(DEADLINE):
        with desk.house.store.listen() as signal:
            while True:
                signal.clear()
                found = await desk.house.read(lambda tx: requests.open_of(tx, desk.house.stream))
                if found:
                    return found[0].id
                await signal.wait()


async def begin_run(desk: Desk, *roles: str, mode: Mode = "run", notify: Json = None) -> None:
    def change(tx: Tx) -> None:
        host = hosts.register(tx, NewHost("here", "1:1", roles))
        runs.start(tx, desk.house.instance, NewRun("x", "x.yaml", mode, {"notify": notify}, {}, HostId(host)))

    await desk.house.store.write(change, caller=SYSTEM)


@pytest.mark.parametrize(
    ("permissions", "tool", "answer"),
    [
        (PRESETS["edit"], "Edit", "ask"),  # its program asks although it may
        (PRESETS["edit"], "Write", "ask"),
        (PRESETS["edit"], "NotebookEdit", "ask"),
        (PRESETS["full"], "Write", "allow"),
        (Permissions("allow", "deny", "deny"), "Write", "deny"),
        (PRESETS["edit"], "Bash", "ask"),
        (PRESETS["edit"], "WebFetch", "ask"),
        (Permissions("ask", "allow", "deny"), "Bash", "ask"),
        (Permissions("ask", "allow", "deny"), "WebSearch", "deny"),
        (PRESETS["full"], "WebFetch", "allow"),
        (PRESETS["full"], "mcp__other__thing", "allow"),
        (PRESETS["read-only"], "Edit", "deny"),
        (PRESETS["read-only"], "mcp__other__thing", "deny"),
        (PRESETS["ask"], "mcp__other__thing", "ask"),
        (Permissions("allow", "allow", "deny"), "mcp__other__thing", "deny"),
        (PRESETS["read-only"], "mcp__moot__channel_send", "allow"),
    ],
)
def test_permissions_decide_where_they_can(permissions: Permissions, tool: str, answer: Answer) -> None:
    assert approving.verdict(permissions, tool) == answer


async def test_what_is_permitted_or_not_is_answered_at_once_and_asks_nobody(store: Store) -> None:
    desk = await open_desk(store)
    caller = await coder(desk, PRESETS["full"])
    assert await ask(desk, caller, "Edit", file_path="a") == {"behavior": "allow", "updatedInput": {"file_path": "a"}}
    caller = await coder(desk, Permissions("allow", "deny", "ask"))
    assert await ask(desk, caller) == {"behavior": "deny", "message": "coder has no permission for Bash."}
    assert await desk.done(OPERATOR, "request_list", state="all") == {"requests": []}


async def test_the_person_is_asked_and_the_call_holds_until_the_answer(store: Store) -> None:
    desk = await open_desk(store)
    caller = await coder(desk)
    holding = asyncio.ensure_future(ask(desk, caller))
    id = await opened(desk)
    (request,) = (await desk.done(OPERATOR, "request_list"))["requests"]
    assert (request["type"], request["from"], request["to"]) == ("permission", "coder", "human")
    assert request["title"] == "Bash: rm -rf build make"
    assert json.loads(request["body"]) == COMMAND
    assert not holding.done()
    await desk.done(OPERATOR, "request_respond", request_id=id, approve=True)
    assert await holding == {"behavior": "allow", "updatedInput": COMMAND}


async def test_a_denial_comes_with_its_reason(store: Store) -> None:
    desk = await open_desk(store)
    caller = await coder(desk)
    holding = asyncio.ensure_future(ask(desk, caller))
    id = await opened(desk)
    await desk.done(OPERATOR, "request_respond", request_id=id, approve=False, answer="not on a Friday")
    assert await holding == {"behavior": "deny", "message": f"This was denied by human: not on a Friday ({id})"}


@pytest.mark.parametrize("is_approved", [True, False])
async def test_who_was_answered_does_not_get_the_answer_as_mail_too(store: Store, is_approved: bool) -> None:
    desk = await open_desk(store)
    caller = await coder(desk)
    holding = asyncio.ensure_future(ask(desk, caller))
    await desk.done(OPERATOR, "request_respond", request_id=await opened(desk), approve=is_approved)
    await holding
    agent = await desk.house.read(lambda tx: agents.named(tx, desk.house.stream, "coder"))
    assert await desk.house.unread(agent) == []


async def test_an_approval_counts_once_and_for_exactly_what_was_asked(store: Store) -> None:
    desk = await open_desk(store)
    caller = await coder(desk)
    first = asyncio.ensure_future(ask(desk, caller))
    await desk.done(OPERATOR, "request_respond", request_id=await opened(desk), approve=True)
    assert (await first)["behavior"] == "allow"
    for given in (COMMAND, {"command": "rm -rf /"}):
        again = asyncio.ensure_future(ask(desk, caller, **given))
        await desk.done(OPERATOR, "request_respond", request_id=await opened(desk), approve=False)
        assert (await again)["behavior"] == "deny"


async def test_an_approval_that_came_too_late_is_found_by_the_same_asked_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approving, "HOLD_SECONDS", 0.01)
    desk = await open_desk(store)
    caller = await coder(desk)
    denied = await ask(desk, caller)
    id = await opened(desk)
    assert denied["behavior"] == "deny"
    assert denied["message"].startswith("Nobody has answered in")
    assert f"moot approve {id}" in denied["message"]
    assert f"moot approve {id}" in (await ask(desk, caller))["message"]  # the same request, not a second one
    await desk.done(OPERATOR, "request_respond", request_id=id, approve=True)
    agent = await desk.house.read(lambda tx: agents.named(tx, desk.house.stream, "coder"))
    assert await desk.house.unread(agent) == [f"queued [APPROVED:{id}] Bash: rm -rf build make"]  # it is woken
    assert (await ask(desk, caller, command="rm -rf /"))["behavior"] == "deny"  # it is for exactly what was asked
    assert (await ask(desk, caller, "PowerShell"))["behavior"] == "deny"
    assert (await ask(desk, caller))["behavior"] == "allow"
    assert (await ask(desk, caller))["behavior"] == "deny"
    assert await opened(desk) != id


async def test_without_anybody_to_ask_it_is_denied_at_once_and_the_request_stays(store: Store) -> None:
    desk = await open_desk(store)
    caller = await coder(desk)
    await begin_run(desk, "run")
    denied = await ask(desk, caller)
    id = await opened(desk)
    assert denied == {
        "behavior": "deny",
        "message": f"Nobody is there to permit Bash, so it is not allowed. The request {id} stays open: after moot "
        f"approve {id} it may be tried again.",
    }
    await desk.done(OPERATOR, "request_respond", request_id=id, approve=True)
    assert (await ask(desk, caller))["behavior"] == "allow"


@pytest.mark.parametrize(
    ("roles", "mode", "notify"),
    [(("run", hosts.ASKS), "run", None), (("run",), "start", None), (("run",), "run", {"shell": "mail me"})],
)
async def test_somebody_who_can_be_asked_is_waited_for(
    store: Store, roles: tuple[str, ...], mode: Mode, notify: Json
) -> None:
    desk = await open_desk(store)
    caller = await coder(desk)
    await begin_run(desk, *roles, mode=mode, notify=notify)
    holding = asyncio.ensure_future(ask(desk, caller))
    await desk.done(OPERATOR, "request_respond", request_id=await opened(desk), approve=True)
    assert (await holding)["behavior"] == "allow"


async def test_an_attempt_that_has_ended_is_denied_in_words(store: Store) -> None:
    desk = await open_desk(store)
    caller = await coder(desk)
    attempt = caller.attempt
    assert attempt is not None
    await desk.house.write(lambda tx: attempts.end(tx, attempt, "lost"))
    late = await ask(desk, caller)
    assert (late["behavior"], "attempt has ended" in late["message"]) == ("deny", True)


async def test_only_who_is_to_ask_is_offered_it(store: Store) -> None:
    desk = await open_desk(store)
    caller = await coder(desk)
    assert "approve" in {tool.name for tool in table.offered(caller)}
    for other in (OPERATOR, replace(caller, groups=None), replace(caller, groups=("requests",))):
        assert "approve" not in {tool.name for tool in table.offered(other)}
        assert await desk.refused(other, "approve", tool_name="Bash", input={}) == "NOT_ALLOWED"


async def test_more_than_is_needed_may_be_told(store: Store) -> None:
    desk = await open_desk(store)
    caller = await coder(desk, PRESETS["full"])
    answer = await desk.call(caller, "approve", {"tool_name": "Bash", "input": {"command": "ls"}, "suggestions": []})
    assert json.loads(answer.text) == {"behavior": "allow", "updatedInput": {"command": "ls"}}


async def held(team: TeamDesk) -> Caller:
    """An attempt of a worker whose program asks."""
    attempt = await team.desk.attempt(team.members["worker-1"])
    caller = member(team.members["worker-1"], attempt=attempt.id, fence=1)
    return replace(caller, groups=("channel", "approve"))


@pytest.mark.parametrize("by", ["lead", "human"])
async def test_in_a_team_the_lead_from_outside_permits_and_so_does_the_terminal(store: Store, by: str) -> None:
    team = await open_team(store)
    await begin_run(team.desk)
    await team.join("lead")
    holding = asyncio.ensure_future(ask(team.desk, await held(team)))
    id = await opened(team.desk)
    (request,) = (await team.desk.done(team["lead"], "request_list"))["requests"]
    assert (request["type"], request["from"], request["to"]) == ("permission", "worker-1", "lead")
    assert (await team.desk.house.unread(team.members["lead"]))[0].startswith(f"queued [REQUEST:{id}] Bash: rm")
    for name in ("worker-2", "reviewer-1"):
        assert await team.desk.refused(team[name], "request_respond", request_id=id, approve=True) == "NOT_ADDRESSEE"
    answerer = team["lead"] if by == "lead" else OPERATOR
    await team.desk.done(answerer, "request_respond", request_id=id, approve=True)
    assert await holding == {"behavior": "allow", "updatedInput": COMMAND}
    kinds = [one["kind"] for one in (await team.desk.done(OPERATOR, "channel_read"))["entries"]]
    assert kinds[-2:] == ["permission_request", "permission_response"]


async def test_what_the_lead_permitted_is_not_good_for_another_command(store: Store) -> None:
    team = await open_team(store)
    caller = await held(team)
    holding = asyncio.ensure_future(ask(team.desk, caller, command="make"))
    id = await opened(team.desk)
    await team.desk.done(team["lead"], "request_respond", request_id=id, approve=True)
    assert (await holding)["behavior"] == "allow"
    other = asyncio.ensure_future(ask(team.desk, caller, command="make install"))
    second = await opened(team.desk)
    assert second != id
    await team.desk.done(team["lead"], "request_respond", request_id=second, approve=False, answer="not here")
    assert (await other)["message"] == f"This was denied by lead: not here ({second})"


async def test_a_lead_that_moot_starts_is_not_asked_for_permission(store: Store) -> None:
    team = await open_team(store, "scripted")
    holding = asyncio.ensure_future(ask(team.desk, await held(team)))
    id = await opened(team.desk)
    (request,) = (await team.desk.done(OPERATOR, "request_list"))["requests"]
    assert request["to"] == "human"
    assert await team.desk.refused(team["lead"], "request_respond", request_id=id, approve=True) == "NOT_ADDRESSEE"
    await team.desk.done(OPERATOR, "request_respond", request_id=id, approve=False)
    assert (await holding)["behavior"] == "deny"


async def test_where_neither_lead_nor_terminal_is_there_nobody_is_waited_for(store: Store) -> None:
    team = await open_team(store)
    await begin_run(team.desk)
    denied = await ask(team.desk, await held(team))
    assert "Nobody is there to permit Bash" in denied["message"]
