"""Tasks of sub-agents, by name: what each asks for, its steps, and what is done when it has failed."""

from collections.abc import Mapping

from moot.core.json import Json
from moot.engine.definition import SubTask
from moot.engine.files.section import Notes
from moot.engine.files.sections import inputs, steps
from moot.engine.shape import TaskShape

SECTION = "sub_agent_tasks"


def read(said: Mapping[str, Json], notes: Notes) -> dict[str, SubTask]:
    found: dict[str, SubTask] = {}
    for name, words in said.items():
        path = (SECTION, name)
        shaped = notes.fit(TaskShape, words, path)
        if shaped is None:
            continue
        errors = shaped.error_handling
        notes.check_templates(shaped.prompt, (*path, "prompt"))
        found[name] = SubTask(
            name,
            inputs.of_task(shaped.inputs, (*path, "inputs"), notes),
            steps.read(shaped.steps, (*path, "steps"), notes),
            errors.return_on_error,
            steps.read(errors.cleanup_on_error, (*path, "error_handling", "cleanup_on_error"), notes),
            shaped.prompt,
        )
    return found
