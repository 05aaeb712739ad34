"""A check: one thing that was looked at, and what was found."""

from collections.abc import Callable
from dataclasses import dataclass

from moot.core.errors import MootError


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    is_ok: bool
    fact: str
    remedy: str = ""


def ok(name: str, fact: str) -> Check:
    return Check(name, True, fact)


def problem(name: str, fact: str, remedy: str) -> Check:
    return Check(name, False, fact, remedy)


def failed(name: str, error: MootError) -> Check:
    return Check(name, False, f"{error.code}: {error.fact}", error.remedy)


def guarded(name: str, look: Callable[[], Check]) -> Check:
    """What the look finds, or why it could not."""
    try:
        return look()
    except MootError as error:
        return failed(name, error)
    except OSError as error:
        return problem(name, f"{error.filename or name}: {error.strerror}.", "Check that it is there and readable.")
