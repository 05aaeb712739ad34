"""`${{ name }}` in texts: found, judged and replaced. Values are put in once and never looked at again."""

import re
from collections.abc import Callable, Iterator, Mapping

from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.nearest import hint
from moot.core.records import record
from moot.workflow.workflow import Value

# A name, or a text in quotes that stands for itself; else what was meant cannot be told. Nothing is tried twice: a text
# may be long.
_PLACE = re.compile(r"""\$\{\{(?:[ \t]*+'([^'\n]*+)'[ \t]*+|[ \t]*+"([^"\n]*+)"[ \t]*+|([^{}'"\n]*+))\}\}""")
_OPENING = re.compile(r"\$\{\{")
_STEP_TIME = re.compile(r"(?<![${])\{\{(?!\{)([^{}\n]*+)\}\}(?!\})")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)?")
_WORD = "ø"  # for the edge of a value that a name could not follow: a letter of no agent's name


class VariableUnknown(InvalidInput):
    code = "VARIABLE_UNKNOWN"


@record
class Place:
    """A variable in a text; `name` is None for a text in quotes."""

    start: int
    end: int
    name: str | None
    literal: str = ""


@record
class Expanded:
    """A text with its values, and what of it was said by its author: the same with the values blanked."""

    text: str
    spoken: str


def expand(text: str, values: Mapping[str, Value]) -> Expanded:
    """Put the values in as they are."""
    pieces = list(_pieces(text, values, spell))
    said = "".join(piece if is_own else _blank(piece) for piece, is_own in pieces)
    return Expanded("".join(piece for piece, _ in pieces), said)


def replace(text: str, values: Mapping[str, Value], write: Callable[[Value], str]) -> str:
    """Put the values in as `write` writes them."""
    return "".join(piece for piece, _ in _pieces(text, values, write))


def places(text: str) -> list[Place]:
    """Where variables stand."""
    found: list[Place] = []
    for one in _PLACE.finditer(text):
        single, double, name = one.groups()
        literal = single if single is not None else double
        found.append(Place(one.start(), one.end(), None if literal is not None else name.strip(), literal or ""))
    return found


def written(text: str) -> str:
    """What stands there before any value is known, with a gap for each."""
    return _PLACE.sub(" ", text)


def faults(text: str) -> Iterator[tuple[int, str, str]]:
    """What begins like a variable and is none: where, the fact, the remedy."""
    for place in places(text):
        if place.name is not None and not _NAME.fullmatch(place.name):
            yield place.start, f"`{place.name[:80]}` is no name of a variable", _AS_TEXT
    blanked = _PLACE.sub(lambda place: " " * len(place[0]), text)
    for opening in _OPENING.finditer(blanked):
        yield opening.start(), "`${{` is not closed on its line", _AS_TEXT


def step_time(text: str) -> list[tuple[int, str]]:
    """Where `{{ }}` stands, and what in it."""
    blanked = _PLACE.sub(lambda place: " " * len(place[0]), text)
    return [(one.start(), one[1].strip()) for one in _STEP_TIME.finditer(blanked)]


def is_of_steps(text: str) -> bool:
    """Whether there are braces in it that only steps fill in, whatever stands in them."""
    return "{{" in _PLACE.sub("", text).replace("${{", "")


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def spell(value: Value) -> str:
    """As people write it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case tuple():
            return ", ".join(spell(one) for one in value)
        case Mapping():
            return json.dumps(value)
        case float() if value.is_integer():
            return f"{value:.0f}"
        case _:
            return str(value)


def elements(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


_AS_TEXT = "Write ${{ name }}; for the text itself, ${{ '${{' }}."


def _pieces(text: str, values: Mapping[str, Value], write: Callable[[Value], str]) -> Iterator[tuple[str, bool]]:
    end = 0
    for place in places(text):
        yield text[end : place.start], True
        yield write(_value(place, values)), False
        end = place.end
    yield text[end:], True


def _value(place: Place, values: Mapping[str, Value]) -> Value:
    if place.name is None:
        return place.literal
    if place.name not in values:
        raise VariableUnknown(f"There is no variable `{place.name[:80]}`.", hint(place.name, values))
    return values[place.name]


def _blank(value: str) -> str:
    """A gap; where the value has a letter at its edge, so has the gap: in `x@coder` nobody is mentioned."""
    if not value:
        return ""
    return "".join(_WORD if re.match(r"[\w@-]", edge) else " " for edge in (value[0], value[-1]))
