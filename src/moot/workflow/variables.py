"""Variables: which there are in each part of a workflow, and what they stand for."""

import os
from collections.abc import Iterator, Mapping

from moot.core import secrecy
from moot.core.errors import InvalidInput
from moot.workflow import templates
from moot.workflow.workflow import Value, Workflow

# Words that a setup command's variable cannot be called: they lead to other variables, here or in steps.
RESERVED = frozenset(("context", "env", "inputs", "instance", "item", "setup", "state", "steps", "workflow"))
_OWN = ("workflow.name", "workflow.instance", "instance")
_CONTEXT = ("context.channel", "context.document")


class EnvironmentRefused(InvalidInput):
    """A variable of the environment is not set, or may be a secret."""

    code = "ENVIRONMENT_REFUSED"


def known(workflow: Workflow, *, before: int | None = None) -> set[str]:
    """All variables but those of the environment; `before` leaves out what that setup command and later ones set."""
    tasks = workflow.setup if before is None else workflow.setup[:before]
    return {
        *_OWN,
        *_CONTEXT,
        *(f"inputs.{one.name}" for one in workflow.inputs),
        *(task.name for task in tasks if task.name is not None),
    }


def values(
    workflow: Workflow, instance: str, inputs: Mapping[str, Value], environ: Mapping[str, str] | None = None
) -> dict[str, Value]:
    """What is known before setup. Of the environment only what the workflow asks for is taken along."""
    own: dict[str, Value] = {
        "workflow.name": workflow.name,
        "workflow.instance": instance,
        "instance": instance,
        **{f"inputs.{name}": value for name, value in inputs.items()},
    }
    source = os.environ if environ is None else environ
    for name in _asked_of_environment(workflow):
        own[f"env.{name}"] = of_environment(workflow.env, name, source)
    folder = templates.expand(workflow.context.dir, own).text.rstrip("/") or "."
    for key, file in (("channel", workflow.context.channel), ("document", workflow.context.document)):
        own[f"context.{key}"] = f"{folder}/{templates.expand(file, own).text}"
    return own


def of_environment(declared: Mapping[str, str | None], name: str, environ: Mapping[str, str]) -> str:
    """The variable, by the allow-list: what is declared, and what is there and does not look secret."""
    value = environ.get(name)
    if name in declared:
        stand_in = declared[name] if value is None else value
        if stand_in is None:
            raise EnvironmentRefused(f"{name} is not set in the environment.", f"Set it: export {name}=….")
        return stand_in
    if secrecy.is_secret_name(name):
        raise EnvironmentRefused(
            f"{name} may be a secret, and what agents read is kept.", f"If they may see it, declare it: env: [{name}]."
        )
    if value is None:
        raise EnvironmentRefused(
            f"{name} is not set in the environment.", f"Set it, or declare what stands in: env: {{{name}: …}}."
        )
    return value


def texts(workflow: Workflow) -> Iterator[str]:
    """Everything that variables may stand in."""
    yield from (workflow.context.dir, workflow.context.channel, workflow.context.document, *workflow.context.documents)
    yield from (task.shell for task in workflow.setup)
    yield from (agent.system_prompt for agent in (*workflow.agents, *workflow.cast))
    yield from (task.description for task in workflow.tasks)
    yield from (str(check.get("shell", "")) for task in workflow.tasks for check in task.checks)
    yield from (workflow.kickoff, workflow.result, workflow.notify.shell if workflow.notify else "")


def _asked_of_environment(workflow: Workflow) -> list[str]:
    named = {one.name for text in texts(workflow) for one in templates.places(text) if one.name}
    return sorted(name.removeprefix("env.") for name in named if name.startswith("env."))
