"""Likeness of what was recorded and what happens now: ids and times differ, and are matched; the rest is compared."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_ID = r"\b[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{20}\b"
_HOUR = r"\b\d\d:\d\d:\d\d UTC\b"
_TIME = r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
_NUMBERED_ID = r"\b(?:prop|doc-owner)-\d{3,}\b"
_PASSING = re.compile(f"{_ID}|{_NUMBERED_ID}|{_TIME}|{_HOUR}")
_NAMED = re.compile(f"{_ID}|{_NUMBERED_ID}")
_NUMBERED = ("seq",)
_NONCE = r"[0-9a-f]{16}"
_FRAME = re.compile(rf"^BEGIN ({_NONCE})$.*?^END \1$", re.MULTILINE | re.DOTALL)
# What depends on the moment at which a prompt was made: who was there, what had been written by then.
_MOMENTARY = re.compile(
    rf"\b{_NONCE}\b|Here with you: .*|Nobody else is here\.|\(version \d+\)|^Other documents:\n…$\n?", re.MULTILINE
)


class Likeness:
    """What each recorded id, time and number is now."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}
        self._numbers: dict[int, int] = {}

    def learn(self, recorded: Any, now: Any) -> None:
        """Match what stands at the same place in both."""
        for old, new in _pairs(recorded, now):
            if isinstance(old, str) and isinstance(new, str):
                before, after = _PASSING.findall(old), _PASSING.findall(new)
                if len(before) == len(after):
                    self._now.update(zip(before, after, strict=True))
            elif isinstance(old, int) and isinstance(new, int):
                self._numbers.setdefault(old, new)

    def renamed(self, value: Any) -> Any:
        """The same with every id as it is now; times and numbers stay what they were."""
        match value:
            case str():
                return _NAMED.sub(lambda found: self._now.get(found[0], found[0]), value)
            case list() | tuple():
                return [self.renamed(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
            case Mapping():
                return {self.renamed(key): self.renamed(one) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType]
            case _:
                return value

    def translate(self, value: Any, name: str = "") -> Any:
        """Recorded arguments, as they have to be now."""
        match value:
            case str():
                return _PASSING.sub(lambda found: self._now.get(found[0], found[0]), value)
            case bool():
                return value
            case int() if name in ("until", "since", *_NUMBERED):
                return self._numbers.get(value, value)
            case list() | tuple():
                return [self.translate(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
            case Mapping():
                return {key: self.translate(one, str(key)) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            case _:
                return value


def lasting(text: str) -> str:
    """What must be the same: the text without ids and times."""
    return _PASSING.sub(lambda found: "…", text)


def unnamed(text: str, instances: Iterable[str]) -> str:
    """Without the names of the instances in which it was recorded and is played."""
    names = "|".join(re.escape(one) for one in instances)
    return re.sub(rf"(?<![^\W_])(?:{names})(?![^\W_])", "…", text)


def standing(prompt: str) -> str:
    """Of a prompt what moot itself says, at whatever moment. The words of others in it are compared where they stand:
    in mail, channel and documents."""
    return lasting(_MOMENTARY.sub("", _FRAME.sub("…", prompt)))


def _pairs(recorded: Any, now: Any, name: str = "") -> Iterator[tuple[Any, Any]]:
    if isinstance(recorded, Mapping) and isinstance(now, Mapping):
        for key, old in recorded.items():  # pyright: ignore[reportUnknownVariableType]
            if key in now:
                yield from _pairs(old, now[key], str(key))  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(recorded, list | tuple) and isinstance(now, list | tuple):
        for old, new in zip(recorded, now, strict=False):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            yield from _pairs(old, new, name)
    elif isinstance(recorded, str) or name in _NUMBERED:
        yield recorded, now
