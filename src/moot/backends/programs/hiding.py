"""Secrets kept out of everything that is said about a program: in errors, warnings and its own words alike."""

from dataclasses import replace

from moot.backends.backend import Called, Ended, Progress, Usage, Warned, Wrote
from moot.core.secrecy import hide
from moot.core.secrecy import secrets_of as secrets_of


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
