"""Watches the store's batches from inside a process: how many there were and how long each took."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from moot.store.sqlite.group_commit import GroupCommit
from moot.store.sqlite.turnstile import Turnstile
from moot.store.sqlite.work import Work

Take = Callable[[], Work | None]
Span = tuple[float, float]  # from BEGIN to the end of COMMIT, on the clock that all processes share


@contextmanager
def watched() -> Generator[list[Span]]:
    """When every batch of this process was in the database; waiting for its turn is left out."""
    spans: list[Span] = []
    commit = GroupCommit.commit

    def timed(self: GroupCommit, batch: list[Work], take: Take) -> bool:
        started = time.monotonic()
        try:
            return commit(self, batch, take)
        finally:
            spans.append((started, time.monotonic()))

    GroupCommit.commit = timed
    try:
        yield spans
    finally:
        GroupCommit.commit = commit


def without_turnstile() -> None:
    """For the rest of this process, leave the order of writers to SQLite's own lock."""

    Turnstile.__enter__ = lambda self: None
    Turnstile.__exit__ = lambda self, kind, error, trace: None
