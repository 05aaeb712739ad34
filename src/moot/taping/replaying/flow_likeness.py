"""Compares what a flow was given, and what it has come to, with its recording."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from moot.core import json
from moot.taping.flow_lines import Stood
from moot.taping.replaying.drifts import difference
from moot.taping.replaying.likeness import lasting

Plain = Callable[[str], str]  # makes a text comparable with the tape
_MOST = 5  # fields that are told of


def compare_given(recorded: Mapping[str, Any], now: Mapping[str, Any], plain: Plain) -> Iterator[str]:
    for name in [*recorded, *(one for one in now if one not in recorded)]:
        old, new = (plain(json.dumps(one.get(name))) for one in (recorded, now))
        if old != new:
            yield f"the input {name} differs: {difference(old, new)}"


def compare_ends(name: str, old: Stood, new: Stood, plain: Plain) -> Iterator[str]:
    """How the flow of this name has ended, and its state."""

    def known(text: str) -> str:
        return lasting(plain(text))

    if old.status != new.status:
        yield f"{name} is {new.status} instead of {old.status}"
    for what, before, after in (("error", old.error, new.error), ("result", old.result or "", new.result or "")):
        if known(before) != known(after):
            yield f"the {what} of {name} differs: {difference(known(before), known(after))}"
    before, after = ({known(key): known(text) for key, text in one.fields.items()} for one in (old, new))
    others = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    for key in others[:_MOST]:
        yield f"the state of {name} differs: {key}: {difference(before.get(key, ''), after.get(key, ''))}"
    if len(others) > _MOST:
        yield f"the state of {name} differs in {len(others) - _MOST} more fields"
