"""The backends of a host: the only place that picks them. What is heavy is loaded by a backend when it first runs."""

from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path

from moot.backends.backend import Assignment, Backend, Progress
from moot.backends.command import CommandBackend
from moot.backends.programs import KINDS, cursor, programs, project_file
from moot.backends.scripted import ScriptedBackend
from moot.runner.api_agents import ApiBackend, Between, ScriptedModelBackend


class _Scripted:
    """Lines for the agent, or answers for its model."""

    def __init__(self, model: Backend | None = None) -> None:
        self._agent = ScriptedBackend()
        self._model = model or ScriptedModelBackend()

    def through(self, between: Between) -> Backend:
        return _Scripted(ScriptedModelBackend().through(between))

    def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        return (self._model if assignment.settings.get("answers") else self._agent).run(assignment)


_OWN: Mapping[str, Callable[[], Backend]] = {
    "api": ApiBackend,
    "command": CommandBackend,
    "scripted": _Scripted,
}
NAMES = frozenset((*_OWN, *(kind.name for kind in KINDS)))  # what this version runs


def recover(workspace: Path) -> None:
    """Put back what a killed host has left changed of other programs' files in a workspace."""
    project_file.recover(workspace / cursor.FOLDER)


def make() -> dict[str, Backend]:
    """One of each, for one host."""
    return {**programs(), **{name: make() for name, make in _OWN.items()}}
