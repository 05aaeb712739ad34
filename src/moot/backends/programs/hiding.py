"""Secrets kept out of everything that is said about a program: in errors, warnings and its own words alike."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from moot.backends.backend import Called, Ended, Progress, Usage, Warned, Wrote

HIDDEN = "[hidden]"
_SHORTEST = 6  # a shorter value is a word like any other
_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|HEADERS|AUTH|COOKIE")


def secrets_of(env: Mapping[str, str], given: Iterable[str] = ()) -> tuple[str, ...]:
    """The values of variables whose names say that they are secret, and of those in `given`."""
    named = frozenset(given)
    return tuple(
        value
        for name, value in env.items()
        if len(value) >= _SHORTEST and (name in named or _NAMES.search(name.upper()))
    )


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, the longest first, because one may be a part of another."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def hidden(progress: Progress, secrets: tuple[str, ...]) -> Progress:
    """The same event without the secrets."""
    match progress:
        case Wrote():
            return Wrote(hide(progress.text, secrets))
        case Warned():
            return Warned(hide(progress.text, secrets))
        case Ended():
            return replace(progress, text=hide(progress.text, secrets), error=hide(progress.error, secrets))
        case Called() | Usage():
            return progress
