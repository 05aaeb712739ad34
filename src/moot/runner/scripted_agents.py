"""Scripted agents: their settings have lines, which are played, or the answers of a model, which a session asks for."""

from collections.abc import AsyncIterator

from moot.backends.backend import Assignment, Progress
from moot.backends.scripted import ScriptedBackend
from moot.core.clock import Clock
from moot.models.retrying import Patience
from moot.runner.api_agents import ScriptedModelBackend


class ScriptedAgents:
    """The backend `scripted`."""

    def __init__(self, clock: Clock | None = None, patience: Patience | None = None) -> None:
        self._lines = ScriptedBackend()
        self._answers = ScriptedModelBackend(clock, patience)

    def run(self, assignment: Assignment) -> AsyncIterator[Progress]:
        chosen = self._answers if "answers" in assignment.settings else self._lines
        return chosen.run(assignment)
