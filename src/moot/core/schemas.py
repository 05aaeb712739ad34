"""Finds the way from a place that pydantic names to the place in the data, and which keys are known there.

Pydantic's places also name the form of a value that was tried, where several would do; that stands nowhere in the data.
"""

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, ForwardRef, Literal, Union, cast, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from moot.core.records import record
from moot.core.yaml import Path

_KEY = "[key]"  # pydantic's mark for the key itself being wrong


@record
class Spot:
    """A place in the data, and the keys that are known beside its last one."""

    path: Path
    keys: frozenset[str]
    is_key: bool = False


def locate(model: type[BaseModel], location: Path, data: object) -> Spot:
    """Walk along the models and the data at once."""
    forms: list[Any] = [model]
    path: Path = ()
    beside, is_labelled = frozenset[str](), False
    is_key = bool(location) and location[-1] == _KEY
    for part in location[:-1] if is_key else location:
        if is_labelled:
            forms, is_labelled = _chosen(forms, str(part)), False
            continue
        if not forms and not _has(value_at(data, path), part):
            continue  # below a value of any form, only the data can tell a key from a label
        path, beside = (*path, part), _keys(forms)
        forms = [one for form in forms for inner in _inside(form, part) for one in _alternatives(inner)]
        is_labelled = len(forms) > 1
    return Spot(path, beside, is_key)


def value_at(data: object, path: Path) -> object:
    """What stands there; None for what is missing."""
    for part in path:
        if isinstance(data, Mapping):
            data = cast(Mapping[Any, object], data).get(part)
        elif _has(data, part):
            data = cast(Sequence[object], data)[cast(int, part)]
        else:
            return None
    return data


def _has(data: object, part: str | int) -> bool:
    if isinstance(data, Mapping):
        return part in data
    is_list = isinstance(data, Sequence) and not isinstance(data, str | bytes)
    return is_list and isinstance(part, int) and 0 <= part < len(cast(Sequence[object], data))


def _alternatives(form: Any) -> list[Any]:
    """The forms a value may have, of which pydantic names one if there are several; nothing is not one of them."""
    if get_origin(form) is Annotated:
        inner, *marks = get_args(form)
        found = _alternatives(inner)
        tags = [mark for mark in marks if hasattr(mark, "tag")]
        return [Annotated[found[0], tags[0]]] if tags and len(found) == 1 else found
    if get_origin(form) in (Union, UnionType):
        return [one for part in get_args(form) if part is not type(None) for one in _alternatives(part)]
    if hasattr(form, "__value__"):  # a named alias
        return _alternatives(form.__value__)
    return [] if isinstance(form, str | ForwardRef) else [form]


def _chosen(forms: list[Any], label: str) -> list[Any]:
    """The form that pydantic names, or all if it is not clear which that is."""
    return [form for form in forms if _is_called(form, label)] or forms


def _is_called(form: Any, label: str) -> bool:
    bare, *tags = get_args(form) if get_origin(form) is Annotated else (form,)
    if any(tag.tag == label for tag in tags) or getattr(bare, "__name__", "") == label:
        return True
    fields = _fields(bare)
    literals = [field.annotation for field in fields.values() if get_origin(field.annotation) is Literal]
    return any(label in get_args(one) for one in literals)


def _inside(form: Any, part: str | int) -> list[Any]:
    """The form of what stands at a key of this form; nothing where every form will do."""
    bare = get_args(form)[0] if get_origin(form) is Annotated else form
    fields = _fields(bare)
    if fields:
        return [field.annotation for name, field in fields.items() if part in _names(bare, name, field)]
    arguments = get_args(bare)
    match get_origin(bare):
        case type() as origin if issubclass(origin, Mapping) and len(arguments) == 2:
            return [arguments[1]]
        case type() as origin if issubclass(origin, tuple) and Ellipsis not in arguments:
            return [arguments[part]] if isinstance(part, int) and part < len(arguments) else []
        case type() as origin if issubclass(origin, Sequence | set | frozenset) and arguments:
            return [arguments[0]]
        case _:
            return []


def _keys(forms: list[Any]) -> frozenset[str]:
    bare = [get_args(form)[0] if get_origin(form) is Annotated else form for form in forms]
    return frozenset(
        known for form in bare for name, field in _fields(form).items() for known in _names(form, name, field)
    )


def _fields(form: Any) -> Mapping[str, FieldInfo]:
    return form.model_fields if isinstance(form, type) and issubclass(form, BaseModel) else {}


def _names(model: type[BaseModel], name: str, field: FieldInfo) -> set[str]:
    """How the field may be spelled in the data."""
    match field.validation_alias:
        case None:
            return {name}
        case str() as alias:
            others = {alias}
        case AliasChoices() as choices:
            others = {one for one in choices.choices if isinstance(one, str)}
        case _:
            others = set[str]()
    is_known_itself = model.model_config.get("populate_by_name") or model.model_config.get("validate_by_name")
    return others | ({name} if is_known_itself else set())
