"""Inputs: what the one who starts a run is asked for, and what `--input name=value` answers."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from moot.core import json, text
from moot.core.errors import InvalidInput, MootError
from moot.core.json import Json
from moot.core.nearest import hint
from moot.workflow.workflow import Input, InputType, Scalar, Value

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WANTED: Mapping[InputType, str] = {
    "string": "text",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list: a,b or a JSON array",
    "object": "a JSON object: {…}",
}


class InputInvalid(InvalidInput):
    code = "INPUT_INVALID"


def parse(wanted: Sequence[Input], given: Iterable[str], folder: Path) -> dict[str, Value]:
    """What `name=value`, `name=@file` (relative to the folder) and the defaults say, by name; all problems at once."""
    known = {one.name: one for one in wanted}
    written, problems = _written(known, given, folder)
    values: dict[str, Value] = {}
    for one in wanted:
        try:
            values[one.name] = _value(one, written.get(one.name, ()))
        except MootError as error:
            problems.append(error)
    if problems:
        raise _together(problems, wanted)
    return values


def check(wanted: Input, value: object) -> Value:
    """The value, if it is of the type and one of the options; InputInvalid."""
    found = _typed(wanted.type, value)
    if found is None:
        raise InputInvalid(f"`{wanted.name}` must be {_WANTED[wanted.type]}.", "Write it like that.")
    elements = found if isinstance(found, tuple) else (found,)
    if wanted.options and not all(one in wanted.options for one in elements):
        raise InputInvalid(f"`{wanted.name}` must be one of {_listed(wanted.options)}.", "Choose one of them.")
    return found


def spelled(one: Input) -> str:
    """A line for people: `--input issue=…  a number, required. What to fix.`"""
    facts = [_WANTED[one.type] if not one.options else f"one of {_listed(one.options)}"]
    facts += ["required"] if one.is_required else []
    facts += [f"by default {json.dumps(one.default)}"] if one.default is not None else []
    about = f". {one.description}" if one.description else ""
    return f"--input {one.name}=…  {', '.join(facts)}{about}"


def _written(
    known: Mapping[str, Input], given: Iterable[str], folder: Path
) -> tuple[dict[str, list[str]], list[MootError]]:
    written: dict[str, list[str]] = {}
    problems: list[MootError] = []
    for one in given:
        name, equals, value = one.partition("=")
        try:
            if not equals or not name:
                raise InputInvalid(f"{one[:80]!r} is no input.", "Write name=value, or name=@file.")
            if name not in known:
                raise InputInvalid(f"There is no input `{name[:80]}`.", hint(name, known))
            written.setdefault(name, []).append(_content(name, value, folder))
        except MootError as error:
            problems.append(error)
    return written, problems


def _content(name: str, value: str, folder: Path) -> str:
    """`@file` is what stands in the file, `@@text` is `@text`."""
    if value.startswith("@@"):
        return text.clean(value[1:], f"input {name}")
    if not value.startswith("@"):
        return text.clean(value, f"input {name}")
    file = folder / Path(value[1:]).expanduser()
    try:
        if not file.is_file():
            raise InputInvalid(f"`{name}`: there is no file {file}.", f"For the text itself, write {name}=@{value}.")
        return text.clean(file.read_text(encoding="utf-8").rstrip("\n"), f"input {name}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputInvalid(f"`{name}`: {file} cannot be read: {error}.", "Check the file.") from error


def _value(wanted: Input, written: Sequence[str]) -> Value:
    if not written:
        if wanted.is_required and wanted.default is None:
            raise InputInvalid(f"`{wanted.name}` is missing.", f"Add --input {wanted.name}=….")
        return wanted.default
    if wanted.type == "array":
        parts = [part for one in written for part in _split(one)]
        return check(wanted, parts)
    if len(written) > 1:
        raise InputInvalid(f"`{wanted.name}` is given {len(written)} times.", "Keep one.")
    return check(wanted, _read(wanted.type, written[0]))


def _read(type: InputType, written: str) -> Json:
    """As a value of the type, or the text, which then is not of it."""
    if type == "object" and written.lstrip().startswith("{"):
        return json.loads(written)
    if type == "boolean" and written in ("true", "false"):
        return written == "true"
    if type == "number" and _NUMBER.fullmatch(written):
        return int(written) if re.fullmatch(r"[-+]?[0-9]{1,18}", written) else float(written)
    return written


def _split(written: str) -> list[object]:
    if written.lstrip().startswith("["):
        found = json.loads(written)
        return cast(list[object], found)
    return [part.strip() for part in written.split(",") if part.strip()]


def _typed(type: InputType, value: object) -> Value:
    match type, value:
        case "string", str():
            return value
        case "number", bool():
            return None
        case "number", int() | float():
            return value if math.isfinite(value) else None
        case "boolean", bool():
            return value
        case "array", list() | tuple():
            parts = tuple(cast(Sequence[Any], value))
            return parts if all(isinstance(one, str | int | float | bool | dict) for one in parts) else None
        case "object", dict():
            return cast(dict[str, Any], value)
        case _:
            return None


def _listed(options: Sequence[Scalar]) -> str:
    return ", ".join(json.dumps(one).strip('"') for one in options)


def _together(problems: Sequence[MootError], wanted: Sequence[Input]) -> InputInvalid:
    lines = [f"  {one}" for one in problems]
    if wanted:
        lines += ["Wanted are:", *(f"  {spelled(one)}" for one in wanted)]
    count = "One input is wrong" if len(problems) == 1 else f"{len(problems)} inputs are wrong"
    return InputInvalid("\n".join([f"{count}:", *lines]), "" if wanted else "This workflow takes none.")
