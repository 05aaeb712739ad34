"""Paths into state: `raw.results["src/a.ts"].errors`. The first word is the section, the second the field.

A key with dots or other signs stands in brackets and quotes. What a template puts into a path is always one key.
"""

import re

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.records import record

SECTIONS = ("raw", "state", "computed")
WRITABLE = ("raw", "state")
_MOST_LEVELS = 100
_WORD = re.compile(r"[^.\[\]\"']+")
_PLAIN = re.compile(r"[^\W\d][\w-]*|\d+")
_QUOTED = re.compile(r"""\[\s*(?:"((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.)*+)'|(\d+))\s*\]""")
_WRITE = "Write raw.NAME or state.NAME."


class PathInvalid(InvalidInput):
    """Not a place in the state, or none that may be written."""

    code = "STATE_PATH_INVALID"


class Index(str):
    """A key that stands in brackets without quotes: a place in a list, also in one that is not there yet."""

    __slots__ = ()


@record
class Path:
    section: str
    field: str
    rest: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The field as the store and evaluations know it: `raw.results`."""
        return f"{self.section}.{self.field}"

    def __str__(self) -> str:
        return spell((self.section, self.field, *self.rest))


def parse(text: str) -> Path:
    return of(split(text))


def writable(path: Path) -> Path:
    if path.section not in WRITABLE:
        raise PathInvalid(f"{path.key} is computed and cannot be written.", "Write what it is computed from.")
    return path


def of(keys: tuple[str, ...]) -> Path:
    """From keys that were told apart already."""
    if keys and keys[0] not in SECTIONS:
        raise PathInvalid(f"{spell(keys)[:80]!r} does not begin with raw or state.", _WRITE)
    if len(keys) < 2 or not keys[1]:
        raise PathInvalid(f"{spell(keys)[:80]!r} names no field.", _WRITE)
    if len(keys) > _MOST_LEVELS:
        raise PathInvalid(f"A path has at most {_MOST_LEVELS} keys.", "Keep what belongs together in one value.")
    if "__proto__" in keys:
        raise PathInvalid("__proto__ cannot be a key.", "Choose another.")
    return Path(keys[0], keys[1], keys[2:])


def split(text: str) -> tuple[str, ...]:
    """The keys of a path, told apart by dots and brackets."""
    if not text:
        raise PathInvalid("A path without a key leads nowhere.", _WRITE)
    keys: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "[":
            found = _QUOTED.match(text, at)
            if found is None:
                raise PathInvalid(f"{text[:80]!r} has a bracket that is not closed.", 'Write ["key"].')
            keys.append(_unquoted(found))
        else:
            if text[at] == "." and at:
                at += 1
            found = _WORD.match(text, at)
            if found is None:
                raise PathInvalid(f"{text[:80]!r} has an empty key.", 'Write raw.name, or raw.name["other.key"].')
            keys.append(found[0])
        at = found.end()
    return tuple(keys)


def spell(keys: tuple[str, ...]) -> str:
    parts = [_spelled(key) for key in keys]
    return "".join(part if part.startswith("[") or at == 0 else f".{part}" for at, part in enumerate(parts))


def _spelled(key: str) -> str:
    if isinstance(key, Index):
        return f"[{key}]"
    return key if _PLAIN.fullmatch(key) else f"[{json.dumps(key)}]"


def _unquoted(found: re.Match[str]) -> str:
    double, single, number = found.groups()
    if number is not None:
        return Index(number)
    if double is not None:
        return str(json.loads(f'"{double}"'))
    return re.sub(r"\\(.)", r"\1", single)
