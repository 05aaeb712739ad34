"""Codex's command line and events, as the real one was seen to take and print them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.backends.backend import Called, Conversation, Failure, Usage, Warned, Wrote
from moot.backends.programs import codex
from moot.backends.programs.codex import CodexReader
from moot.backends.programs.counting import Tariff
from moot.backends.programs.launch import Spoken
from moot.core.permissions import PRESETS, Permissions
from moot.core.prices import UNKNOWN, Rates
from tests.backends.programs.cast import CODEX, KEY, cast
from tests.backends.programs.stage import FULL, Stage, play


def read(folder: Path, *events: Any, before: Conversation | None = None) -> tuple[CodexReader, list[Spoken]]:
    reader = CodexReader(before, folder / "last-message.md", Tariff("openai", "gpt-5"))
    return reader, [told for event in events for told in reader.read(event)]


def item(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"type": kind, **more}}


DONE = {"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 10, "output_tokens": 20}}


@pytest.mark.parametrize(
    ("permissions", "mode", "has_shell", "has_web"),
    [
        (PRESETS["full"], "danger-full-access", True, True),
        (PRESETS["edit"], "workspace-write", False, False),
        (PRESETS["ask"], "read-only", False, False),
        (PRESETS["read-only"], "read-only", False, False),
        (Permissions("allow", "allow", "deny"), "workspace-write", True, False),
        (Permissions("deny", "allow", "allow"), "read-only", True, True),
    ],
)
async def test_permissions_become_a_sandbox(
    place: Stage, permissions: Permissions, mode: str, has_shell: bool, has_web: bool
) -> None:
    role = cast(CODEX, place.root, [*CODEX.opening, *CODEX.ending("done")])
    manner = role.manner(replace(FULL, permissions=permissions))
    told, ended = await play(role.backend, await place.assignment(manner=manner))
    assert ended.failure is None, ended.error
    argv = role.seen()["argv"]
    assert argv[argv.index("-s") + 1] == mode
    assert ("--ignore-rules" in argv) == (mode != "danger-full-access")
    assert ("shell_tool" not in argv) == has_shell
    assert ('web_search="disabled"' not in argv) == has_web
    assert any(isinstance(one, Warned) for one in told) == permissions.asks
    assert argv[-1] == "-"


@pytest.mark.parametrize("is_isolated", [False, True])
async def test_a_key_of_openai_is_passed_on_where_there_is_no_login(place: Stage, is_isolated: bool) -> None:
    role = cast(CODEX, place.root, [*CODEX.opening, *CODEX.ending("done")])
    manner = role.manner(replace(FULL, is_isolated=is_isolated))
    await play(role.backend, await place.assignment(manner=manner))
    assert role.seen()["env"]["CODEX_API_KEY"] == KEY


async def test_a_login_goes_before_a_key_of_openai(place: Stage) -> None:
    role = cast(CODEX, place.root, [*CODEX.opening, *CODEX.ending("done")])
    login = place.root / "home" / ".codex" / "auth.json"
    login.parent.mkdir()
    login.touch()
    await play(role.backend, await place.assignment(manner=role.manner()))
    assert "CODEX_API_KEY" not in role.seen()["env"]


async def test_our_server_is_required_and_approved(place: Stage) -> None:
    role = cast(CODEX, place.root, [*CODEX.opening, *CODEX.ending("done")])
    given = await place.assignment(manner=role.manner(), system_prompt="Be kind.", prompt="Begin.")
    await play(role.backend, given)
    (server,) = [word for word in role.seen()["argv"] if word.startswith("mcp_servers.moot=")]
    assert f'url="{given.access.url}"' in server
    for setting in ('bearer_token_env_var="MOOT_TOKEN"', "required=true", 'default_tools_approval_mode="approve"'):
        assert setting in server
    assert role.seen()["stdin"] == "<instructions>\nBe kind.\n</instructions>\n\nBegin."
    assert "--ephemeral" in role.seen()["argv"]


async def test_a_thread_is_resumed_by_its_id(place: Stage) -> None:
    role = cast(CODEX, place.root, [*CODEX.opening, *CODEX.ending("done")])
    manner = role.manner(replace(FULL, keeps_conversation=True))
    before = Conversation("t-1", Usage(60, 5, 1, cost=0.0004))
    _, ended = await play(role.backend, await place.assignment(manner=manner, conversation=before))
    assert role.seen()["argv"][-3:] == ["resume", "t-1", "-"]
    whole = UNKNOWN.cost(100, 20)  # of a model that nobody has named
    assert ended.usage == Usage(40, 15, 1, whole - 0.0004, is_estimated=True)
    assert ended.conversation == Conversation("t-1", Usage(100, 20, 2, whole, is_estimated=True))


def test_items_are_told(tmp_path: Path) -> None:
    reader, told = read(
        tmp_path,
        {"type": "thread.started", "thread_id": "t-9"},
        item("mcp_tool_call", tool="vote", status="completed"),
        item("mcp_tool_call", tool="vote", status="failed", error={"message": "no"}),
        item("command_execution", exit_code=1, status="completed"),
        item("file_change", status="completed"),
        item("error", message="metadata"),
        {"type": "error", "message": "Reconnecting... 1/5"},
        item("agent_message", text="so be it"),
        DONE,
    )
    assert told == [
        Called("vote"),
        Called("vote", is_error=True),
        Called("shell", is_error=True),
        Called("edit"),
        Warned("codex: metadata"),
        Warned("codex: Reconnecting... 1/5"),
        Wrote("so be it"),
    ]
    found = reader.outcome()
    assert found is not None
    cost = Rates(1.25, 10.0, 0.125).cost(100, 20, 10)
    assert (found.failure, found.text) == (None, "so be it")
    assert found.usage == Usage(100, 20, 1, cost, is_estimated=True)
    (tmp_path / "last-message.md").write_text("the last\n")
    found = reader.outcome()
    assert found is not None
    assert found.text == "the last"


@pytest.mark.parametrize(
    ("message", "failure"),
    [
        ('{"error": {"type": "invalid_request_error", "message": "no"}}', "refused"),
        ("unexpected status 401 Unauthorized: no, url: http://127.0.0.1/v1/responses", "auth"),
        ("unexpected status 404 Not Found: no", "refused"),
        ("The model `gpt-9` does not exist or you do not have access to it.", "refused"),
        ("Model metadata for `gpt-5` not found. Defaulting to fallback metadata", "error"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limit"),
        ("You've hit your usage limit. Upgrade to Pro, or try again at Nov 20th, 2026 3:14 PM.", "rate_limit"),
        ("You've hit your usage limit. Try again in 3 days 4 hours.", "rate_limit"),
        ("You've hit your usage limit. Try again later.", "refused"),
        ("last status: 429 Too Many Requests: insufficient_quota", "refused"),
        ("We’re currently experiencing high demand, which may cause temporary errors.", "unavailable"),
        ("stream disconnected before completion: error sending request", "unavailable"),
        ("something else", "error"),
    ],
)
def test_a_failed_turn_is_told_as_what_it_is(tmp_path: Path, message: str, failure: Failure) -> None:
    reader, _ = read(tmp_path, {"type": "turn.failed", "error": {"message": message}})
    found = reader.outcome()
    assert found is not None
    assert (found.failure, found.error, reader.is_over) == (failure, message, True)


@pytest.mark.parametrize(
    "place", ["codex/vendor", "codex-linux-x64/vendor", "codex/node_modules/@openai/codex-x/vendor"]
)
def test_the_binary_behind_the_wrapper_is_found(tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    wrapper = tmp_path / "@openai" / "codex" / "bin" / "codex.js"
    binary = tmp_path / "@openai" / place / "x86_64-unknown-linux-musl" / "bin" / "codex"
    for file in (wrapper, binary):
        file.parent.mkdir(parents=True)
        file.touch()
    link = tmp_path / "codex"
    link.symlink_to(wrapper)
    assert codex.native(link) == binary
    assert codex.native(binary) is None
