"""A check: one thing that was looked at, and what was found."""

from collections.abc import Callable
from typing import Literal

from moot.core.errors import MootError
from moot.core.records import record

State = Literal["ok", "absent", "problem"]  # absent: it cannot be used, and that is no problem until somebody wants it


@record
class Check:
    name: str
    state: State
    fact: str
    remedy: str = ""  # one a line


def ok(name: str, fact: str) -> Check:
    return Check(name, "ok", fact)


def absent(name: str, fact: str, remedy: str) -> Check:
    return Check(name, "absent", fact, remedy)


def problem(name: str, fact: str, remedy: str) -> Check:
    return Check(name, "problem", fact, remedy)


def failed(name: str, error: MootError) -> Check:
    return Check(name, "problem", f"{error.code}: {error.fact}", error.remedy)


def guarded(name: str, look: Callable[[], Check]) -> Check:
    """What the look finds, or why it could not."""
    try:
        return look()
    except MootError as error:
        return failed(name, error)
    except OSError as error:
        return problem(name, f"{error.filename or name}: {error.strerror}.", "Check that it is there and readable.")
