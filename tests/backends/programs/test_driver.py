"""What the driver does with every program, played by stand-ins: outcomes, limits, mail, secrets, and clean endings."""

import asyncio
import json
import os
import signal
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from moot.backends.backend import Conversation, Letter, Manner, Usage, Warned, Wrote
from moot.backends.programs import known, telling
from moot.backends.programs.driver import Limits
from moot.core import quota
from moot.core.permissions import PRESETS
from moot.process import tree
from tests.backends.letters import letter
from tests.backends.programs.cast import (
    ALL,
    CLAUDE,
    CODEX,
    CURSOR,
    KEY,
    REPLAY,
    Part,
    Role,
    Step,
    cast,
    claude_init,
    claude_result,
)
from tests.backends.programs.stage import Stage, play

EACH = pytest.mark.parametrize("part", ALL, ids=lambda part: part.name)
STRANGE = "ünï 日本語 🦊 \u202e 'q' \"d\" $HOME `ls` \\n"
CUT: list[tuple[str, Step, str, str]] = [
    ("silence", {"exit": 0}, "no_result", "ended with exit code 0 and did not say how it went"),
    ("exit code", {"exit": 3}, "no_result", "ended with exit code 3 and did not say how it went"),
    ("SIGSEGV", {"signal": int(signal.SIGSEGV)}, "crash", "was ended by signal 11"),
    ("SIGKILL", {"signal": int(signal.SIGKILL)}, "crash", "was ended by signal 9"),
    ("hang", {"hang": True}, "timeout", "gave no sign of life for 2 seconds"),
]


def _seldom(part: Part, step: Step) -> list[pytest.MarkDecorator]:
    """To find out that a program hangs takes seconds, and the same lines do it for each."""
    return [pytest.mark.chaos] if "hang" in step and part is not CLAUDE else []


def heard(role: Role) -> str:
    stdin: str = role.seen()["stdin"]
    return json.loads(stdin)["message"]["content"][0]["text"] if role.part is CLAUDE else stdin


@EACH
async def test_success_is_what_the_last_event_says(place: Stage, part: Part) -> None:
    role = cast(part, place.root, [*part.opening, *part.ending(STRANGE)])
    told, ended = await play(role.backend, await place.assignment(manner=role.manner(), prompt=STRANGE))
    assert (ended.failure, ended.error, ended.text) == (None, "", STRANGE)
    assert part.name == "claude" or Wrote(STRANGE) in told
    assert ended.usage.input_tokens == (0 if part.name == "cursor" else 100)
    assert ended.conversation is None
    assert STRANGE in heard(role)


@EACH
async def test_success_without_our_tools_is_none(place: Stage, part: Part) -> None:
    steps = [step for step in (*part.opening, *part.ending("done")) if "connect" not in step]
    role = cast(part, place.root, steps)
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()))
    assert ended.failure == "no_tools"
    assert "never reached moot's tools" in ended.error


@pytest.mark.parametrize(
    ("part", "step", "failure", "words"),
    [
        pytest.param(part, *one[1:], id=f"{one[0]}-{part.name}", marks=_seldom(part, one[1]))
        for one in CUT
        for part in ALL
    ],
)
async def test_an_end_without_a_word_is_an_outcome_of_its_own(
    place: Stage, part: Part, step: Step, failure: str, words: str
) -> None:
    steps = [*part.opening, {"raw": "not an event\n"}, {"stderr": "its last words"}, {"orphan": True}, step]
    role = cast(part, place.root, steps, Limits(idle=2.0 if "hang" in step else 60.0, grace=0.2))
    given = await place.assignment(manner=role.manner())
    _, ended = await play(role.backend, given)
    assert ended.failure == failure, ended.error
    assert words in ended.error
    assert "its last words" in ended.error
    assert ended.text == ""
    assert not tree.Tree(given.attempt).members()


@EACH
@pytest.mark.parametrize(
    ("stderr", "stdout", "first"),
    [
        ("warning: old\nIt wants more of KEY=SECRET.\n", "", "It wants more of KEY=[hidden]."),
        ("Error: out of ink\n    at print (x.js:1)\n}\n\nNode.js v22.1.0\n", "", "Error: out of ink"),
        ("", "one\nWhat it says aside\n", "What it says aside"),
        ("", "", "it ended with exit code 41 and did not say how it went"),
    ],
    ids=["stderr", "a trace", "stdout", "nothing"],
)
async def test_the_first_line_is_the_reason(place: Stage, part: Part, stderr: str, stdout: str, first: str) -> None:
    said = stderr.replace("SECRET", KEY)
    role = cast(part, place.root, [*part.opening, {"raw": stdout}, {"stderr": said}, {"exit": 41}])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()))
    assert ended.failure == "no_result"
    assert ended.error.splitlines()[0] == f"{part.name}: {first}"
    assert "ended with exit code 41" in ended.error
    assert len(ended.error.splitlines()) == len(set(ended.error.splitlines()))


@EACH
async def test_who_is_not_logged_in_is_told_how_to(place: Stage, part: Part) -> None:
    role = cast(part, place.root, [*part.opening, {"stderr": "You are not logged in."}, {"exit": 1}])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()))
    assert ended.failure == "auth"
    program = known.PROGRAMS[part.name]
    first = ended.error.splitlines()[0]
    assert first.startswith(f"{part.name}: You are not logged in. Run `{program.log_in}` once in a terminal, or set ")
    assert any(first.endswith(f" {key}.") for key in program.all_keys)


async def test_an_address_of_ones_own_has_a_key_of_its_own() -> None:
    own = Manner(base_url="http://127.0.0.1:1", env=("OTHER", "LAB_API_KEY"))
    assert telling.login(known.CLAUDE, own) == "Check the key in LAB_API_KEY."
    assert "`env`" in telling.login(known.CLAUDE, replace(own, env=()))
    assert telling.login(known.CODEX, Manner(is_isolated=True)) == "Check the key in CODEX_API_KEY."


@EACH
async def test_a_program_that_prints_nothing_at_all_is_told(place: Stage, part: Part) -> None:
    role = cast(part, place.root, [])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()))
    assert ended.failure == "no_result"


@EACH
async def test_an_orphan_does_not_outlive_success(place: Stage, part: Part) -> None:
    role = cast(part, place.root, [*part.opening, {"orphan": True}, *part.ending("done")])
    given = await place.assignment(manner=role.manner())
    _, ended = await play(role.backend, given)
    assert ended.failure is None, ended.error
    assert not tree.Tree(given.attempt).members()


@pytest.mark.parametrize("staying", ["hang", "chatter"])
@EACH
async def test_one_that_has_said_its_last_may_not_stay(place: Stage, part: Part, staying: str) -> None:
    steps = [*part.opening, *part.ending("done"), {staying: True}]
    role = cast(part, place.root, steps, Limits(linger=0.5, grace=0.2))
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()), 20.0)
    assert (ended.failure, ended.text) == (None, "done")


@EACH
async def test_cancelling_ends_the_whole_tree(place: Stage, part: Part) -> None:
    begun = place.root / "begun"
    os.mkfifo(begun)
    has_begun = asyncio.Event()
    reading = os.open(begun, os.O_RDONLY | os.O_NONBLOCK)
    asyncio.get_running_loop().add_reader(reading, has_begun.set)
    role = cast(part, place.root, [*part.opening, {"orphan": True}, {"write": str(begun)}, {"hang": True}])
    given = await place.assignment(manner=role.manner())
    playing = asyncio.ensure_future(play(role.backend, given))
    async with asyncio.timeout(30):
        await has_begun.wait()
    asyncio.get_running_loop().remove_reader(reading)
    os.close(reading)
    assert len(tree.Tree(given.attempt).members()) == 2
    playing.cancel()
    await asyncio.wait([playing], timeout=30)
    assert playing.cancelled()
    assert not tree.Tree(given.attempt).members()
    assert not list((place.root / "workspace").iterdir())


@EACH
async def test_a_huge_prompt_arrives_whole(place: Stage, part: Part) -> None:
    huge = "".join(f"line {number} äöü\n" for number in range(20_000))
    role = cast(part, place.root, [*part.opening, *part.ending("read")])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner(), prompt=huge))
    assert ended.failure is None, ended.error
    assert huge in heard(role)


@EACH
async def test_the_environment_holds_what_it_needs_and_no_more(place: Stage, part: Part) -> None:
    role = cast(part, place.root, [*part.opening, *part.ending("done")], OWN="wanted-value", OTHER="unwanted")
    given = await place.assignment(manner=role.manner(Manner(permissions=PRESETS["full"], env=("OWN",))))
    _, ended = await play(role.backend, given)
    assert ended.failure is None, ended.error
    env = role.seen()["env"]
    assert env["TMPDIR"] == str(given.folder / "tmp")
    assert (env["MOOT_TOKEN"], env["OWN"], env[part.key]) == (given.access.token, "wanted-value", KEY)
    assert not {"SECRET_OF_THE_USER", "OTHER"} & set(env)
    assert given.access.token not in json.dumps(role.seen()["argv"])
    assert KEY not in json.dumps(role.seen()["argv"])
    assert given.access.token not in json.dumps(role.seen()["files"])


@EACH
async def test_secrets_in_its_last_words_are_hidden(place: Stage, part: Part) -> None:
    role = cast(part, place.root, [*part.opening, {"secrets": True}, {"exit": 1}], OWN="own-secret-value")
    given = await place.assignment(manner=role.manner(Manner(permissions=PRESETS["full"], env=("OWN",))))
    told, ended = await play(role.backend, given)
    assert "[hidden]" in ended.error
    for secret in (given.access.token, KEY, "own-secret-value"):
        assert secret not in repr((told, ended))


@EACH
async def test_a_variable_that_nobody_has_set_is_told_before_the_start(place: Stage, part: Part) -> None:
    role = cast(part, place.root, [])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner(Manner(env=("NOT_SET",)))))
    assert (ended.failure, ended.is_final) == ("cannot_start", True)
    assert "NOT_SET" in ended.error
    assert not role.script.with_suffix(".seen").exists()


@EACH
async def test_an_isolated_one_has_a_home_of_its_own_and_needs_a_key(place: Stage, part: Part) -> None:
    role = cast(part, place.root, [*part.opening, *part.ending("done")])
    isolated = Manner(permissions=PRESETS["full"], is_isolated=True)
    given = await place.assignment(manner=role.manner(isolated))
    _, ended = await play(role.backend, given)
    assert ended.failure is None, ended.error
    assert role.seen()["env"]["HOME"].startswith(str(given.folder))
    keyless = cast(part, place.root, [], None, **{part.key: ""})
    _, ended = await play(keyless.backend, await place.assignment(manner=keyless.manner(isolated)))
    assert (ended.failure, ended.is_final) == ("auth", True)
    assert part.key in ended.error.partition("Set ")[2]


@EACH
async def test_a_limit_of_turns_is_passed_on_or_told_to_do_nothing(place: Stage, part: Part) -> None:
    role = cast(part, place.root, [*part.opening, *part.ending("done")])
    given = replace(await place.assignment(manner=role.manner()), settings={"max_turns": 7})
    told, ended = await play(role.backend, given)
    assert ended.failure is None, ended.error
    argv, home = role.seen()["argv"], given.folder / "gemini" / ".gemini" / "settings.json"
    settings = home.read_text() if home.exists() else ""
    is_passed_on = ("--max-turns", "7") in pairwise(argv) or '"maxSessionTurns": 7' in settings
    warning = Warned(f"{part.name} knows no limit of turns: max_turns of ann does nothing.")
    assert is_passed_on == (part.name in ("claude", "gemini"))
    assert (warning in told) == (not is_passed_on)


async def test_it_is_said_what_helps_if_an_account_is_used_up(place: Stage) -> None:
    end = claude_result("You exceeded your current quota.", is_error=True, api_error_status=429)
    role = cast(CLAUDE, place.root, [*CLAUDE.opening, end, {"read_all": True}])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()))
    assert (ended.failure, ended.is_final) == ("refused", True)
    assert ended.error == f"claude: You exceeded your current quota. {quota.REMEDY}"


@EACH
async def test_nothing_leads_an_isolated_one_to_what_is_the_users(place: Stage, part: Part) -> None:
    users = place.root / "users"
    for name in (".gemini/oauth_creds.json", "opencode.json", "adc.json"):
        (users / name).parent.mkdir(parents=True, exist_ok=True)
        (users / name).write_text('{"token": "of the user"}')
    leads = {
        "CLAUDE_CONFIG_DIR": str(users),
        "CODEX_ACCESS_TOKEN": str(users),
        "CODEX_HOME": str(users),
        "CURSOR_CONFIG_DIR": str(users),
        "GEMINI_CLI_HOME": str(users),
        "GOOGLE_APPLICATION_CREDENTIALS": str(users / "adc.json"),
        "OPENCODE_CONFIG": str(users / "opencode.json"),
        "OPENCODE_CONFIG_DIR": str(users),
    }
    role = cast(part, place.root, [*part.opening, *part.ending("done")], None, **leads)
    given = await place.assignment(manner=role.manner(Manner(permissions=PRESETS["full"], is_isolated=True)))
    _, ended = await play(role.backend, given)
    assert ended.failure is None, ended.error
    assert [name for name, value in role.seen()["env"].items() if str(users) in value] == []
    assert [link for link in given.folder.rglob("*") if link.is_symlink()] == []


@EACH
async def test_a_program_that_is_not_there_is_named_with_its_installation(place: Stage, part: Part) -> None:
    role = cast(part, place.root, [])
    _, ended = await play(role.backend, await place.assignment(manner=Manner()))
    assert (ended.failure, ended.is_final) == ("cannot_start", True)
    assert "Install it: " in ended.error


@pytest.mark.parametrize(("name", "why"), [("nope", "not found"), ("closed", "executable")])
async def test_a_command_that_cannot_be_started_is_not_tried_again(place: Stage, name: str, why: str) -> None:
    (place.root / "closed").touch(mode=0o600)
    role = cast(CODEX, place.root, [])
    manner = replace(role.manner(), command=(str(place.root / name), "x"))
    _, ended = await play(role.backend, await place.assignment(manner=manner))
    assert (ended.failure, ended.is_final) == ("cannot_start", True)
    assert why in ended.error


async def test_a_broken_file_of_the_project_is_not_tried_again(place: Stage) -> None:
    role = cast(CURSOR, place.root, [])
    given = await place.assignment(manner=role.manner())
    (given.workspace / ".cursor").mkdir()
    (given.workspace / ".cursor" / "mcp.json").write_text("{broken")
    _, ended = await play(role.backend, given)
    assert ended.failure == "cannot_start"
    assert "mcp.json cannot be read" in ended.error


async def test_broken_lines_and_strangers_are_passed_over(place: Stage) -> None:
    odd: list[Step] = [
        {"raw": "{not json}\n"},
        {"raw": "[1, 2]\n\n"},
        {"print": {"type": 5}},
        {"print": {"no": "type"}},
        {"print": {"type": "assistant", "message": "no object"}},
        {"print": {"type": "user", "message": {"content": [1, None]}}},
        {"print": {"type": "system", "subtype": "of another time"}},
    ]
    role = cast(CLAUDE, place.root, [*CLAUDE.opening, *odd, *CLAUDE.ending("done")])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()))
    assert (ended.failure, ended.text) == (None, "done")


async def test_a_refused_connection_is_noticed_before_anything_is_spent(place: Stage) -> None:
    role = cast(CLAUDE, place.root, [claude_init("failed"), {"hang": True}], Limits(grace=0.2))
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()), 20.0)
    assert ended.failure == "no_tools"
    assert "its connection to moot's tools is failed" in ended.error


async def test_mail_reaches_it_and_its_input_is_closed_after_the_last(place: Stage) -> None:
    coming: asyncio.Queue[Letter] = asyncio.Queue()
    coming.put_nowait(letter("first\nof two lines", "ben"))
    coming.put_nowait(letter("second"))

    async def more() -> tuple[Letter, ...]:
        return (await coming.get(),)

    steps: list[Step] = [
        *CLAUDE.opening,
        {"read": 1},
        REPLAY,
        claude_result("one", result="one"),
        {"read": 1},
        claude_init(),
        REPLAY,
        claude_result("two"),
        {"read_all": True},
    ]
    role = cast(CLAUDE, place.root, steps)
    _, ended = await play(role.backend, await place.assignment(manner=role.manner(), more=more))
    assert (ended.failure, ended.text, ended.usage.turns) == (None, "two", 2)
    lines: list[Any] = [json.loads(line) for line in role.seen()["stdin"].splitlines()]
    texts = [line["message"]["content"][0]["text"] for line in lines]
    assert "- From \\@ben: first\n  of two lines\n" in texts[1]  # an at sign alone would name a file
    assert "- From \\@human: second\n" in texts[2]


@pytest.mark.parametrize("before", [[], [{"read": 1}, {"close": True}, REPLAY]], ids=["not read", "closed"])
async def test_mail_that_it_did_not_take_is_no_success(place: Stage, before: list[Step]) -> None:
    async def more() -> tuple[Letter, ...]:
        return (letter("late"),)

    role = cast(CLAUDE, place.root, [*CLAUDE.opening, *before, claude_result("done"), {"exit": 0}])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner(), more=more))
    assert ended.failure in ("no_result", "crash")


def agent_says(text: str) -> Step:
    return {"print": {"type": "item.completed", "item": {"type": "agent_message", "text": text}}}


@pytest.mark.parametrize(
    "said",
    [
        [agent_says("I have added the rate limit middleware.")],
        [agent_says("It authenticates, else it answers with status 403.")],
        [agent_says("One line,\u2028rate limit,\u0085quota.")],
        [agent_says("x" * 200_000), agent_says("y" * 140_000 + " rate limit")],
    ],
    ids=["of limits", "of logins", "other ends of lines", "more than is kept"],
)
async def test_what_an_agent_says_does_not_decide_how_a_crash_is_judged(place: Stage, said: list[Step]) -> None:
    role = cast(CODEX, place.root, [*CODEX.opening, *said, {"exit": 1}])
    _, ended = await play(role.backend, await place.assignment(manner=role.manner()))
    assert ended.failure == "no_result", ended.error


async def test_an_agent_that_speaks_of_forgotten_conversations_has_not_forgotten_its_own(place: Stage) -> None:
    role = cast(CODEX, place.root, [*CODEX.opening, agent_says("It prints: no rollout found."), {"exit": 1}])
    manner = role.manner(Manner(permissions=PRESETS["full"], keeps_conversation=True))
    given = await place.assignment(manner=manner, conversation=Conversation("t-0", Usage()))
    told, ended = await play(role.backend, given)
    assert ended.failure == "no_result"
    assert not [one for one in told if isinstance(one, Warned) and "forgotten" in one.text]


async def test_a_conversation_that_is_gone_is_begun_anew(place: Stage) -> None:
    lost = [{"stderr": "Error: no rollout found for thread id t-0"}, {"exit": 1}]
    role = cast(CODEX, place.root, lost)
    manner = role.manner(Manner(permissions=PRESETS["full"], keeps_conversation=True))
    first = cast(CODEX, place.root, [*CODEX.opening, *CODEX.ending("hello")])
    _, ended = await play(first.backend, await place.assignment(manner=manner))
    assert ended.conversation is not None
    assert ended.conversation.handle == "t-1"
    role = cast(CODEX, place.root, lost)
    gone = replace(ended.conversation, handle="t-0")
    told, again = await play(role.backend, await place.assignment(manner=manner, conversation=gone))
    assert Warned("codex has forgotten its earlier conversation, and begins a new one.") in told
    assert again.failure == "no_result"  # it fails the second time, too, and is not tried a third time
    assert "resume" not in role.seen()["argv"]
