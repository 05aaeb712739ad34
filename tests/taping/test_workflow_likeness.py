"""What has changed in a workflow since it was recorded is told in words; what only the machine decides is not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from moot.core.permissions import PRESETS
from moot.taping import members
from moot.taping.replaying import workflow_likeness
from moot.taping.tape import Header
from moot.workflow.workflow import AgentDefinition, Backend, Budget, Context, Workflow

ANN = AgentDefinition("ann", "claude", "anthropic/x", "Be kind.", tools=("inbox",))


@dataclass(frozen=True, slots=True)
class Choice:
    backend: Backend
    model: str | None
    is_said: bool = True


def workflow(*agents: AgentDefinition, context: Context | None = None) -> Workflow:
    return Workflow("w", "w.yaml", agents, context=context or Context())


def chosen(found: Workflow) -> Mapping[str, Choice]:
    return {one.name: Choice(one.backend or "claude", one.model, one.backend is not None) for one in found.agents}


def header(found: Workflow, instance: str = "first") -> Header:
    agents, context = members.of_workflow(found, chosen(found)), members.context(found)
    return Header("0", found.name, instance, (), agents, context)


def compared(old: Workflow, new: Workflow) -> list[str]:
    return list(workflow_likeness.compare(header(old), new, chosen(new), "again"))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (replace(ANN, model="anthropic/y"), "the model was anthropic/x and is anthropic/y"),
        (replace(ANN, model=None), "the model was anthropic/x and is left open"),
        (replace(ANN, system_prompt="Be brief."), "its system prompt has changed"),
        (replace(ANN, tools=None), "the tools were inbox and are all"),
        (replace(ANN, tools=()), "the tools were inbox and are none"),
        (replace(ANN, permissions=PRESETS["full"]), "the permissions were ask and are full"),
        (replace(ANN, backend="codex"), "the backend was claude and is codex"),
        (replace(ANN, backend=None), "the backend was claude and is left open"),
        (replace(ANN, command=("x",)), "`command` has changed"),
        (replace(ANN, is_isolated=True), "`isolated` has changed"),
        (replace(ANN, keeps_conversation=True), "`resume` has changed"),
        (replace(ANN, max_turns=3), "`max_turns` has changed"),
    ],
)
def test_what_has_changed_of_an_agent_is_told(changed: AgentDefinition, told: str) -> None:
    assert compared(workflow(ANN), workflow(changed)) == [f"ann: {told}"]
    assert compared(workflow(ANN), workflow(ANN)) == []


def test_who_has_come_and_gone_is_told() -> None:
    ben = replace(ANN, name="ben")
    assert compared(workflow(ANN), workflow(ben)) == [
        "ann was in the workflow, and is not any more",
        "ben is new in the workflow",
    ]


def test_what_agents_share_is_compared_whatever_the_instance_is_called() -> None:
    was = workflow(context=Context(document="first/notes.md", documents=("a.md", "of-first.md"), dir=".x/first/"))
    assert compared(was, workflow(context=replace(was.context, document="again/notes.md", dir=".x/again/"))) == []
    named = replace(was.context, document="plan.md", documents=(), owner_rule="named", owner="ann")
    assert compared(was, workflow(context=named)) == [
        "the document was first/notes.md and is plan.md",
        "the list of documents was a.md, of-first.md and is none",
        "the document owner was default and is ann",
    ]
    assert compared(workflow(context=Context(is_on=False)), was) == ["the context was off and is on"]
    assert compared(was, workflow(context=Context(is_on=False))) == ["the context was on and is off"]


def test_another_budget_is_told() -> None:
    less, none = (replace(workflow(ANN), budget=one) for one in (Budget(turns=5), Budget()))
    assert compared(none, less) == ["the budget was none and is 5 turns"]
    assert compared(less, none) == ["the budget was 5 turns and is none"]


def test_what_was_found_on_the_machine_is_no_change_of_the_workflow() -> None:
    """Nobody says what runs it: there it was a program, here it would be asked over its API."""
    there = workflow(replace(ANN, backend=None))
    here = workflow(replace(ANN, backend=None, base_url="https://x", env=("A_KEY",)))
    now = {"ann": Choice("api", "anthropic/x", is_said=False)}
    assert list(workflow_likeness.compare(header(there), here, now, "again")) == []


def test_the_variable_with_the_key_is_not_compared() -> None:
    was, now = (workflow(replace(ANN, backend="api", env=(name,))) for name in ("ONE_KEY", "OTHER_KEY"))
    assert compared(was, now) == []
    was, now = (workflow(replace(ANN, backend="command", env=(name,))) for name in ("ONE", "OTHER"))
    assert compared(was, now) == ["ann: `env` has changed"]
