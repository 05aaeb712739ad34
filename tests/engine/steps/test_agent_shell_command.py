"""Commands that agents run: whatever way an agent reports, the step ends in what the command printed."""

import pytest

from moot.core.json import Json
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.step import Outcome, StepFailed
from tests.engine.steps.taking import defined, finished, work, written

SCRIPT = """
type: agent_shell_command
command: ./ask.sh {{ who }}
reason: "{{ who }} needs a terminal"
timeout: 300000
output_format: json
state_update: {path: raw.answer}
"""


async def test_an_agent_is_told_what_to_run_and_why(sandbox: Sandbox) -> None:
    found = await work(sandbox, defined(SCRIPT), who="a b")
    assert found.type == "agent_shell_command"
    assert found.definition == {
        "command": "./ask.sh 'a b'",
        "output_format": "json",
        "timeout": 300_000,
        "reason": "a b needs a terminal",
        "state_update": {"path": "raw.answer", "value": "{{ result }}"},
    }
    assert "as JSON" in found.instructions


async def test_the_agent_may_be_named(sandbox: Sandbox) -> None:
    found = await work(sandbox, defined(SCRIPT + "agent: 'the {{ who }}'"), who="operator")
    assert found.definition["agent"] == "the operator"


@pytest.mark.parametrize(
    "reported",
    ['{"ok": 1}', {"ok": 1}, {"stdout": '{"ok": 1}\n'}, {"stdout": '{"ok":1}', "stderr": "", "exit_code": 0}],
)
async def test_it_may_report_a_text_or_what_it_has_read_from_it(sandbox: Sandbox, reported: Json) -> None:
    found = await finished(sandbox, defined(SCRIPT), Outcome(result=reported))
    assert written(found) == {"answer": {"ok": 1}}


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        (Outcome("failed", error="no terminal"), "it failed: no terminal"),
        (Outcome("failed"), "it failed: nobody has said why"),
        (Outcome(result={"stdout": "{}", "exit_code": 3}), "it failed: exit code 3"),
        (Outcome(result="no json"), "no JSON"),
    ],
)
async def test_a_failure_is_one_whoever_tells_it(sandbox: Sandbox, outcome: Outcome, why: str) -> None:
    with pytest.raises(StepFailed, match=why):
        await finished(sandbox, defined(SCRIPT), outcome)


async def test_what_looks_like_a_printed_text_but_holds_more_is_the_answer(sandbox: Sandbox) -> None:
    reported: Json = {"stdout": "x", "lines": 1}
    found = await finished(sandbox, defined(SCRIPT), Outcome(result=reported))
    assert written(found) == {"answer": reported}
