"""Commands: handed over with their values in them, and read in the form that the step asks for."""

from datetime import timedelta
from typing import Any

import pytest

from moot.core.json import Json
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import advance as advancing
from moot.engine.step import Outcome, StepFailed
from tests.engine.steps.taking import OWN, defined, finished, footing, taken, told, work, written

COUNT = """
type: shell_command
command: wc -l {{ files }} --branch {{ inputs.branch }}
output_format: lines
timeout: 30s
state_update: {path: "raw.counts.{{ inputs.branch }}"}
"""


def ran(stdout: str = "", exit_code: int = 0, stderr: str = "") -> Outcome:
    result: Json = {"stdout": stdout, "stderr": stderr, "exit_code": exit_code}
    return Outcome("failed" if exit_code else "success", result)


async def test_a_command_is_handed_over_with_its_values_quoted(sandbox: Sandbox) -> None:
    found = await work(sandbox, defined(COUNT), files=["a b.ts", "$(x)"])
    assert found.type == "shell_command"
    assert found.definition == {
        "command": "wc -l 'a b.ts' '$(x)' --branch main",
        "output_format": "lines",
        "timeout": 30_000,
        "idempotent": False,
        "state_update": {"path": "raw.counts.main", "value": "{{ result }}"},
    }
    assert found.replacements == {"{{ files }}": ["a b.ts", "$(x)"], "{{ inputs.branch }}": "main"}
    assert found.original == "wc -l {{ files }} --branch {{ inputs.branch }}"
    assert "raw.counts.main" in found.instructions


async def test_what_is_long_is_not_told_twice(sandbox: Sandbox) -> None:
    found = await work(sandbox, defined(COUNT), files=["x" * 1000])
    assert list(found.replacements) == ["{{ inputs.branch }}"]
    with pytest.raises(StepFailed, match="longer than 131,000 bytes"):
        await taken(sandbox, defined(COUNT), files=["x" * 131_000])


async def test_without_a_timeout_it_has_ten_minutes(sandbox: Sandbox) -> None:
    plain = await work(sandbox, defined("type: shell_command\ncommand: make\nidempotent: true"))
    assert plain.definition == {"command": "make", "output_format": "text", "timeout": 600_000, "idempotent": True}
    assert (plain.original, plain.replacements) == ("", {})
    asked = await work(sandbox, defined("type: shell_command\ncommand: make\ntimeout: '{{ limit * 2 }}'"), limit=1.5)
    assert asked.definition["timeout"] == 3
    with pytest.raises(StepFailed, match="it: 'soon' is not a duration"):
        await taken(sandbox, defined("type: shell_command\ncommand: make\ntimeout: '{{ limit }}'"), limit="soon")


async def test_what_it_prints_is_written_where_the_step_says(sandbox: Sandbox) -> None:
    found = await finished(sandbox, defined(COUNT), ran("1 a\n2 b\n"), counts={"old": 1})
    assert written(found) == {"counts": {"old": 1, "main": ["1 a", "2 b"]}}
    assert found.after.is_over is False
    assert found.after.frames[-1].at == 1


async def test_the_value_may_be_made_from_the_result_and_is_never_expanded_again(sandbox: Sandbox) -> None:
    made = defined(
        "type: shell_command\ncommand: x\noutput_format: json\n"
        'state_update: {path: "raw.by.{{ result.id }}", value: "{{ result.said }}!", operation: append}'
    )
    assert (await work(sandbox, made)).definition["state_update"] == {
        "path": "raw.by.{{ result.id }}",
        "value": "{{ result.said }}!",
        "operation": "append",
    }
    found = await finished(sandbox, made, ran('{"id": "a.b", "said": "{{ 1 + 1 }}"}'))
    assert written(found) == {"by": {"a.b": ["{{ 1 + 1 }}!"]}}


async def test_a_command_that_fails_fails_its_step_and_still_writes_why(sandbox: Sandbox) -> None:
    made = defined("type: shell_command\ncommand: x\nerror_state_update: {path: raw.why}")
    with pytest.raises(StepFailed, match="it failed: exit code 2: no such file") as error:
        await finished(sandbox, made, ran("half", 2, "warning\nno such file\n"))
    after = await advancing.failed(sandbox, made, footing({"n": 1}), error.value, OWN)
    wanted = {
        "message": "exit code 2: no such file",
        "exit_code": 2,
        "stderr": "warning\nno such file\n",
        "step": "it",
    }
    assert written(after) == {"why": wanted}
    assert (after.after.frames, after.step_id) == (footing({}).frames, "it.shell_command")


async def test_an_error_says_once_how_a_command_ended(sandbox: Sandbox) -> None:
    printed: dict[str, Json] = {"stdout": "half", "stderr": "no such file", "exit_code": 2}
    told = Outcome("failed", printed, "It failed with exit code 2.\nhalf\nno such file")
    with pytest.raises(StepFailed, match=r"^it failed: exit code 2: no such file[.] See why"):
        await finished(sandbox, defined("type: shell_command\ncommand: x"), told)


LOSSY = "type: shell_command\ncommand: x\noutput_format: json\nstate_update: {path: raw.r}\n"


@pytest.mark.parametrize("outcome", [ran("no json"), ran("{}", 1), Outcome("failed", error="took too long")])
@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ("on_error: continue", {}),
        ("on_error: continue\nfallback_value: null", {"r": None}),
        ("on_error: continue\nfallback_value: {ok: false, n: '{{ n }}'}", {"r": {"ok": False, "n": 7}}),
        ("on_error: continue\nerror_state_update: {path: raw.e, value: true}", {"e": True}),
        ("on_error: retry\nretry_count: 0\nfallback_value: 5", {"r": 5}),
    ],
)
async def test_a_failure_may_be_gone_on_from(
    sandbox: Sandbox, outcome: Outcome, more: str, wanted: dict[str, Any]
) -> None:
    found = await finished(sandbox, defined(LOSSY + more), outcome, n=7)
    assert written(found) == wanted
    assert found.after.frames[-1].at == 1
    assert found.warning.startswith("it failed, and the flow goes on: ")


async def test_it_is_done_again_as_often_as_the_step_says(sandbox: Sandbox) -> None:
    made = defined("type: shell_command\ncommand: x\non_error: retry\nretry_count: 2\nretry_delay: 1500")
    first = await finished(sandbox, made, ran(exit_code=1))
    assert (first.again, first.error, first.after.tries) == (timedelta(seconds=1.5), "exit code 1", 1)
    assert (await finished(sandbox, made, ran(exit_code=1), tries=1)).after.tries == 2
    with pytest.raises(StepFailed, match="it failed: exit code 1"):
        await finished(sandbox, made, ran(exit_code=1), tries=2)
    assert (await finished(sandbox, made, ran("ok"), tries=2)).after.frames[-1].at == 1
    three = defined("type: shell_command\ncommand: x\non_error: retry")
    assert (await finished(sandbox, three, ran(exit_code=1), tries=2)).again == timedelta(seconds=1)
    with pytest.raises(StepFailed):
        await finished(sandbox, three, ran(exit_code=1), tries=3)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("command: 'echo \"{{ x }}\"'", "{{ x }} stands in double quotes, where it cannot be quoted. Leave the quotes"),
        ("command: x\nfallback_value: 1", "With on_error: fail nothing stands in for a result. Write on_error"),
        ("command: x\ntimeout: 5 parsecs", "'5 parsecs' is not a duration. Write a number and a unit"),
        ("command: x\nretry_delay: -1", "-1 is not a duration. Write milliseconds (1500), or"),
        ("command: x\noutput_format: line", "must be one of text, lines, json, key_value. Did you mean lines?"),
        ("command: x\nstate_update: {path: computed.a}", "computed.a is computed and cannot be written"),
        ("command: x\nretry_count: 1001", "must be at most 1000"),
        ("command: ''", "must not be empty"),
    ],
)
def test_what_is_wrong_is_told_before_it_runs(said: str, why: str) -> None:
    assert why in told(f"type: shell_command\n{said}")
