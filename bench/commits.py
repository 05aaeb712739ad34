"""Watches the store's batches from inside a process: how many there were and how long each took."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from moot.store.sqlite.group_commit import GroupCommit
from moot.store.sqlite.turnstile import Turnstile
from moot.store.sqlite.work import Work

Take = Callable[[], Work | None]


Span = tuple[float, float]  # from BEGIN to the end of COMMIT, on the clock that all processes share


@contextmanager
def watched() -> Generator[list[Span]]:
    """When every batch of this process was in the database; waiting for its turn is left out."""
    spans: list[Span] = []
    names = ("commit", "commit_at_once")
    plain = {name: getattr(GroupCommit, name) for name in names}

    def timed(committing: Any) -> Any:
        def watch(self: GroupCommit, batch: list[Work], take: Take) -> bool:
            started = monotonic()
            has_news = committing(self, batch, take)
            spans.append((started, monotonic()))
            return has_news

        return watch

    for name in names:
        setattr(GroupCommit, name, timed(plain[name]))
    try:
        yield spans
    finally:
        for name in names:
            setattr(GroupCommit, name, plain[name])


def without_turnstile() -> None:
    """For the rest of this process, leave the order of writers to SQLite's own lock."""

    Turnstile.__enter__ = lambda self: None
    Turnstile.__exit__ = lambda self, kind, error, trace: None
    Turnstile.is_entered_at_once = lambda self: True
    Turnstile.leave = lambda self: None
