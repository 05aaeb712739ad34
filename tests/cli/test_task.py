"""`moot task`: a person claims, ends, skips and retries tasks, and sees all that is known of one."""

import json

import pytest

from tests.cli.terminal import Ended, Terminal

PLAN = """
tasks:
  - {name: a, description: Begin with it.}
  - {name: b, depends_on: [a]}
  - {name: c, agent: ann}
  - {name: d, checks: [{shell: "true"}]}
"""


@pytest.fixture
def planned(terminal: Terminal) -> Terminal:
    return apply(terminal)


def apply(terminal: Terminal) -> Terminal:
    (terminal.folder / "p.yaml").write_text(PLAN, encoding="utf-8")
    terminal.ok("plan", "apply", "p.yaml")
    return terminal


def states(terminal: Terminal) -> dict[str, str]:
    return {one["name"]: one["status"] for one in terminal.ok("task", "ls", "--json").json}


def code_of(ended: Ended) -> tuple[int, str]:
    return ended.code, ended.err.split(": ")[1] if ": " in ended.err else ended.err


def test_a_task_is_claimed_and_done(either: Terminal) -> None:
    apply(either)
    assert states(either) == {"a": "pending", "b": "blocked", "c": "pending", "d": "pending"}
    claimed = either.ok("task", "claim", "a", "--json").json
    assert (claimed["success"], claimed["fence"]) == (True, 1)
    assert "lease_seconds" not in claimed  # people take their time
    done = either.ok("task", "done", "A", "--outcome", "It was line 7.", "--json").json
    assert (done["name"], done["status"]) == ("a", "completed")
    assert states(either) == {"a": "completed", "b": "pending", "c": "pending", "d": "pending"}
    told = either.ok("task", "show", done["id"], "--json").json
    assert (told["outcome"], [one["name"] for one in told["dependants"]]) == ("It was line 7.", ["b"])
    assert either.ok("task", "show", "a").out.splitlines() == [
        f"a  {done['id']}  completed",
        "  Begin with it.",
        "  It was line 7.",
        "  is needed by b: pending",
    ]


def test_what_cannot_be_claimed_says_why(planned: Terminal) -> None:
    blocked = planned.run("task", "claim", "b")
    assert (blocked.code, blocked.out, blocked.err) == (1, "", "not claimed: It waits for a.\n")
    assert planned.run("task", "claim", "b", "--json").json == {
        "success": False, "reason": "It waits for other tasks.", "waiting_on": ["a"],
    }  # fmt: skip
    assert planned.run("task", "claim", "c").err == "not claimed: It is meant for ann.\n"
    refused = planned.run("task", "done", "b", "--outcome", "x")
    assert refused.err.startswith("error: TASK_REFUSED: b cannot be claimed: It waits for a.\n")
    assert (refused.code, states(planned)["b"]) == (1, "blocked")


def test_a_task_is_failed_retried_skipped_and_released(planned: Terminal) -> None:
    assert planned.ok("task", "fail", "a", "--error", "no network").out == "a is failed\n"
    assert "  no network" in planned.ok("task", "show", "a").out.splitlines()
    assert planned.ok("task", "retry", "a").out == "a is pending\n"
    assert planned.ok("task", "claim", "a").out.startswith("a is yours; when it is done: moot task done tk_")
    assert planned.ok("task", "release", "a", "--reason", "lunch").out == "a is pending\n"
    assert planned.ok("task", "skip", "a", "--reason", "not needed").out == "a is skipped\n"
    assert (states(planned)["a"], states(planned)["b"]) == ("skipped", "pending")
    assert code_of(planned.run("task", "retry", "a")) == (1, "INVALID_TRANSITION")
    assert code_of(planned.run("task", "done", "a", "--outcome", "x")) == (1, "INVALID_TRANSITION")


def test_checks_are_looked_at_before_it_counts_as_done(planned: Terminal) -> None:
    assert planned.ok("task", "done", "d", "--outcome", "made").out == "d is verifying\n"
    assert "  waiting: `true` ends with exit code 0" in planned.ok("task", "show", "d").out.splitlines()
    (check,) = planned.ok("task", "show", "d", "--json").json["checked"]
    assert check == {"check": {"shell": "true"}, "state": "waiting", "output": ""}


def test_tasks_are_listed_by_state(planned: Terminal) -> None:
    planned.ok("task", "done", "a", "--outcome", "x")

    def listed(*words: str) -> list[str]:
        return [one["name"] for one in planned.ok("task", "ls", "--json", *words).json]

    assert listed("--status", "completed") == ["a"]
    assert listed("--status", "pending", "--status", "completed") == ["a", "b", "c", "d"]
    assert listed("-n", "2") == ["a", "b"]
    assert planned.ok("task", "ls", "--status", "failed").out == "no such tasks\n"
    (other,) = planned.ok("plan", "ls", "--json").json
    assert listed("--plan", other["id"]) == ["a", "b", "c", "d"]


def test_pending_and_blocked_are_told_apart(planned: Terminal) -> None:
    def listed(*words: str) -> list[str]:
        return [one["name"] for one in planned.ok("task", "ls", "--json", *words).json]

    assert listed("--status", "blocked") == ["b"]
    assert listed("--status", "pending") == ["a", "c", "d"]
    planned.ok("task", "fail", "a", "--error", "x")
    assert listed("--status", "blocked", "--status", "failed") == ["a", "b"]


def test_wrong_input_is_refused(planned: Terminal) -> None:
    assert code_of(planned.run("task", "show", "x")) == (1, "TASK_NOT_FOUND")
    assert code_of(planned.run("task", "show", "a", "--plan", "x")) == (1, "WORKFLOW_NOT_FOUND")
    for words in (("done", "a"), ("fail", "a"), ("claim",), ("ls", "--status", "odd"), ("ls", "-n", "0")):
        assert planned.run("task", *words).code == 2, words
    for words in (("done", "a", "--outcome", ""), ("fail", "a", "--error", "")):
        ended = planned.run("task", *words, "--json")
        assert (ended.code, json.loads(ended.err)["error"]["code"]) == (2, "INVALID_INPUT"), words
    assert states(planned)["a"] == "pending"  # nobody has claimed it on the way
