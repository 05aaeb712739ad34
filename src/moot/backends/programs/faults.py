"""What went wrong at a model's provider, by a status or by the words of programs; or at the start of a program."""

import re

from moot.backends.backend import Failure
from moot.core import quota
from moot.core.errors import MootError
from moot.process import errors

_STATUS = re.compile(r"(?:status(?: code)?:?|\bAPI Error:|\bHTTP(?: error)?:?|\"code\":)\s*\(?(\d{3})\b", re.IGNORECASE)
_WORDS: tuple[tuple[Failure, re.Pattern[str]], ...] = (
    ("rate_limit", re.compile(r"rate.?limit|too many requests|usage limit|quota|RESOURCE_EXHAUSTED", re.IGNORECASE)),
    (
        "auth",
        re.compile(
            r"not logged in|log ?in again|unauthorized|authenticat|(?:invalid|missing|incorrect)[\w ]{0,12} api.?key"
            r"|api.?key[\w ]{0,12} (?:invalid|missing|not valid|not found)|auth method|GEMINI_API_KEY",
            re.IGNORECASE,
        ),
    ),
    (
        "refused",
        re.compile(r"\bmodel [`'\"]?[\w./:-]+[`'\"]? (?:does not exist|not found|is not supported)", re.IGNORECASE),
    ),
    (
        "unavailable",
        re.compile(
            r"stream disconnected|error sending request|connection (?:refused|reset|error|dropped)|ECONN|ENOTFOUND"
            r"|high demand|overloaded|service unavailable|fetch failed|unable to connect|timed? ?out",
            re.IGNORECASE,
        ),
    ),
)
# The next start would only meet it again. Where the system has no room for a process, it may have some later.
_NEVER_STARTS = (
    errors.ArgumentsTooLong,
    errors.BadArguments,
    errors.BadEnvironment,
    errors.BadWorkingDirectory,
    errors.ProgramNotExecutable,
    errors.ProgramNotFound,
)


def at_start(error: MootError) -> Failure:
    """Why a program was not started, as far as the next attempt is concerned."""
    return "cannot_start" if isinstance(error, _NEVER_STARTS) else "error"


def by_status(status: int, message: str = "") -> Failure:
    """What a provider's HTTP status means for the next attempt."""
    if status in (401, 403):
        return "auth"
    if status == 429:
        return "refused" if quota.is_spent(message) else "rate_limit"
    if status in (408, 409, 425) or status >= 500:
        return "unavailable"
    return "refused" if 400 <= status < 500 else "error"


def by_words(text: str) -> Failure | None:
    """What an error message means; None if it could be anything."""
    status = _STATUS.search(text)
    if status is not None and 400 <= int(status[1]) < 600:
        return by_status(int(status[1]), text)
    if quota.is_spent(text):
        return "refused"
    return next((failure for failure, pattern in _WORDS if pattern.search(text)), None)
