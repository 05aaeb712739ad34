"""The plan of a definition tells what each step does, when, and who is needed, before anything is done."""

from typing import cast

from moot.engine import explaining
from moot.engine.explaining import Field, Plan, Planned
from moot.engine.files import compiling

SHARED = """
workflow:
  name: shared:check
  inputs: {files: {type: array, required: true}}
  state_schema: {computed: {total: {from: raw.found, transform: input.length}}}
  steps: [{id: note, type: state_update, path: raw.found, value: "{{ inputs.files }}"}]
"""
MAIN = """
imports: [shared.yaml]
default_state: {raw: {seen: [], tries: 0}, state: {version: "1"}}
state_schema:
  computed:
    kept: {from: raw.seen, transform: input}
    ready: {from: [computed.kept], transform: "input[0].length > 0 && tries < 3"}
steps:
  - {id: list, type: shell_command, command: "git ls-files {{ inputs.branch }}", state_update: {path: raw.seen}}
  - id: gate
    type: conditional
    condition: "{{ ready }}"
    then:
      - {id: checks, type: include_workflow, workflow: "shared:check", inputs: {files: "{{ kept }}"}}
      - id: retry
        type: while
        condition: "{{ checks.total > 0 }}"
        max_iterations: 5
        body:
          - {type: mcp_call, mcp: {method: lint_project, params: {at: ["{{ version }}"]}}}
    else:
      - {type: exit, status: failed}
  - {id: batch, type: parallel_foreach, items: "{{ inputs.files }}", sub_agent_task: fix}
  - {id: fixed, type: parallel_foreach, items: [1, 2, 3], sub_agent_task: fix}
  - {id: open, type: parallel_foreach, items: "{{ kept }}", sub_agent_task: fix}
  - {id: ask, type: user_input, prompt: "Fine?", state_update: {path: "raw.answers.{{ version }}"}}
  - {id: judge, type: agent_prompt, prompt: "{{ total }}", agent: judge}
  - {id: own, type: mcp_call, agent: true, mcp: {method: browse}}
sub_agent_tasks:
  fix:
    steps: [{id: hint, type: apply_hints, file: a, hints: []}]
    error_handling: {cleanup_on_error: [{type: state_update, path: raw.status, value: failed}]}
error_handling: {on_failure: [{type: user_message, message: "{{ error.message }}"}]}
"""


def plan(**given: list[str]) -> Plan:
    definition = compiling.compiled((("main.yaml", MAIN), ("shared.yaml", SHARED)))
    return explaining.explain(definition, given)


def steps(found: Plan) -> dict[str, Planned]:
    return {one.id: one for one in found.everything}


def test_every_step_is_there_under_its_id() -> None:
    assert list(steps(plan())) == [
        "list.shell_command",
        "gate.conditional",
        "gate.then.checks.include_workflow",
        "gate.then.checks.workflow.note.state_update",
        "gate.then.retry.while",
        "gate.then.retry.body.0.mcp_call",
        "gate.else.0.exit",
        "batch.parallel_foreach",
        "fixed.parallel_foreach",
        "open.parallel_foreach",
        "ask.user_input",
        "judge.agent_prompt",
        "own.mcp_call",
        "fix.hint.apply_hints",
        "fix.cleanup.0.state_update",
        "failure.0.user_message",
    ]


def test_a_step_has_all_conditions_around_it() -> None:
    found = steps(plan())
    assert found["gate.conditional"].conditions == ("ready",)
    assert found["gate.then.retry.body.0.mcp_call"].conditions == ("ready", "checks.total > 0")
    assert found["gate.else.0.exit"].conditions == ("!(ready)",)
    assert (found["list.shell_command"].conditions, found["gate.then.retry.while"].items) == ((), "at most 5 rounds")


def test_a_step_rests_on_fields_inputs_and_what_other_steps_leave() -> None:
    found = steps(plan())
    assert {id: one.reads for id, one in found.items() if one.reads} == {
        "list.shell_command": ("inputs.branch",),
        "gate.conditional": ("computed.ready",),
        "gate.then.checks.include_workflow": ("computed.kept",),
        "gate.then.checks.workflow.note.state_update": ("inputs.files",),
        "gate.then.retry.while": ("checks",),
        "gate.then.retry.body.0.mcp_call": ("state.version",),
        "batch.parallel_foreach": ("inputs.files",),
        "open.parallel_foreach": ("computed.kept",),
        "ask.user_input": ("state.version",),
        "judge.agent_prompt": ("checks",),
    }
    assert {id: one.writes for id, one in found.items() if one.writes} == {
        "list.shell_command": ("raw.seen",),
        "gate.then.checks.workflow.note.state_update": ("raw.found",),
        "ask.user_input": ("raw.answers",),
        "fix.cleanup.0.state_update": ("raw.status",),
    }


def test_it_is_known_who_is_needed() -> None:
    others = {id: (one.who, one.named) for id, one in steps(plan()).items() if one.who != "moot"}
    assert others == {
        "batch.parallel_foreach": ("sub-agents", "fix"),
        "fixed.parallel_foreach": ("sub-agents", "fix"),
        "open.parallel_foreach": ("sub-agents", "fix"),
        "ask.user_input": ("person", ""),
        "judge.agent_prompt": ("agent", "judge"),
        "own.mcp_call": ("agent", "browse"),
        "fix.hint.apply_hints": ("agent", ""),
    }


def test_sub_agents_are_counted_where_that_is_known_beforehand() -> None:
    found = steps(plan(files=["a", "b"]))
    assert [found[f"{name}.parallel_foreach"].sub_agents for name in ("batch", "fixed", "open")] == [2, 3, None]
    assert steps(plan())["batch.parallel_foreach"].sub_agents is None


def test_fields_are_told_with_what_they_are_computed_from() -> None:
    assert plan().fields == [
        Field("raw.seen"),
        Field("raw.tries"),
        Field("state.version"),
        Field("computed.kept", ("raw.seen",)),
        Field("computed.ready", ("computed.kept", "raw.tries")),
    ]


def test_tools_are_told_as_agents_are_told() -> None:
    told = explaining.to_json(plan(files=["a", "b"]))
    assert told["required_tools"] == ["browse", "lint_project"]
    assert told["estimated_duration"] == (
        "as long as it takes for 2 commands, 3 agent steps, 1 question, 3 sub-agent steps"
    )
    found = {str(one["step_id"]): one for one in cast(list[dict[str, object]], told["steps"])}
    assert found["batch.parallel_foreach"] == {
        "step_id": "batch.parallel_foreach",
        "type": "parallel_foreach",
        "estimated_sub_agents": 2,
        "dependencies": ("inputs.files",),
    }
    assert found["gate.else.0.exit"] == {"step_id": "gate.else.0.exit", "type": "exit", "conditions": ("!(ready)",)}


def test_what_needs_nobody_takes_moments() -> None:
    assert explaining.duration(explaining.explain(compiling.compiled((("a", "steps: [{type: exit}]"),)))) == "moments"
