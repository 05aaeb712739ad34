"""What is wrong with data that people and agents wrote, in words for them: pydantic finds it, moot says where and what
to do.

Nothing of pydantic's wording gets through, which speaks of inputs and classes. Imported only where files and calls are
read: it brings pydantic along.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from moot.core import expectations, schemas
from moot.core.errors import InvalidInput, MootError
from moot.core.expectations import JSON, YAML, Writing
from moot.core.json import Json
from moot.core.nearest import hint
from moot.core.records import record
from moot.core.schemas import Spot
from moot.core.yaml import Document, Path

E = TypeVar("E", bound=InvalidInput)
MOST = 20  # problems in one error
LOOKED_AT = 200  # in a call: to tell a million wrong items from one another takes longer than others want to wait


@record
class Problem:
    """One thing that is wrong: where, what, and the remedy."""

    path: Path
    fact: str
    remedy: str
    is_key: bool = False  # the key is wrong or missing, and not what stands there


def found(
    error: ValidationError, model: type[BaseModel], data: object, under: Path = (), writing: Writing = YAML
) -> list[Problem]:
    """Every problem once, in the order of the fields. `data` is what was validated by `model`; it stands at `under`."""
    wrong_types: dict[Path, list[str]] = {}
    others: list[Problem] = []
    for one in _causes(error.errors(include_url=False)):
        spot = schemas.locate(model, one["loc"], data)
        kind = None if spot.is_key else expectations.KINDS.get(one["type"])
        if kind is not None:
            wrong_types.setdefault(spot.path, []).append(kind)
        else:
            others.append(_other(one, Spot((*under, *spot.path), spot.keys, spot.is_key), writing))
    # Where one form of a value fits so far that its parts are looked at, that is the form that was meant.
    meant = {path[:length] for path in wrong_types for length in range(len(path))}
    whole = [one.path[len(under) :] for one in others]
    meant |= {path[:length] for path in whole for length in range(len(path) + 1)}
    typed = [
        _wrong_type((*under, *path), kinds, schemas.value_at(data, path), writing)
        for path, kinds in wrong_types.items()
        if path not in meant
    ]
    return [*others, *typed]


def of_error(path: Path, error: MootError, *, is_key: bool = False) -> Problem:
    """A refusal by moot's own rules, for what stands at this path."""
    return Problem(path, f"`{spell(path)}`: {error.fact.rstrip('.')}", error.remedy, is_key)


def in_call(name: str, error: ValidationError, model: type[BaseModel], arguments: Mapping[str, Json]) -> InvalidInput:
    """What is wrong with the arguments of a call of this name, as one error. It repeats no value."""
    if error.error_count() > LOOKED_AT:
        return InvalidInput(f"{name} has {error.error_count():,} problems.", "See its schema, and begin with less.")
    wrong = found(error, model, arguments, writing=JSON)
    one_alone = f"{name}: " if len(wrong) == 1 else ""
    return together([InvalidInput(f"{one_alone}{one.fact}.", one.remedy) for one in wrong], name)


def errors(problems: Sequence[Problem], document: Document, kind: type[E]) -> list[E]:
    """Each as an error that names file, line and column, in the order of the file."""
    placed = sorted((document.place(one.path, key=one.is_key), at, one) for at, one in enumerate(problems))
    return [kind(f"{document.name}:{line}:{column}: {one.fact}.", one.remedy) for (line, column), _, one in placed]


def together(found: Sequence[E], name: str) -> E:
    """One error that tells all of them."""
    if len(found) == 1:
        return found[0]
    told = [f"  {one}" for one in found[:MOST]]
    more = [f"  and {len(found) - MOST} more"] if len(found) > MOST else []
    return type(found[0])("\n".join([f"{name} has {len(found)} problems:", *told, *more]), "Mend them and try again.")


def spell(path: Path) -> str:
    """`agents.coder.script item 2, takes`: counted from one, as people do."""
    text = ""
    for at, part in enumerate(path):
        if isinstance(part, int):
            text += f" item {part + 1}"
        else:
            gap = ", " if at and isinstance(path[at - 1], int) else "." if at else ""
            text += f"{gap}{part[:80]}"
    return text.strip()


def _causes(found: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Without what only follows: a list in which an item is wrong counts as too short, too."""
    around = {one["loc"][:depth] for one in found for depth in range(len(one["loc"]))}
    return [one for one in found if one["type"] != "too_short" or one["loc"] not in around]


def _other(error: ErrorDetails, spot: Spot, writing: Writing) -> Problem:
    type_, context, path = error["type"], error.get("ctx", {}), spot.path
    *_, name = ("", *path)
    called, owner = f"`{str(name)[:80]}`", _thing(path[:-1], writing)
    match type_:
        case "extra_forbidden":
            remedy = hint(str(name), _plain(spot.keys))
            return Problem(path, f"{called} is no key of {owner}", remedy, is_key=True)
        case "missing":
            return Problem(path, f"{called} is missing in {owner}", "Add it.", is_key=True)
        case "union_tag_not_found":
            wanted = context["discriminator"].strip("'")
            fact = f"`{wanted}` is missing in {_thing(path, writing)}"
            return Problem((*path, wanted), fact, "Add it.", is_key=True)
        case "string_pattern_mismatch" if spot.is_key:
            fact, remedy, _ = expectations.told(type_, context, name)
            return Problem(path, f"the key {called} in {owner} {fact}", remedy, is_key=True)
        case _ if spot.is_key or type_ == "invalid_key":
            return Problem(path, f"the key {called} in {owner} must be text", "Put it in quotes.", is_key=True)
        case "value_error" | "assertion_error":
            return _own_words(context["error"], path, writing)
        case _:
            fact, remedy, further = expectations.told(type_, context, error["input"])
            return Problem((*path, *further), f"{_thing((*path, *further), writing)} {fact}", remedy)


def _plain(keys: Iterable[str]) -> set[str]:
    """Without the other spelling of a key, such as `documentOwner` beside `document_owner`."""
    known = set(keys)
    return {key for key in known if re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", key) not in known - {key}}


def _own_words(error: Exception, path: Path, writing: Writing) -> Problem:
    """Raised by a validator of moot: its words are for people already."""
    if isinstance(error.__cause__, MootError):
        return of_error(path, error.__cause__)
    return Problem(path, f"{_thing(path, writing)}: {str(error).rstrip('.')}", "Mend it.")


def _wrong_type(path: Path, kinds: list[str], value: object, writing: Writing) -> Problem:
    fact, remedy = expectations.mismatch(kinds, value, writing)
    return Problem(path, f"{_thing(path, writing)} {fact}", remedy if path else writing.top)


def _thing(path: Path, writing: Writing) -> str:
    return f"`{spell(path)}`" if path else writing.whole
