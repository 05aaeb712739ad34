"""Inputs: what the one who starts a flow, or a task of a sub-agent, is asked for."""

from collections.abc import Mapping
from typing import cast, get_args

from moot.core.json import Json
from moot.core.problems import spell
from moot.core.yaml import Path
from moot.engine import field_type
from moot.engine.definition import InputField
from moot.engine.field_type import FieldType
from moot.engine.section import Notes
from moot.engine.shape import InputShape


def read(said: Mapping[str, Json], path: Path, notes: Notes) -> tuple[InputField, ...]:
    """Each says its type, all that is known of it, or only what it is when it is not given."""
    return tuple(one for name, words in said.items() if (one := _input(name, words, path, notes)) is not None)


def _input(name: str, said: Json, path: Path, notes: Notes) -> InputField | None:
    if said is None:
        return InputField(name)
    if not isinstance(said, Mapping):
        type_ = cast(FieldType, said) if said in get_args(FieldType) else None
        return InputField(name, type_) if type_ else InputField(name, field_type.guessed(said), default=said)
    found = notes.fit(InputShape, said, (*path, name))
    if found is None:
        return None
    if found.default is not None and not field_type.fits(found.default, found.type):
        where = (*path, name, "default")
        notes.add(where, f"`{spell(where)}` must be {field_type.described(found.type)}", "Write it like that.")
    options = tuple(found.options or ())
    return InputField(name, found.type, found.required, found.default, found.description, options)
