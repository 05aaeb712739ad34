"""Looks at a workflow without running it: what is wrong, who would run where, and whom the first words wake."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from moot.api import access
from moot.app import references, shadows, workflows
from moot.app.choosing import Choice
from moot.app.workflows import Casting, Loaded
from moot.backends.script import Line
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.engine import explaining
from moot.engine.explaining import Plan
from moot.engine.files import compiling
from moot.workflow import inputs, schema, stored, trees
from moot.workflow.members import Flags
from moot.workflow.patterns import ALONE
from moot.workflow.schema import FlowForms
from moot.workflow.trees import Tree
from moot.workflow.workflow import AgentDefinition, Fallback, Workflow, WorkflowInvalid


@record
class Checked:
    """A file with nothing wrong in it; whether all of its agents can be run here is another matter."""

    casting: Casting
    woken: tuple[str, ...]  # by the kickoff
    plan: Plan | None = None  # of its steps, if it has some

    @property
    def workflow(self) -> Workflow:
        return self.casting.workflow


@record
class CheckedAgent:
    """An agent file with nothing wrong in it, nor in those that it leads to."""

    casting: Casting

    @property
    def agent(self) -> AgentDefinition:
        return self.casting.workflow.agents[0]


def check(target: str, given: Sequence[str] = (), flags: Flags | None = None) -> Checked | CheckedAgent:
    """Read a workflow, by path or name, or an agent file; WorkflowInvalid tells everything that is wrong."""
    project = access.find_project()
    if target.endswith(".md"):
        return CheckedAgent(workflows.cast_agent(project, Path(target)))
    file = workflows.find(project, target)
    casting = workflows.cast(project, file, flags)
    if (shadow := shadows.of(project, target, file)) is not None:
        told = (*casting.workflow.warnings, shadow.told)
        casting = replace(casting, workflow=replace(casting.workflow, warnings=told))
    values = inputs.parse(casting.workflow.inputs, given, Path.cwd()) if given else {}
    plan = _plan(casting.workflow, cast(Mapping[str, Json], values))
    return Checked(casting, references.woken(casting.workflow), plan)


def _plan(workflow: Workflow, given: Mapping[str, Json]) -> Plan | None:
    return explaining.explain(compiling.compiled(workflow.flow), given) if workflow.flow else None


def of_loaded(loaded: Loaded) -> Checked:
    """The same of a workflow that can be run at once."""
    plan = _plan(loaded.workflow, {name.removeprefix("inputs."): value for name, value in loaded.given.items()})
    return Checked(Casting(loaded.workflow, loaded.choices, {}), references.woken(loaded.workflow), plan)


def by_name() -> dict[str, Path]:
    """The workflows that can be run by name."""
    return workflows.names(access.find_project())


def editor_schema() -> dict[str, Json]:
    """The JSON Schema of workflow files, with the lines of scripts."""
    from moot.engine.files import editing  # noqa: PLC0415  # as below
    from moot.models.scripted import AnswerLine  # noqa: PLC0415  # every run looks at its workflow, few at the schema

    flow = editing.forms()
    return schema.schema(Line, AnswerLine, FlowForms(flow.sections, flow.definitions))


def grown(casting: Casting, *, with_alone: bool = False) -> tuple[Tree, ...]:
    """For each agent that works with others, or for all, whom it leads to; with the models as they were written."""
    everybody = {name: _as_written(one, casting) for name, one in casting.workflow.everybody.items()}
    own = casting.workflow.agents
    return tuple(trees.grow(one.name, everybody) for one in own if with_alone or one.patterns != ALONE)


def plain(found: Checked | CheckedAgent) -> dict[str, Json]:
    """As JSON for programs."""
    is_ok = not found.casting.obstacles
    grown_trees: list[Json] = [_tree(one) for one in grown(found.casting)]
    if isinstance(found, CheckedAgent):
        agent = {"name": found.agent.name, **stored.settings(found.agent, found.casting.workflow.cast)}
        warnings = found.casting.workflow.warnings
        return {"ok": is_ok, "agent": agent, "trees": grown_trees, **_cast(found.casting), "warnings": warnings}
    told = dict(stored.to_json(found.workflow))
    told.pop("flow")  # the texts are in their files
    rest = {"trees": grown_trees, **_cast(found.casting), "warnings": told.pop("warnings")}
    rest |= {"plan": _plain_plan(found.plan)} if found.plan is not None else {}
    return {"ok": is_ok, "workflow": told, "wakes": found.woken, **rest}


def _plain_plan(plan: Plan) -> dict[str, Json]:
    state: list[Json] = [{"field": one.key, "from": list(one.sources)} for one in plan.fields]
    return {**explaining.to_json(plan), "state": state}


def refused(error: InvalidInput) -> dict[str, Json]:
    """Why it cannot be run, as JSON for programs: each problem with its place, where it has one."""
    faults = error.faults if isinstance(error, WorkflowInvalid) else ()
    placed: list[Json] = [
        {"file": one.file, "line": one.line, "column": one.column, "fact": one.fact, "remedy": one.remedy}
        for one in faults
    ]
    return {"ok": False, "code": error.code, "problems": placed or [{"fact": error.fact, "remedy": error.remedy}]}


def _as_written(agent: AgentDefinition, casting: Casting) -> AgentDefinition:
    """What an API calls a model is not what people know it by."""
    chosen = casting.choices.get(agent.name)
    if chosen is None:
        return agent
    others = tuple(Fallback(one.model) for one in chosen.fallbacks if one.model)
    return replace(agent, model=chosen.model, fallbacks=others)


def _tree(one: Tree) -> dict[str, Json]:
    return {
        "agent": one.agent,
        "pattern": one.kind,
        "models": one.models,
        "is_terminal": one.is_terminal,
        "has_last_word": one.has_last_word,
        "is_shown_before": one.is_shown_before,
        "branches": [_tree(branch) for branch in one.branches],
    }


def _cast(casting: Casting) -> dict[str, Json]:
    obstacles: dict[str, Json] = {
        name: {"fact": one.fact, "remedies": one.remedies} for name, one in casting.obstacles.items()
    }
    return {"runs": {name: choice(one) for name, one in casting.choices.items()}, "cannot_run": obstacles}


def choice(found: Choice) -> dict[str, Json]:
    return {"backend": found.backend, "model": found.model, "why": found.why, "account": found.account}
