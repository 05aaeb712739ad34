"""Whom the steps of a workflow file ask: whoever they name is among its agents, and where it has several, every step
that needs one says which. What a sub-agent does is done by one made after the agent that its step names."""

from collections.abc import Iterator, Sequence
from itertools import chain

from moot.core import problems, schemas
from moot.core.nearest import hint
from moot.core.problems import Problem
from moot.core.yaml import Document
from moot.engine import explaining
from moot.engine.definition import Definition, SubTask
from moot.engine.step import Step
from moot.registry import names
from moot.registry.agents import UNSTARTED
from moot.workflow.workflow import Workflow

_UNNAMED = {
    "include_workflow": "`{}` includes a step that needs an agent",
    "parallel_foreach": "the sub-agents of `{}` need an agent",
}


def unknown(own: Definition, workflow: Workflow, document: Document) -> Iterator[Problem]:
    """Whom its own steps name, if it says who there is."""
    here = [one.name for one in workflow.agents]
    known = {names.fold(name) for name in here}
    tasks = chain(*(_of_task(one) for one in own.tasks.values()))
    for step in _all((*_main(own), *tasks)) if here else ():
        path = (*step.place, "agent")
        named = schemas.value_at(document.data, path)
        if isinstance(named, str) and named and "{{" not in named and names.fold(named) not in known:
            fact = f"`{problems.spell(path)}` names `{named[:80]}`, who is not among the agents"
            yield Problem(path, fact, hint(named, here))


def unclear(definition: Definition, workflow: Workflow) -> Iterator[Problem]:
    """Steps that could be any agent's; `definition` has what they lead to."""
    if _started(workflow) < 2:
        return
    for step in _unnamed(_main(definition), definition):
        where = "there" if step.type == "include_workflow" else "in the step"
        yield Problem(step.place, f"{_needs(step)}, and there are several", f"Name it {where}: `agent: NAME`.")


def absent(definition: Definition, workflow: Workflow, document: Document) -> list[str]:
    """A warning of the first step that nobody is there for: the file may be meant for an agent that drives it."""
    found = None if _started(workflow) else next(_unnamed(_main(definition), definition), None)
    if found is None:
        return []
    line, column = document.place(found.place)
    fact = f"{_needs(found)}, and the file has none that moot starts: moot run fails there"
    return [f"{document.name}:{line}:{column}: {fact}. Over MCP an agent can do it: workflow_start."]


def _started(workflow: Workflow) -> int:
    return sum(one.backend not in UNSTARTED for one in workflow.agents)


def _unnamed(steps: Sequence[Step], definition: Definition) -> Iterator[Step]:
    """Those that need an agent and name none, outside of the tasks of sub-agents."""
    for step in steps:
        if _is_unnamed(step, definition):
            yield step
        elif step.type != "include_workflow":
            for block in step.blocks.values():
                yield from _unnamed(block, definition)


def _is_unnamed(step: Step, definition: Definition) -> bool:
    if step.detail is None:  # what is wrong in it is told already
        return False
    if step.type == "include_workflow":
        return any(_unnamed((*chain(*step.blocks.values()),), step.detail.definition))
    if step.type == "parallel_foreach":
        task = definition.tasks.get(step.detail.task)
        return not step.detail.agent and task is not None and any(_asks(one) for one in _all(_of_task(task)))
    return _asks(step)


def _needs(step: Step) -> str:
    return _UNNAMED.get(step.type, "`{}` needs an agent").format(problems.spell(step.place))


def _asks(step: Step) -> bool:
    return explaining.who(step) == "agent" and not getattr(step.detail, "agent", "")


def _main(definition: Definition) -> tuple[Step, ...]:
    return (*definition.steps, *definition.errors.on_failure)


def _of_task(task: SubTask) -> tuple[Step, ...]:
    return (*task.steps, *task.cleanup)


def _all(steps: Sequence[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        for block in step.blocks.values():
            yield from _all(block)
