"""State: its fields, what is computed from them, and what is in them at the beginning."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from moot.core.errors import MootError
from moot.core.json import Json
from moot.engine.expressions import javascript
from moot.engine.files.section import Notes
from moot.engine.shape import ComputedShape, DefaultsShape, StateShape
from moot.engine.state import paths
from moot.engine.state.paths import Path
from moot.engine.state.schema import Computed, Schema

_COMPUTED = ("state_schema", "computed")


def schema(said: StateShape, defaults: DefaultsShape, notes: Notes) -> Schema:
    declared = [*said.raw, *said.state, *defaults.raw, *defaults.state]
    _check_names("state_schema", {"raw": said.raw, "state": said.state, "computed": said.computed}, notes)
    _check_names("default_state", {"raw": defaults.raw, "state": defaults.state}, notes)
    for name in sorted(said.computed.keys() & set(declared)):
        fact = f"{name} is raw and computed at once; who reads it sees what is computed"
        notes.warn((*_COMPUTED, name), fact, is_key=True)
    made = [one for name, shape in said.computed.items() if (one := _computed(name, shape, notes)) is not None]
    try:
        return Schema(made, declared)
    except MootError as error:
        notes.refuse(_COMPUTED, error, is_key=True)
        return Schema((), [*declared, *said.computed])


def _check_names(section: str, named: Mapping[str, Iterable[str]], notes: Notes) -> None:
    for part, names in named.items():
        for name in names:
            try:
                paths.of((part, name))
            except MootError as error:
                notes.refuse((section, part, name), error, is_key=True)


def defaults(said: DefaultsShape, notes: Notes) -> Mapping[str, Mapping[str, Json]]:
    found: dict[str, Mapping[str, Json]] = {"raw": said.raw, "state": said.state}
    notes.check_templates(cast(Json, found), ("default_state",))
    return found


def _computed(name: str, said: ComputedShape, notes: Notes) -> Computed | None:
    path = (*_COMPUTED, name)
    keys = _sources(name, said, notes)
    line, _ = notes.document.place((*path, "transform"))
    known = len(notes.found)
    for key, code in (("transform", said.transform), ("validate", said.validate_)):
        try:
            javascript.free_names(code)
            notes.scripts += [((*path, key), code)] if code else []
        except MootError as error:
            notes.refuse((*path, key), error)
    if keys is None or len(notes.found) > known:
        return None
    return Computed(
        name,
        tuple(key.key for key in keys),
        said.transform,
        lists_inputs=not isinstance(said.source, str),
        on_error=said.on_error,
        fallback=said.fallback,
        validate=said.validate_,
        line=line + ("\n" in said.transform),
    )


def _sources(name: str, said: ComputedShape, notes: Notes) -> Sequence[Path] | None:
    path = (*_COMPUTED, name, "from")
    written = [said.source] if isinstance(said.source, str) else said.source
    found: list[Path] = []
    for at, text in enumerate(written):
        where = path if isinstance(said.source, str) else (*path, at)
        try:
            key = paths.parse(text)
        except MootError as error:
            notes.refuse(where, error)
            continue
        if key.rest:
            notes.add(where, f"`{key}` is inside a field", f"Write {key.key}, and look into it in the transform.")
        found.append(key)
    return found if len(found) == len(written) else None
