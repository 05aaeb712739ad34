"""A backend whose attempts are written down."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from moot.backends.backend import Assignment, Backend, Briefing, Letter, Progress


class Scribe(Protocol):
    """Who writes it down."""

    def is_about(self, assignment: Assignment) -> bool: ...

    def begins(self, assignment: Assignment) -> None: ...

    def briefed(self, assignment: Assignment, briefing: Briefing) -> None: ...

    def gets(self, assignment: Assignment, mail: tuple[Letter, ...]) -> None: ...

    def goes_on(self, assignment: Assignment, progress: Progress) -> None: ...

    def crashed(self, assignment: Assignment, error: Exception) -> None: ...


class RecordedBackend:
    def __init__(self, backend: Backend, scribe: Scribe) -> None:
        self._backend = backend
        self._scribe = scribe

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        scribe = self._scribe
        if not scribe.is_about(assignment):
            async for progress in self._backend.run(assignment):
                yield progress
            return

        async def brief() -> Briefing:
            briefing = await assignment.brief()
            scribe.briefed(assignment, briefing)
            return briefing

        async def more() -> tuple[Letter, ...]:
            mail = await assignment.more()
            scribe.gets(assignment, mail)
            return mail

        scribe.begins(assignment)
        try:
            # Closed with this one, so that cancelling ends what it has started.
            async with aclosing(self._backend.run(replace(assignment, brief=brief, more=more))) as pieces:
                async for progress in pieces:
                    scribe.goes_on(assignment, progress)
                    yield progress
        except Exception as error:
            scribe.crashed(assignment, error)
            raise
