"""Calls of tools: handed over with everything resolved, and answered by whatever the tool has answered."""

from datetime import timedelta

import pytest

from moot.core.json import Json
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.step import Outcome, StepFailed
from tests.engine.steps.taking import defined, finished, taken, told, work, written

CHECK = """
type: mcp_call
mcp:
  method: check_typescript
  params: {files: ["{{ file }}"], all: "{{ files }}", note: "of {{ file }}"}
state_update: {path: "raw.results.{{ file }}"}
"""


async def test_a_call_is_handed_over_with_its_params_resolved(sandbox: Sandbox) -> None:
    found = await work(sandbox, defined(CHECK), file="src/a.ts", files=["x"])
    assert found.type == "mcp_call"
    assert found.definition == {
        "method": "check_typescript",
        "params": {"files": ["src/a.ts"], "all": ["x"], "note": "of src/a.ts"},
        "state_update": {"path": 'raw.results["src/a.ts"]', "value": "{{ result }}"},
    }
    assert found.replacements == {"{{ file }}": "src/a.ts", "{{ files }}": ["x"]}
    assert "check_typescript" in found.instructions


async def test_it_may_be_written_without_mcp_around_it(sandbox: Sandbox) -> None:
    said = "type: mcp_call\nmethod: 'git.{{ verb }}'\nparams: '{{ given }}'\nagent: true\ntimeout: 2m"
    found = await work(sandbox, defined(said), verb="log", given={"n": 1})
    assert found.definition == {"method": "git.log", "params": {"n": 1}, "agent": True, "timeout": 120_000}
    assert found.original == "git.{{ verb }}"
    assert (await work(sandbox, defined("type: mcp_call\nmethod: ping"))).definition == {"method": "ping", "params": {}}
    with pytest.raises(StepFailed, match="The params of it are no object"):
        await taken(sandbox, defined(said), verb="log", given=[1])
    with pytest.raises(StepFailed, match="it names no method"):
        await taken(sandbox, defined("type: mcp_call\nmethod: '{{ verb }}'"), verb=" ")


@pytest.mark.parametrize(
    ("said", "asked"), [("ann", "ann"), ("'{{ who }}'", "ben"), ("true", True), ("'{{ none }}'", True)]
)
async def test_an_agent_that_has_to_make_the_call_may_be_named(sandbox: Sandbox, said: str, asked: Json) -> None:
    found = await work(sandbox, defined(f"type: mcp_call\nmethod: ping\nagent: {said}"), who="ben", none="")
    assert found.definition["agent"] == asked


async def test_its_answer_is_written_as_it_is(sandbox: Sandbox) -> None:
    found = await finished(sandbox, defined(CHECK), Outcome(result={"errors": 2}), file="src/a.ts")
    assert written(found) == {"results": {"src/a.ts": {"errors": 2}}}


async def test_a_call_that_fails_is_handled_as_the_step_says(sandbox: Sandbox) -> None:
    bad = Outcome("failed", error="unreachable")
    with pytest.raises(StepFailed, match="it failed: unreachable"):
        await finished(sandbox, defined(CHECK), bad, file="a")
    kept = defined(
        "type: mcp_call\nmcp: {method: lint}\non_error: continue\n"
        "error_state_update: {path: raw.errors.lint, value: '{{ error.step }}: {{ error.message }}'}"
    )
    assert written(await finished(sandbox, kept, bad)) == {"errors": {"lint": "it: unreachable"}}
    again = defined("type: mcp_call\nmethod: lint\non_error: retry\nretry_delay: 2s")
    assert (await finished(sandbox, again, bad)).again == timedelta(seconds=2)


@pytest.mark.parametrize(
    "said", ["mcp: {method: a}\nmethod: b", "params: {}", "mcp: {method: a}\nparams: {}", "agent: true"]
)
def test_it_has_one_method(said: str) -> None:
    assert "An mcp_call has one method. Write mcp with method and params in it." in told(f"type: mcp_call\n{said}")
