"""Steps stand in workflow files beside everything else, and what is wrong in either is told at once."""

from pathlib import Path

import pytest

from moot.app import workflows
from moot.app.project import Project
from moot.workflow.workflow import Workflow, WorkflowInvalid

ALL = """
name: standards:fix
description: Mends what can be mended.
version: 1.0.0
inputs: {limits: {type: object, default: {most: 3}}}
agents: {coder: {script: [{say: hi}]}}
setup: [{shell: "echo ${{ inputs.limits }}", as: told}]
kickoff: "@coder ${{ told }}"
imports: []
default_state: {raw: {seen: []}}
state_schema: {computed: {count: {from: raw.seen, transform: input.length}}}
steps: [{type: exit, reason: "{{ count }}"}]
sub_agent_tasks: {}
error_handling: {}
on_resume: {}
result: "{{ count }} of {{ {a: 1}.a }}"
"""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def read(folder: Path, text: str, name: str = "w.yaml") -> Workflow:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return workflows.read(Project(folder), Path(name))


def refused(folder: Path, text: str) -> list[str]:
    with pytest.raises(WorkflowInvalid) as caught:
        read(folder, text)
    return [f"{one.file}:{one.line}:{one.column}: {one.fact} {one.remedy}" for one in caught.value.faults]


def test_all_sections_may_stand_in_one_file(tmp_path: Path) -> None:
    found = read(tmp_path, ALL, "flows/fix.yaml")
    assert (found.name, found.description, found.version) == ("standards:fix", "Mends what can be mended.", "1.0.0")
    assert found.flow == (("flows/fix.yaml", ALL),)
    assert found.result == ""  # the engine's
    assert (found.inputs[0].type, found.inputs[0].default) == ("object", {"most": 3})
    assert found.warnings == ()


def test_steps_need_no_agents(tmp_path: Path) -> None:
    found = read(tmp_path, "steps: [{type: exit}]\nresult: done with ${{ instance }}")
    assert (found.agents, found.warnings) == ((), ())
    assert found.result == "done with ${{ instance }}"


def test_without_steps_there_is_no_flow(tmp_path: Path) -> None:
    assert read(tmp_path, "agents: {a: {script: [{say: hi}]}}\nkickoff: '@a'\ndefault_state: {raw: {a: 1}}").flow == ()


def test_what_is_wrong_in_the_steps_and_around_them_is_told_at_once(tmp_path: Path) -> None:
    text = "agents: {a: {scrip: []}}\nsteps:\n  - {type: exit, reason: '${{ inputs.x }}'}\n  - {type: exi}\n"
    assert refused(tmp_path, text) == [
        "w.yaml:1:14: `scrip` is no key of `agents.a`. Did you mean `script`?",
        "w.yaml:3:26: `${{ }}` is for what is known before a run. Write {{ }}, such as {{ inputs.x }}.",
        "w.yaml:4:12: there is no kind of step `exi`. Did you mean `exit`?",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "agents: {a: {script: [{say: hi}]}}\nsteps: [{type: exit}]\nkickoff: '@a {{ inputs.x }}'",
            (
                "w.yaml:3:10: `kickoff`: `{{ }}` is for steps, and nothing fills it in here. "
                "Write ${{ inputs.x }}; for the braces themselves, ${{ '{{' }}."
            ),
        ),
        (
            "steps: [{type: exit}]\nresult: '{{ 1 }} ${{ instance }}'",
            "w.yaml:2:9: `${{ }}` is for what is known before a run. Write {{ }}, such as {{ inputs.x }}.",
        ),
        (
            "default_state: {raw: {a: '${{ instance }}'}}\nsteps: [{type: exit}]",
            "w.yaml:1:26: `${{ }}` is for what is known before a run. Write {{ }}, such as {{ inputs.x }}.",
        ),
        ("steps: []", "w.yaml:1:8: `steps` must not be empty. Add to it."),
    ],
)
def test_a_mistake_is_told_with_its_place_and_a_remedy(tmp_path: Path, text: str, told: str) -> None:
    assert told in refused(tmp_path, text)


def test_what_steps_are_warned_of_is_told_with_the_rest(tmp_path: Path) -> None:
    text = "state_schema:\n  raw: {a: string}\n  computed: {a: {from: raw.b, transform: input}}\nsteps: [{type: exit}]"
    told = "w.yaml:3:14: a is raw and computed at once; who reads it sees what is computed."
    assert read(tmp_path, text).warnings == (told,)


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ("steps: [{type: agent_prompt, agent: codr, prompt: hi}]", "2:37: `steps item 1, agent`"),
        (
            "steps: [{type: sequential, steps: [{type: agent_prompt, agent: codr, prompt: hi}]}]",
            "2:64: `steps item 1, steps item 1, agent`",
        ),
        (
            (
                "steps: [{type: parallel_foreach, items: [], sub_agent_task: t, agent: codr}]\n"
                "sub_agent_tasks: {t: {steps: [{type: exit}]}}"
            ),
            "2:71: `steps item 1, agent`",
        ),
        (
            "steps: [{type: exit}]\nerror_handling: {on_failure: [{type: agent_prompt, agent: codr, prompt: hi}]}",
            "3:59: `error_handling.on_failure item 1, agent`",
        ),
    ],
)
def test_an_agent_that_a_step_names_is_one_of_the_file(tmp_path: Path, steps: str, place: str) -> None:
    told = f"w.yaml:{place} names `codr`, who is not among the agents. Did you mean `coder`?"
    assert refused(tmp_path, "agents: {coder: {script: [{say: hi}]}}\n" + steps) == [told]
    assert read(tmp_path, "agents: {coder: {script: [{say: hi}]}}\n" + steps.replace("codr", "Coder")).flow
    assert read(tmp_path, steps).flow  # without agents it may be anybody who comes


TWO = "agents: {ann: {script: [{say: hi}]}, ben: {script: [{say: hi}]}}\n"
ASKING = [
    "type: agent_prompt, prompt: hi",
    "type: agent_shell_command, command: ls",
    "type: apply_hints, file: a, hints: []",
    "type: mcp_call, method: ping, agent: true",
]


@pytest.mark.parametrize("step", ASKING)
def test_where_there_are_several_agents_a_step_names_its_own(tmp_path: Path, step: str) -> None:
    text = f"steps:\n  - {{type: sequential, steps: [{{{step}}}]}}\nerror_handling: {{on_failure: [{{{step}}}]}}"
    assert refused(tmp_path, TWO + text) == [
        f"w.yaml:{place} needs an agent, and there are several. Name it in the step: `agent: NAME`."
        for place in ("3:32: `steps item 1, steps item 1`", "4:31: `error_handling.on_failure item 1`")
    ]
    assert read(tmp_path, TWO + text.replace(step, f"{step.replace(', agent: true', '')}, agent: Ann")).flow
    assert read(tmp_path, TWO.replace("ben: {script: [{say: hi}]}", "ben: {backend: external}") + text).flow


@pytest.mark.parametrize("step", ASKING)
def test_where_there_are_several_agents_whoever_gives_tasks_to_others_names_one(tmp_path: Path, step: str) -> None:
    given = "steps:\n  - {type: parallel_foreach, items: [1], sub_agent_task: t}\n"
    text = f"{given}sub_agent_tasks: {{t: {{steps: [{{{step}}}]}}}}"
    told = "the sub-agents of `steps item 1` need an agent, and there are several. Name it in the step: `agent: NAME`."
    assert refused(tmp_path, TWO + text) == [f"w.yaml:3:5: {told}"]
    assert read(tmp_path, TWO + text.replace("sub_agent_task: t", "sub_agent_task: t, agent: ann")).flow
    assert read(tmp_path, TWO + text.replace(f"{{{step}}}", "{type: exit}")).flow


@pytest.mark.parametrize("step", ASKING)
def test_where_nobody_is_there_for_a_step_a_warning_says_so(tmp_path: Path, step: str) -> None:
    text = f"steps:\n  - {{type: exit}}\n  - {{{step}}}\n  - {{id: more, {step}}}\n"
    told = "`steps item 2` needs an agent, and the file has none that moot starts: moot run fails there. "
    told = f"w.yaml:3:5: {told}Over MCP an agent can do it: workflow_start."
    assert read(tmp_path, text).warnings == (told,)
    assert read(tmp_path, text + "agents: {you: {backend: external}}").warnings == (told,)
    assert read(tmp_path, text + "agents: {ann: {script: [{say: hi}]}}").warnings == ()
    assert read(tmp_path, text.replace(step, f"{step.replace(', agent: true', '')}, agent: ann")).warnings == ()


@pytest.mark.parametrize("step", ASKING)
def test_an_included_workflow_names_one_of_several_agents_too(tmp_path: Path, step: str) -> None:
    (tmp_path / "x.yaml").write_text(f"name: x\nsteps: [{{{step}}}]")
    text = "imports: [x.yaml]\nsteps:\n  - {type: include_workflow, workflow: x}"
    told = "`steps item 1` includes a step that needs an agent, and there are several. Name it there: `agent: NAME`."
    assert refused(tmp_path, TWO + text) == [f"w.yaml:4:5: {told}"]
    (tmp_path / "x.yaml").write_text(f"name: x\nsteps: [{{{step.replace(', agent: true', '')}, agent: ann}}]")
    assert read(tmp_path, TWO + text).flow


@pytest.mark.parametrize("step", ASKING)
def test_an_agent_that_does_not_answer_but_acts_is_one_of_the_file_too(tmp_path: Path, step: str) -> None:
    (told,) = refused(tmp_path, f"{TWO}steps: [{{{step.replace(', agent: true', '')}, agent: anne}}]")
    assert told.endswith("`steps item 1, agent` names `anne`, who is not among the agents. Did you mean `ann`?")


def test_a_file_for_others_can_be_run_itself(tmp_path: Path) -> None:
    found = read(tmp_path, "workflow:\n  name: shared:check\n  steps: [{type: exit}]\n")
    assert (found.name, found.flow[0][0]) == ("shared:check", "w.yaml")
    assert refused(tmp_path, "workflow:\n  nam: x\n  steps: [{type: exi}]") == [
        "w.yaml:2:3: `nam` is no key of this file. Did you mean `name`?",
        "w.yaml:3:18: there is no kind of step `exi`. Did you mean `exit`?",
    ]


def test_javascript_that_cannot_be_read_is_told_with_its_place(tmp_path: Path) -> None:
    text = (
        "name: bad\n"
        "state_schema: {computed: {a: {from: raw.x, transform: 'input.map('}}}\n"
        "steps:\n"
        "  - {type: conditional, condition: 'x +', then: [{type: user_message, message: 'a {{ b c }} d'}]}\n"
    )
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, text)
    told = [(one.line, one.column, one.fact) for one in caught.value.faults]
    assert [(line, column) for line, column, _ in told] == [(2, 55), (4, 36), (4, 80)]
    assert all("JavaScript cannot read" in fact for _, _, fact in told)
