"""Claude Code's command line and events, as the real one was seen to take and print them."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from moot.backends.backend import Called, Conversation, Failure, Usage, Warned, Wrote
from moot.backends.programs.claude_reader import ClaudeReader
from moot.backends.programs.counting import Tariff
from moot.backends.programs.launch import Spoken
from moot.core.permissions import PRESETS, Permissions
from moot.core.prices import UNKNOWN, Rates
from tests.backends.programs.cast import CLAUDE, REPLAY, Role, cast, claude_init, claude_result
from tests.backends.programs.stage import FULL, Stage, play

TOOLS = "mcp__moot__*"
EDIT, SHELL = "Edit,MultiEdit,NotebookEdit,Write", "Bash,BashOutput,KillShell,Monitor,PowerShell"
NETWORK = "WebFetch,WebSearch"


def read(*events: Any, before: Conversation | None = None) -> tuple[ClaudeReader, list[Spoken]]:
    reader = ClaudeReader("s-1", before, Tariff("anthropic"))
    reader.say("hello")
    return reader, [told for event in events for told in reader.read(event)]


INIT, TAKEN = claude_init()["print"], REPLAY["print"]


def result(**more: Any) -> dict[str, Any]:
    event: dict[str, Any] = claude_result("done", **more)["print"]
    return event


async def arguments(place: Stage, permissions: Permissions) -> list[str]:
    role: Role = cast(CLAUDE, place.root, [*CLAUDE.opening, *CLAUDE.ending("done")])
    manner = role.manner(replace(FULL, permissions=permissions))
    given = await place.assignment(manner=manner, system_prompt="Be kind.")
    _, ended = await play(role.backend, given)
    assert ended.failure is None, ended.error
    return role.seen()["argv"]


@pytest.mark.parametrize(
    ("permissions", "allowed", "denied"),
    [
        (PRESETS["full"], f"{TOOLS},{EDIT},{SHELL},{NETWORK}", None),
        (PRESETS["edit"], TOOLS, None),  # editing is for the workspace alone
        (PRESETS["ask"], TOOLS, None),
        (PRESETS["read-only"], TOOLS, f"{EDIT},{SHELL},{NETWORK}"),
        (Permissions("deny", "ask", "allow"), f"{TOOLS},{NETWORK}", EDIT),
    ],
    ids=["full", "edit", "ask", "read-only", "mixed"],
)
async def test_permissions_become_rules(
    place: Stage, permissions: Permissions, allowed: str, denied: str | None
) -> None:
    argv = await arguments(place, permissions)
    assert argv[argv.index("--allowedTools") + 1] == allowed
    assert (argv[argv.index("--disallowedTools") + 1] if denied else None) == denied
    assert ("--disallowedTools" in argv) == (denied is not None)
    assert ("mcp__moot__approve" in argv) == permissions.asks
    assert argv[argv.index("--permission-mode") + 1] == "default"


@pytest.mark.parametrize(
    ("permissions", "kinds"),
    [
        (PRESETS["edit"], (EDIT, SHELL, NETWORK)),
        (PRESETS["read-only"], ()),
        (Permissions("allow", "deny", "ask"), (EDIT, NETWORK)),
    ],
    ids=["edit", "read-only", "mixed"],
)
async def test_a_restricted_one_has_no_tools_but_those_that_we_know(
    place: Stage, permissions: Permissions, kinds: tuple[str, ...]
) -> None:
    argv = await arguments(place, permissions)
    found = argv[argv.index("--tools") + 1].split(",")
    may = [name for kind in kinds for name in kind.split(",")]
    assert found[len(found) - len(may) :] == may
    assert {"Read", "Grep"} <= set(found[: len(found) - len(may)])
    assert {"EnterWorktree", "CronCreate", "Workflow", *f"{EDIT},{SHELL},{NETWORK}".split(",")} & set(found) == {*may}


async def test_one_that_may_do_everything_has_all_its_tools(place: Stage) -> None:
    assert "--tools" not in await arguments(place, PRESETS["full"])


async def test_at_signs_name_no_files(place: Stage) -> None:
    role: Role = cast(CLAUDE, place.root, [*CLAUDE.opening, *CLAUDE.ending("done")])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner(), prompt="Look at @/etc/passwd."))
    assert ended.failure is None, ended.error
    assert "Look at \\\\@/etc/passwd." in role.seen()["stdin"]
    assert b"bob\\\\@/etc" in ClaudeReader("s-1", None, Tariff("anthropic")).say("bob@/etc")


@pytest.mark.parametrize(
    ("permissions", "users", "rules"),
    [
        (PRESETS["ask"], None, {"ask": []}),
        (
            PRESETS["ask"],
            '{"permissions": {"allow": ["Bash(ls *)", "Read", "Write", 3]}}',
            {"ask": ["Bash(ls *)", "Write"]},
        ),
        (PRESETS["ask"], '{"permissions": {"allow": ["*"]}}', {"ask": f"{EDIT},{SHELL},{NETWORK}".split(",")}),
        (PRESETS["ask"], "{ // a comment", {"ask": f"{EDIT},{SHELL},{NETWORK}".split(",")}),
        (
            PRESETS["edit"],
            '{"permissions": {"allow": ["Bash", "Write"]}}',
            {"allow": ["Edit(./**)"], "ask": ["Bash"]},
        ),
        (PRESETS["read-only"], '{"permissions": {"allow": ["Bash"]}}', {}),
    ],
    ids=["none", "as they are", "of everything", "not readable", "only what is asked for", "nothing is asked for"],
)
async def test_what_the_user_allows_is_asked_for_all_the_same(
    place: Stage, permissions: Permissions, users: str | None, rules: dict[str, list[str]]
) -> None:
    role: Role = cast(CLAUDE, place.root, [*CLAUDE.opening, *CLAUDE.ending("done")])
    if users is not None:
        (place.root / "home" / ".claude").mkdir()
        (place.root / "home" / ".claude" / "settings.json").write_text(users)
    given = await place.assignment(manner=role.manner(replace(FULL, permissions=permissions)))
    _, ended = await play(role.backend, given)
    assert ended.failure is None, ended.error
    seen = role.seen()
    ours = json.loads(seen["files"]["settings.json"])
    assert ours["disableAllHooks"] is True
    assert ours["permissions"] == rules
    assert seen["argv"][seen["argv"].index("--setting-sources") + 1] == "user"


async def test_another_address_gets_no_settings_and_no_headers_of_the_user(place: Stage) -> None:
    headers = {"ANTHROPIC_CUSTOM_HEADERS": "X-Company: secret", "CLAUDE_CODE_USE_BEDROCK": "1"}
    role: Role = cast(CLAUDE, place.root, [*CLAUDE.opening, *CLAUDE.ending("done")], None, **headers)
    elsewhere = replace(role.manner(), base_url="http://127.0.0.1:1", env=("ANTHROPIC_API_KEY",))
    _, ended = await play(role.backend, await place.assignment(manner=elsewhere))
    assert ended.failure is None, ended.error
    seen = role.seen()
    assert headers.keys() & seen["env"].keys() == set()
    assert seen["argv"][seen["argv"].index("--setting-sources") + 1] == ""
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()))
    assert headers.items() <= role.seen()["env"].items()
    assert "--setting-sources" not in role.seen()["argv"]


async def test_the_token_is_named_and_not_written(place: Stage) -> None:
    role = cast(CLAUDE, place.root, [*CLAUDE.opening, *CLAUDE.ending("done")])
    given = await place.assignment(manner=role.manner(), system_prompt="Be kind.")
    await play(role.backend, given)
    files = role.seen()["files"]
    assert files["system-prompt.md"] == "Be kind."
    assert '"Authorization":"Bearer ${MOOT_TOKEN}"' in files["mcp.json"]
    assert given.access.url in files["mcp.json"]
    assert '"alwaysLoad":true' in files["mcp.json"]  # else it would have to search for our tools
    assert {oct(file.stat().st_mode & 0o777) for file in Path(given.folder).glob("*.*")} == {"0o600"}


def test_tools_are_told_by_name_and_outcome() -> None:
    use = [{"type": "tool_use", "id": "1", "name": "mcp__moot__vote"}, {"type": "tool_use", "id": "2", "name": "Bash"}]
    answers = [
        {"type": "tool_result", "tool_use_id": "2", "is_error": True},
        {"type": "tool_result", "tool_use_id": "1"},
    ]
    usage = {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 2}
    _, told = read(
        {"type": "assistant", "message": {"id": "m", "content": use[:1], "usage": usage}},
        {"type": "assistant", "message": {"id": "m", "content": use[1:], "usage": usage}},
        {"type": "user", "message": {"content": answers}},
        {"type": "assistant", "message": {"id": "n", "content": [{"type": "text", "text": "so"}], "usage": {}}},
    )
    assert told == [
        Usage(8, 2, 1, UNKNOWN.cost(8, 2, 3), is_estimated=True),
        Called("Bash", is_error=True),
        Called("vote"),
        Wrote("so"),
        Usage(turns=1, is_estimated=True),
    ]


def test_it_is_over_when_everything_it_was_sent_is_answered() -> None:
    reader, _ = read(INIT, TAKEN, result())
    assert reader.is_over
    reader.say("one more")
    assert not reader.is_over
    list(reader.read(INIT))
    assert reader.outcome() is None
    list(reader.read(TAKEN))
    list(reader.read(result()))
    assert reader.is_over


def test_messages_that_it_takes_together_are_all_taken() -> None:
    reader, _ = read(INIT, TAKEN)
    reader.say("second")
    reader.say("third")
    list(reader.read(result()))
    assert not reader.is_over
    both = [{"type": "text", "text": "second"}, {"type": "text", "text": "third"}]
    events: list[Any] = [INIT, {"type": "user", "message": {"content": both}, "isReplay": True}, result()]
    assert [list(reader.read(event)) for event in events] == [[], [], []]
    assert reader.is_over


def test_what_was_used_is_counted_from_the_last_attempt() -> None:
    before = Conversation("s-1", Usage(60, 15, 3, 0.25))
    reader, _ = read(INIT, TAKEN, result(num_turns=2), before=before)
    found = reader.outcome()
    assert found is not None
    assert found.usage == Usage(40, 5, 2, 0.25)
    assert found.conversation == Conversation("s-1", Usage(100, 20, 5, 0.5))


def test_what_is_cut_short_has_cost_what_its_messages_did() -> None:
    used = {"input_tokens": 600, "cache_read_input_tokens": 400, "output_tokens": 50}
    message: dict[str, Any] = {"id": "m-1", "model": "claude-sonnet-4-5", "usage": used, "content": []}
    reader, told = read(INIT, TAKEN, {"type": "assistant", "message": message})
    assert told == [Usage(1000, 50, 1, Rates(3.0, 15.0, 0.3).cost(1000, 50, 400), is_estimated=True)]
    assert (reader.outcome(), reader.used()) == (None, told[0])


@pytest.mark.parametrize(
    ("more", "cause", "failure"),
    [
        ({"api_error_status": 400}, "unknown", "refused"),
        ({"api_error_status": 401}, "authentication_failed", "auth"),
        ({"api_error_status": 403}, "authentication_failed", "auth"),
        ({"api_error_status": 404}, "model_not_found", "refused"),
        ({"api_error_status": 429}, "rate_limit", "rate_limit"),
        ({"api_error_status": 529}, "server_error", "unavailable"),
        ({"api_error": "connection_failed"}, "server_error", "unavailable"),
        ({}, "authentication_failed", "auth"),
        ({}, "", "error"),
        ({"subtype": "error_max_turns"}, "", "limit"),
        ({"subtype": "error_max_budget_usd"}, "", "limit"),
        ({"subtype": "error_during_execution", "errors": ["it broke"]}, "", "error"),
    ],
)
def test_an_error_is_told_as_what_it_is(more: dict[str, Any], cause: str, failure: Failure) -> None:
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "API Error"}]}, "error": cause}
    reader, _ = read(INIT, said, result(is_error=True, result="API Error", **more))
    found = reader.outcome()
    assert found is not None
    assert (found.failure, found.text) == (failure, "")
    assert found.error == ("it broke" if "errors" in more else "API Error")
    assert reader.is_over


@pytest.mark.parametrize(
    ("said", "told", "failure"),
    [
        ("Your credit balance is too low to access the API", [], "refused"),
        ("Claude usage limit reached.", [], "refused"),
        ("Claude usage limit reached. Your limit will reset at 3pm.", [], "rate_limit"),
        ("Claude AI usage limit reached|1794806400", [], "rate_limit"),
        ("Claude usage limit reached.", [2_000_000_000], "rate_limit"),
        ("Slow down.", [], "rate_limit"),
    ],
)
def test_an_account_that_is_used_up_is_not_waited_for(said: str, told: list[int], failure: Failure) -> None:
    limits = [{"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": at}} for at in told]
    reader, _ = read(INIT, *limits, result(is_error=True, result=said, api_error_status=429))
    found = reader.outcome()
    assert found is not None
    assert found.failure == failure


@pytest.mark.parametrize(
    ("at", "moment"),
    [
        (2_000_000_000, datetime.fromtimestamp(2_000_000_000, UTC)),
        (2_000_000_000_000, datetime.fromtimestamp(2_000_000_000, UTC)),
        (1e300, None),
        (-5, None),
        ("soon", None),
    ],
    ids=["seconds", "milliseconds", "never", "before", "in words"],
)
def test_until_when_to_wait_is_passed_on(at: Any, moment: datetime | None) -> None:
    limited = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": at}}
    reader, _ = read(INIT, limited, result(is_error=True, api_error_status=429))
    found = reader.outcome()
    assert found is not None
    assert found.wait_until == moment


@pytest.mark.parametrize(
    ("line", "failure", "text"),
    [
        ('"result":"half \\ud83d of it"', None, "half \ufffd of it"),
        ('"result":"ok","ttft":NaN,"total_cost_usd":1e400', None, "ok"),
        ('"result":"cut off', "error", ""),
    ],
    ids=["half a character", "no number", "not whole"],
)
async def test_an_end_that_cannot_be_read_is_an_end(
    place: Stage, line: str, failure: Failure | None, text: str
) -> None:
    end = f'{{"type":"result","subtype":"success","is_error":false,{line}'
    whole = end if failure else end + "}"
    role = cast(CLAUDE, place.root, [*CLAUDE.opening, {"raw": whole + "\n"}, {"read_all": True}])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()), seconds=20)
    assert (ended.failure, ended.text) == (failure, text)
    assert ("could not be read" in ended.error) == (failure is not None)


def test_a_denial_is_a_warning() -> None:
    _, told = read(INIT, TAKEN, result(permission_denials=[{"tool_name": "Write"}]))
    assert told == [Warned("claude was not permitted to use Write.")]


@pytest.mark.parametrize(("status", "is_hopeless"), [("connected", False), ("pending", False), ("failed", True)])
def test_without_our_server_there_is_no_hope(status: str, is_hopeless: bool) -> None:
    reader, _ = read(claude_init(status)["print"])
    assert reader.is_hopeless == is_hopeless
    reader, _ = read({"type": "system", "subtype": "init", "mcp_servers": []})
    assert reader.is_hopeless
