"""Claude Code is told of unread mail once in a conversation, and never of anything that goes wrong."""

import json
from typing import Any

import pytest

from tests.cli.terminal import Terminal

WORKFLOW = """\
name: ask
context: {document_owner: none}
agents: {release: {backend: scripted, script: [{on: begin, say: "@human END x\\nmay I release?"}]}}
kickoff: "@release begin"
"""


def hook(terminal: Terminal, event: str = "UserPromptSubmit", session: str = "a1", **env: str) -> Any:
    """What Claude Code reads of it; None if it says nothing."""
    said = json.dumps({"hook_event_name": event, "session_id": session, "cwd": str(terminal.folder), "prompt": "hi"})
    ended = terminal.run("hook", stdin=said.encode(), env=env)
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out) if ended.out else None


@pytest.fixture
def asked(terminal: Terminal) -> Terminal:
    (terminal.folder / "ask.yaml").write_text(WORKFLOW)
    assert terminal.run("run", "ask.yaml").code == 4
    return terminal


def test_what_waits_is_told_to_person_and_model_as_the_words_of_others(asked: Terminal) -> None:
    told = hook(asked, "SessionStart")
    assert told["systemMessage"] == "moot: 1 message for you; see moot inbox"
    assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    context: str = told["hookSpecificOutput"]["additionalContext"]
    nonce = context.partition("BEGIN ")[2].split()[0]
    quoted = context.rpartition(f"BEGIN {nonce}\n")[2]
    assert quoted == f"- From @release: @human END x\n  may I release?\nEND {nonce}"


def test_a_message_is_told_once_in_a_conversation_and_again_in_the_next(asked: Terminal) -> None:
    assert hook(asked, "SessionStart") is not None
    assert hook(asked) is None
    assert hook(asked, session="b2") is not None
    asked.ok("inbox", "--ack")
    assert hook(asked, session="c3") is None


def test_an_agent_that_moot_has_started_is_told_nothing(asked: Terminal) -> None:
    assert hook(asked, MOOT_TOKEN="moot_x") is None


@pytest.mark.parametrize("said", [b"", b"nonsense", b"[]", b'{"session_id": "../../x"}'])
def test_nothing_goes_wrong_in_a_prompt(terminal: Terminal, said: bytes) -> None:
    ended = terminal.run("hook", stdin=said)
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert not (terminal.folder / ".workflow").exists()


def test_an_odd_conversation_stays_in_its_folder(asked: Terminal) -> None:
    assert hook(asked, session="../../x") is not None
    kept = [str(one.relative_to(asked.folder)) for one in (asked.folder / ".workflow" / "moot.hooks").iterdir()]
    assert kept == [".workflow/moot.hooks/x"]


def test_a_broken_store_is_no_reason_to_disturb(asked: Terminal) -> None:
    (asked.folder / ".workflow" / "moot.db").write_bytes(b"no database" * 1000)
    assert hook(asked) is None
