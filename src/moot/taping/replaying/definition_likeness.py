"""Compares the texts of a definition with those that were recorded: which steps are new, or gone, or have changed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, cast

from moot.core import json, yaml
from moot.core.errors import InvalidInput
from moot.core.library import Files, unwrapped
from moot.core.records import record
from moot.engine.shape import FlowShape
from moot.taping.replaying.drifts import difference

_ITSELF = "the file"
_SHORT = 60  # characters of a value that is told whole
_WORDS = frozenset(("name", "description", "version"))  # which change nothing that is done
_STEPS = frozenset(("steps", "then", "else", "body", "on_failure", "cleanup_on_error"))  # keys of blocks


@record
class Change:
    """`step` is the name of the step that it is in; empty where it is in none."""

    step: str
    fact: str


def compare(recorded: Files, now: Files) -> Iterator[Change]:
    """Every difference, file by file."""
    old, new = _by_name(recorded), _by_name(now)
    for name in [*old, *(one for one in new if one not in old)]:
        if name not in old:
            yield Change("", f"{name} is new among its files")
        elif name not in new:
            yield Change("", f"{name} was among its files, and is not any more")
        else:
            yield from _compare_texts(name, old[name], new[name])


def _by_name(files: Files) -> dict[str, str]:
    """The definition itself first; wherever the files lie, those are the same that are called the same."""
    found: dict[str, str] = {}
    for at, (path, text) in enumerate(files):
        name = PurePosixPath(path).name if at else _ITSELF
        found[name if name not in found else path] = text
    return found


def _compare_texts(name: str, old: str, new: str) -> Iterator[Change]:
    if old == new:
        return
    try:
        before, after = (_said(text, name) for text in (old, new))
    except InvalidInput:
        yield Change("", f"{name} has changed: {difference(old, new)}")
        return
    yield from _compare(before, after, () if name == _ITSELF else (name,), "")


def _said(text: str, name: str) -> Mapping[str, Any]:
    data = unwrapped(yaml.read(text, name)).data
    found = cast(Mapping[str, Any], data if isinstance(data, Mapping) else {})
    return {key: value for key, value in found.items() if key in FlowShape.model_fields.keys() - _WORDS}


def _compare(old: Any, new: Any, way: Sequence[str], step: str) -> Iterator[Change]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        before, after = cast(Mapping[str, Any], old), cast(Mapping[str, Any], new)
        for key in [*before, *(one for one in after if one not in before)]:
            if key != "description":
                yield from _compare_key(before.get(key), after.get(key), key, way, step)
    elif old != new:
        place = ".".join(way)
        yield Change(step, f"{f'{step}: {place}' if step else place} {_told(old, new)}")


def _compare_key(old: Any, new: Any, key: str, way: Sequence[str], step: str) -> Iterator[Change]:
    if key in _STEPS and all(isinstance(one, list | None) for one in (old, new)):
        yield from _compare_steps(old or [], new or [], (*way, key) if not step else (step, *way, key))
    else:
        yield from _compare(old, new, (*way, key), step)


def _compare_steps(old: list[Any], new: list[Any], way: Sequence[str]) -> Iterator[Change]:
    before, after = _named(old), _named(new)
    for name in [*before, *(one for one in after if one not in before)]:
        if name not in before:
            yield Change(name, f"the step {name} is new")
        elif name not in after:
            yield Change(name, f"the step {name} is not there any more")
        else:
            yield from _compare(before[name], after[name], (), name)
    both = [name for name in before if name in after]
    if both != [name for name in after if name in before]:
        yield Change("", f"the order of {'.'.join(way)} has changed")


def _named(steps: Sequence[Any]) -> dict[str, Any]:
    """By their ids; those without one by their kind, and how many of it went before."""
    found: dict[str, Any] = {}
    for one in steps:
        said = cast(Mapping[str, Any], one if isinstance(one, Mapping) else {})
        name = base = str(said.get("id") or said.get("type"))
        count = 1
        while name in found:
            count += 1
            name = f"{base} ({count})"
        found[name] = one
    return found


def _told(old: Any, new: Any) -> str:
    before, after = _spelled(old), _spelled(new)
    if max(len(before), len(after)) <= _SHORT:
        return f"was {before} and is {after}"
    return f"has changed: {difference(before.strip('`'), after.strip('`'))}"


def _spelled(value: Any) -> str:
    return "not there" if value is None else f"`{value if isinstance(value, str) else json.dumps(value)}`"
