"""What a command has printed, read in one of four ways: as text, as lines, as JSON, or as keys and values."""

import re
from typing import Literal

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json

OutputFormat = Literal["text", "lines", "json", "key_value"]
_SEPARATOR = re.compile(r"[=:]")


class OutputUnreadable(InvalidInput):
    """What was printed is not of the form that it should have."""

    code = "OUTPUT_UNREADABLE"


def read(printed: str, form: OutputFormat) -> Json:
    match form:
        case "text":
            return printed.rstrip("\r\n")  # as a shell does where it puts in what a command prints
        case "lines":
            return lines(printed)
        case "json":
            return _json(printed)
        case "key_value":
            return _pairs(printed)


def lines(printed: str) -> list[str]:
    """Without the empty ones at the end. Only a newline ends one: other signs may stand in names of files."""
    text = printed.rstrip("\r\n")
    return [line.removesuffix("\r") for line in text.split("\n")] if text else []


def _json(printed: str) -> Json:
    try:
        return json.loads(printed.strip())
    except InvalidInput as error:
        raise OutputUnreadable(
            f"What it printed is no JSON: {printed.strip()[:80]!r}.", "Let it print JSON, or choose another format."
        ) from error


def _pairs(printed: str) -> dict[str, Json]:
    """`KEY=value` or `key: value`; empty lines and those that begin with # are left out, as are quotes around a
    value. Of a key that stands there twice the last counts."""
    found: dict[str, Json] = {}
    for number, line in enumerate(lines(printed), 1):
        said = line.strip()
        if not said or said.startswith("#"):
            continue
        separator = _SEPARATOR.search(said)
        key = said[: separator.start()].strip() if separator else ""
        if separator is None or not key:
            raise OutputUnreadable(
                f"Line {number} of what it printed has no key and value: {said[:80]!r}.",
                "Let it print KEY=VALUE lines, or choose another format.",
            )
        found[key] = _unquoted(said[separator.end() :].strip())
    return found


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value
