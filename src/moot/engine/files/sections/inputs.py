"""Inputs: what the one who starts a flow, or a task of a sub-agent, is asked for."""

from collections.abc import Mapping
from typing import cast, get_args

from moot.core.json import Json
from moot.core.problems import spell
from moot.core.yaml import Path
from moot.engine import field_type
from moot.engine.definition import InputField
from moot.engine.field_type import FieldType
from moot.engine.files.section import Notes
from moot.engine.shape import InputShape


def read(said: Mapping[str, InputShape | None], path: Path, notes: Notes) -> tuple[InputField, ...]:
    return tuple(_input(name, one or InputShape(), (*path, name), notes) for name, one in said.items())


def of_task(said: Mapping[str, Json], path: Path, notes: Notes) -> tuple[InputField, ...]:
    """Here an input may also say its type alone, or only what it is when it is not given."""
    found: list[InputField] = []
    for name, words in said.items():
        if words is None or isinstance(words, Mapping):
            shaped = notes.fit(InputShape, words or {}, (*path, name))
            found += [_input(name, shaped, (*path, name), notes)] if shaped is not None else []
        elif words in get_args(FieldType):
            found.append(InputField(name, cast(FieldType, words)))
        else:
            found.append(InputField(name, field_type.guessed(words), default=words))
    return tuple(found)


def _input(name: str, said: InputShape, path: Path, notes: Notes) -> InputField:
    if said.default is not None and not field_type.fits(said.default, said.type):
        where = (*path, "default")
        notes.add(where, f"`{spell(where)}` must be {field_type.described(said.type)}", "Write it like that.")
    options = tuple(said.options or ())
    return InputField(name, said.type, said.required, said.default, said.description, options)
