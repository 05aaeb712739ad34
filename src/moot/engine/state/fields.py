"""The fields of a flow's state, as JSON text by key (`raw.files`, `computed.batches`), and the views of them.

Whoever reads sees one flat space of names, in which what is computed goes before what is raw.
"""

from collections.abc import Iterable, Mapping

from moot.core import json
from moot.core.json import Json
from moot.engine.state import paths
from moot.engine.state.operations import MISSING, Present, Update, apply
from moot.engine.state.paths import SECTIONS, Path

Fields = Mapping[str, str]
_BY_STRENGTH = ("state", "raw", "computed")  # each goes before those in front of it


def flat(fields: Fields) -> dict[str, Json]:
    """Everything under its own name."""
    found: dict[str, str] = {}
    for section in _BY_STRENGTH:
        for key, text in fields.items():
            if key.startswith(f"{section}."):
                found[key.removeprefix(f"{section}.")] = text
    return {name: json.loads(text) for name, text in found.items()}


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
    if keys[0] not in SECTIONS or len(keys) == 1:
        section, _, name = key_of(fields, keys[0]).partition(".")
        keys = (section, name, *keys[1:])
    return read(fields, paths.of(keys))


def read(fields: Fields, path: Path) -> Present:
    if path.key not in fields:
        return MISSING
    there: Present = json.loads(fields[path.key])
    for key in path.rest:
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
