"""The fields of a flow's state, as JSON text by key (`raw.files`, `computed.batches`), and the views of them.

Whoever reads sees one flat space of names, in which what is computed goes before what is raw. Names that steps have
left for those behind them, as included workflows do, are read like fields, where no field is called so.
"""

from collections.abc import Iterable, Mapping

from moot.core import json
from moot.core.json import Json
from moot.engine.state import paths
from moot.engine.state.operations import MISSING, Present, Update, apply
from moot.engine.state.paths import SECTIONS, Path

Fields = Mapping[str, str]
KEPT = "kept."  # keys of names that steps have left for those behind them
_BY_STRENGTH = ("state", "raw", "computed")  # each goes before those in front of it
_OWN = f"{KEPT}@"  # keys of those that a single strand sees


def flat(fields: Fields) -> dict[str, Json]:
    """Everything under its own name."""
    found = {key.removeprefix(KEPT): text for key, text in fields.items() if _is_left(key)}
    for section in _BY_STRENGTH:
        for key, text in fields.items():
            if key.startswith(f"{section}."):
                found[key.removeprefix(f"{section}.")] = text
    return {name: json.loads(text) for name, text in found.items()}


def _is_left(key: str) -> bool:
    return key.startswith(KEPT) and not key.startswith(_OWN)


def sections(fields: Fields) -> dict[str, dict[str, Json]]:
    """The same as it is kept: raw, state and computed apart."""
    found: dict[str, dict[str, Json]] = {section: {} for section in SECTIONS}
    for key, text in fields.items():
        section, _, name = key.partition(".")
        if section in found:
            found[section][name] = json.loads(text)
    return found


def key_of(fields: Fields, name: str) -> str:
    """Where a name of the flat view is kept."""
    for section in reversed(_BY_STRENGTH):
        if f"{section}.{name}" in fields:
            return f"{section}.{name}"
    return f"raw.{name}"


def look_up(fields: Fields, path: str) -> Present:
    """By its full path, or by its flat name."""
    keys = paths.split(path)
    name, rest = keys[0], keys[1:]
    if name in SECTIONS and rest:
        return read(fields, paths.of(keys))
    key = key_of(fields, name)
    if key not in fields and _is_left(KEPT + name):
        key = KEPT + name
    return _within(fields, key, rest)


def read(fields: Fields, path: Path) -> Present:
    return _within(fields, path.key, path.rest)


def _within(fields: Fields, field: str, keys: Iterable[str]) -> Present:
    if field not in fields:
        return MISSING
    there: Present = json.loads(fields[field])
    for key in keys:
        if isinstance(there, Mapping):
            there = there.get(key, MISSING)
        elif isinstance(there, list) and key.isdigit() and int(key) < len(there):
            there = there[int(key)]
        else:
            return MISSING
    return there


def updated(fields: Fields, updates: Iterable[Update]) -> dict[str, str]:
    """The fields that are different after these updates, one after the other."""
    values: dict[str, Present] = {}
    for update in updates:
        key = update.path.key
        if key not in values:
            values[key] = json.loads(fields[key]) if key in fields else MISSING
        values[key] = apply(values[key], update)
    written = {key: json.dumps(value) for key, value in values.items()}
    return {key: text for key, text in written.items() if fields.get(key) != text}
