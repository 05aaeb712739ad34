"""What goes wrong in the library and below it, as one of our kinds, in words without secrets."""

import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, cast

import httpx2
from pydantic_ai import exceptions

from moot.core import quota
from moot.core.secrecy import redact
from moot.models.endpoints import Endpoint
from moot.models.model import Kind, ModelFailed

_LONGEST = 400  # characters of what a provider says
_FURTHEST = timedelta(days=1)  # nobody waits longer for a provider, whatever it says

# The first that fits: the special ones stand before those they are a kind of.
_KINDS: tuple[tuple[type[BaseException], Kind], ...] = (
    (exceptions.ModelAuthenticationError, "auth"),
    (exceptions.ModelRequestRejectedError, "refused"),
    (exceptions.ModelRateLimitError, "rate_limit"),
    (exceptions.ModelTimeoutError, "timeout"),
    (exceptions.ModelRequestTimeout, "timeout"),
    (exceptions.ModelUnavailableError, "unavailable"),
    (exceptions.ModelServerError, "unavailable"),
    (exceptions.ModelConnectionError, "unavailable"),
    (httpx2.TimeoutException, "timeout"),
    (httpx2.TransportError, "unavailable"),
    (TimeoutError, "timeout"),
    (OSError, "unavailable"),
)
_SAID: dict[Kind, str] = {
    "auth": "does not accept the key",
    "refused": "does not take this request",
    "rate_limit": "asks to wait",
    "unavailable": "cannot be reached or is overloaded",
    "timeout": "did not answer in time",
    "error": "answered with something that is no answer",
}


def translate(error: BaseException, endpoint: Endpoint, now: datetime) -> ModelFailed:
    is_spent = _is_spent(error)
    kind: Kind = "refused" if is_spent else _kind(error)
    told = _shortened(redact(_message(error), [endpoint.key] if endpoint.key else []))
    fact = f"{endpoint.place} {_SAID[kind]} ({endpoint.name}{', ' + told if told else ''})."
    remedy = quota.REMEDY if is_spent else _remedy(kind, endpoint)
    return ModelFailed(kind, fact, remedy, until=_until(error, kind, now))


def _is_spent(error: BaseException) -> bool:
    """The account is used up: no waiting helps, and none was asked for."""
    if isinstance(error, exceptions.ModelQuotaExceededError):
        return True
    is_limit = _kind(error) == "rate_limit" and _wait(error) is None
    return is_limit and quota.is_spent(_message(error))


def _kind(error: BaseException) -> Kind:
    for known, kind in _KINDS:
        if isinstance(error, known):
            return kind
    return _by_status(error)


def _by_status(error: BaseException) -> Kind:
    match getattr(error, "status_code", None):
        case 401 | 403:
            return "auth"
        case 408:
            return "timeout"
        case 429:
            return "rate_limit"
        case int() as status if status >= 500:
            return "unavailable"
        case int() as status if 400 <= status < 500:
            return "refused"
        case _:
            return "error"


def _message(error: BaseException) -> str:
    """Of an error of the provider, its own words; the library's would repeat the model and the whole body."""
    body: Any = getattr(error, "body", None)
    while isinstance(body, dict):
        body = cast(dict[str, Any], body).get("error" if "error" in body else "message")
    status = getattr(error, "status_code", None)
    said = body if isinstance(body, str) and body else str(error) or type(error).__name__
    return f"{status}: {said}" if status else said


def _shortened(text: str) -> str:
    flat = re.sub(r"\s+", " ", text).strip().rstrip(".")
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]}…"


def _remedy(kind: Kind, endpoint: Endpoint) -> str:
    if kind != "auth":
        return ""
    if endpoint.key_name is None:
        return "Name the variable that holds its key under `env:` of the agent."
    return f"Check {endpoint.key_name}."


def _until(error: BaseException, kind: Kind, now: datetime) -> datetime | None:
    wait = _wait(error)
    if kind not in ("rate_limit", "unavailable") or wait is None:
        return None
    return now + timedelta(seconds=min(wait, _FURTHEST.total_seconds()))


def _wait(error: BaseException) -> float | None:
    """Seconds. The library reads whole ones and dates; providers also send parts of a second."""
    found = getattr(error, "retry_after", None)
    if isinstance(found, int | float):
        return found
    headers = cast(Mapping[str, str], getattr(error, "headers", None) or {})
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < math.inf else None
