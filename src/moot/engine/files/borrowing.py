"""Tasks of sub-agents that one file names and another has."""

from collections.abc import Sequence
from itertools import chain

from moot.core.nearest import hint
from moot.core.yaml import Path
from moot.engine.files.importing import Readings, imports
from moot.engine.files.sections import tasks


def owners(readings: Readings, name: str) -> dict[str, str]:
    """Where each task stands that steps of a text lead to, also by way of other tasks; what leads nowhere is noted."""
    found: dict[str, str] = {}
    waiting = [(name, path, task) for path, task in readings[name].notes.tasks]
    for at, path, task in waiting:  # which grows on the way
        if "{{" in task:
            continue
        having = _having(readings, at, task)
        if len(having) != 1:
            if at == name:  # of others it is told where it stands
                readings[name].notes.add(path, *_nowhere(readings, name, task, having))
        elif task not in found:
            found[task] = having[0]
            waiting += [] if having[0] == name else _named_in(readings, having[0], task)
        elif found[task] != having[0]:
            fact = f"`{task[:80]}` would be that of {found[task]} and that of {having[0]}"
            readings[at].notes.add(path, fact, "Rename one of them.")
    return found


def _having(readings: Readings, name: str, task: str) -> list[str]:
    if task in readings[name].definition.tasks:
        return [name]
    return [one for one in imports(readings, name) if task in readings[one].definition.tasks]


def _named_in(readings: Readings, name: str, task: str) -> list[tuple[str, Path, str]]:
    notes = readings[name].notes
    return [(name, path, other) for path, other in notes.tasks if path[:2] == (tasks.SECTION, task)]


def _nowhere(readings: Readings, name: str, task: str, having: Sequence[str]) -> tuple[str, str]:
    if having:
        return f"`{task[:80]}` stands in {' and in '.join(having)}", "Rename one of them."
    known = {*chain(*(readings[one].definition.tasks for one in (name, *imports(readings, name))))}
    return f"there is no sub-agent task `{task[:80]}`", hint(task, known) if known else f"Add it to {tasks.SECTION}."
