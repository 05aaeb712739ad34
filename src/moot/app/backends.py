"""The backends of a host: the only place that picks them. Each is loaded when the first agent runs on it, because a
host seldom runs more than one kind, and what agents that are models take is heavy."""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from moot.backends.backend import Assignment, Backend, Progress
from moot.backends.programs.known import PROGRAMS
from moot.backends.scripted import ScriptedBackend

if TYPE_CHECKING:
    from moot.runner.api_agents import Between


class _Scripted:
    """Lines for the agent, or answers for its model."""

    def __init__(self, between: "Between | None" = None) -> None:
        self._agent = ScriptedBackend()
        self._model: Backend | None = None
        self._between = between

    def through(self, between: "Between") -> Backend:
        return _Scripted(between)

    def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        return (self._of_model() if assignment.settings.get("answers") else self._agent).run(assignment)

    def _of_model(self) -> Backend:
        if self._model is None:
            self._model = _scripted_model(self._between)
        return self._model


def _scripted_model(between: "Between | None") -> Backend:
    from moot.runner.api_agents import ScriptedModelBackend  # noqa: PLC0415  # heavy

    found = ScriptedModelBackend()
    return found if between is None else found.through(between)


def _api() -> Backend:
    from moot.runner.api_agents import ApiBackend  # noqa: PLC0415  # heavy

    return ApiBackend()


def _command() -> Backend:
    from moot.backends.command import CommandBackend  # noqa: PLC0415  # not for scripted agents

    return CommandBackend()


def _program(name: str) -> Backend:
    from moot.backends.programs import kinds  # noqa: PLC0415  # heavy

    return kinds.backend(name)


_MAKERS: Mapping[str, Callable[[], Backend]] = {
    "api": _api,
    "command": _command,
    "scripted": _Scripted,
    **{name: partial(_program, name) for name in PROGRAMS},
}
NAMES = frozenset(_MAKERS)  # what this version runs


class Backends(Mapping[str, Backend]):
    """One of each, for one host."""

    def __init__(self) -> None:
        self._made: dict[str, Backend] = {}

    def __getitem__(self, name: str) -> Backend:
        if name not in self._made:
            self._made[name] = _MAKERS[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MAKERS)

    def __len__(self) -> int:
        return len(_MAKERS)


def recover(workspace: Path) -> None:
    """Put back what a killed host has left changed of other programs' files in a workspace."""
    from moot.backends.programs import cursor, project_file  # noqa: PLC0415  # heavy

    project_file.recover(workspace / cursor.FOLDER)
