"""Texts with `{{ expressions }}`: cut into what is said and what is evaluated. A text that is one expression and
nothing else keeps the type of its value."""

import re
from collections.abc import Sequence
from functools import lru_cache

from moot.core.errors import InvalidInput
from moot.core.records import record
from moot.engine.expressions import javascript

FILTERS = frozenset(("first", "json", "last", "length", "lower", "path_to_key", "trim", "upper"))
_OPENING = re.compile(r"\{\{\{?")


class TemplateInvalid(InvalidInput):
    """`{{` without its end, or with nothing in it."""

    code = "TEMPLATE_INVALID"


@record
class Expression:
    code: str
    filters: tuple[str, ...] = ()
    is_raw: bool = False  # written with three braces: not quoted in a shell command
    source: str = ""  # as it stands in the text, braces and all

    @property
    def names(self) -> frozenset[str]:
        return javascript.free_names(self.code)


@record
class Template:
    parts: tuple[str | Expression, ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(part for part in self.parts if isinstance(part, Expression))

    @property
    def lone(self) -> Expression | None:
        """The expression, if there is nothing but white space around it."""
        said = "".join(part for part in self.parts if isinstance(part, str))
        return self.expressions[0] if len(self.expressions) == 1 and not said.strip() else None

    @property
    def text(self) -> str | None:
        """What it says, if nothing in it is evaluated."""
        return None if self.expressions else "".join(part for part in self.parts if isinstance(part, str))


@lru_cache(maxsize=4096)
def parse(text: str) -> Template:
    """TemplateInvalid, or ScriptUnreadable, says where it goes wrong."""
    parts: list[str | Expression] = []
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        braces = len(opening[0])
        stop = javascript.end(text, opening.end())
        if text[stop : stop + braces] != "}" * braces:
            raise TemplateInvalid(
                f"{text[opening.start() : opening.start() + 40]!r} is not closed.", f"Close it with {'}' * braces}."
            )
        if opening.start() > at:
            parts.append(text[at : opening.start()])
        source = text[opening.start() : stop + braces]
        parts.append(expression(text[opening.end() : stop], source, is_raw=braces == 3))
        at = stop + braces
    if at < len(text) or not parts:
        parts.append(text[at:])
    return Template(tuple(parts))


def expression(code: str, source: str = "", *, is_raw: bool = False) -> Expression:
    """Code with the filters behind it: a `| name` at its end that names one."""
    found = javascript.tokens(code)
    if not found:
        raise TemplateInvalid(f"There is no expression in {source or 'this'}.", "Write one, or leave the braces out.")
    filters: list[str] = []
    while _is_filtered(found):
        filters.insert(0, found.pop().text)
        found.pop()
    return Expression(code[: found[-1].end].strip(), tuple(filters), is_raw, source)


def _is_filtered(found: Sequence[javascript.Token]) -> bool:
    if len(found) < 3 or found[-1].text not in FILTERS or found[-2].text != "|":
        return False
    return found[-3].text != "|"  # a || length is JavaScript


def condition(text: str) -> Expression:
    """What a condition says: an expression in braces, or without."""
    found = parse(text)
    if found.lone is not None:
        return found.lone
    if found.expressions:
        raise TemplateInvalid(f"{text[:80]!r} is more than one expression.", "Put all of it into one pair of braces.")
    return expression(text, text)
