"""What the variables of a run stand for."""

from collections.abc import Sequence
from typing import cast

from moot.core.json import Json
from moot.registry.runs import Run
from moot.workflow.workflow import Value, Workflow


def of_run(run: Run, workflow: Workflow, outputs: Sequence[str]) -> dict[str, Value]:
    """What the variables stand for: what was given at the start, and what setup's commands have printed so far."""
    printed = {task.name: output for task, output in zip(workflow.setup, outputs, strict=False) if task.name}
    return {**{name: _value(value) for name, value in run.given.items()}, **printed}


def _value(stored_form: Json) -> Value:
    """JSON has lists where variables have tuples."""
    return cast(Value, tuple(stored_form) if isinstance(stored_form, list) else stored_form)
