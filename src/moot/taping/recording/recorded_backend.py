"""A backend whose attempts are written down."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Protocol

from moot.backends.backend import Assignment, Backend, Briefing, Letter, Progress
from moot.runner.journals import Kept, StoredJournal
from moot.runner.refusals import Noted


class Scribe(Protocol):
    """Who writes it down."""

    def is_about(self, assignment: Assignment) -> bool: ...

    def briefed(self, assignment: Assignment, briefing: Briefing) -> None: ...

    def gets(self, assignment: Assignment, mail: tuple[Letter, ...]) -> None: ...

    def noted(self, assignment: Assignment, noted: Noted) -> None: ...

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

        try:
            # Closed with this one, so that cancelling ends what it has started.
            heard = self._watched(replace(assignment, brief=brief, more=more))
            async with aclosing(self._backend.run(heard)) as pieces:
                async for progress in pieces:
                    scribe.goes_on(assignment, progress)
                    yield progress
        except Exception as error:
            scribe.crashed(assignment, error)
            raise

    def _watched(self, assignment: Assignment) -> Assignment:
        """With its journal, if one is kept."""
        if not isinstance(assignment, Kept):
            return assignment
        kept = assignment.journal

        async def journal() -> StoredJournal:
            found = await kept()
            found.watch = partial(self._scribe.noted, assignment)
            return found

        return replace(assignment, journal=journal)
