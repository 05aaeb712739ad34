"""Reads JavaScript as far as moot must: where an expression ends, and which names it uses that are not its own.

Only the names that are found here are given to an evaluation. So what a text depends on is known before it runs, and
cannot be more than is found here.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from moot.core.errors import InvalidInput
from moot.core.records import record

Kind = Literal["name", "sign", "text", "number", "pattern"]
_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*|\$[\w$]*", re.UNICODE)
_NAME_REST = re.compile(r"[\w$]*")
_NUMBER = re.compile(r"(?:0[xXbBoO][\w]+|\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?n?|\.\d+(?:[eE][+-]?\d+)?)")
_STRING = re.compile(r"""'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+\"""", re.DOTALL)
_PATTERN = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/[a-z]*")
_SIGN = re.compile(r"\.\.\.|=>|\?\.(?!\d)|.", re.DOTALL)
_TEMPLATE_TEXT = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*+", re.DOTALL)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_DEEPEST = 20
_DECLARING = frozenset(("const", "let", "var", "class", "function"))
# After these a slash begins a pattern; after any other name it divides.
_BEFORE_VALUES = frozenset(("return", "typeof", "case", "in", "of", "void", "delete", "throw", "new", "else"))
_RESERVED = """
    break case catch class const continue debugger default delete do else enum export extends false finally for
    function if import in instanceof new null return super switch this throw true try typeof var void while with
    yield let static async await of get set undefined NaN Infinity arguments eval
"""
RESERVED = frozenset(_RESERVED.split())


class ScriptUnreadable(InvalidInput):
    """Text that cannot be cut into words: a string or a bracket is not closed."""

    code = "SCRIPT_UNREADABLE"


@record
class Token:
    kind: Kind
    text: str
    start: int
    end: int


def tokens(text: str, start: int = 0) -> list[Token]:
    """The words of a text, up to a closing brace that was not opened in it."""
    return _read(text, start, 0)[0]


def end(text: str, start: int) -> int:
    """Where the expression that begins there ends: before the brace that closes what is around it."""
    return _read(text, start, 0)[1]


def _read(text: str, start: int, level: int) -> tuple[list[Token], int]:
    if level > _DEEPEST:
        raise ScriptUnreadable(f"Texts in backticks lie in each other {_DEEPEST} times.", "Put them together by +.")
    found: list[Token] = []
    depth, at = 0, start
    while at < len(text):
        if (space := _SPACE.match(text, at)) is not None:
            at = space.end()
            continue
        if text[at] == "`":
            found += _template(text, at, level)
        else:
            token = _token(text, at, found[-1] if found else None)
            depth += (token.text in _OPENING) - (token.text in _CLOSING) if token.kind == "sign" else 0
            if depth < 0:
                break
            found.append(token)
        at = found[-1].end
    return found, at


@lru_cache(maxsize=4096)
def free_names(code: str) -> frozenset[str]:
    """Names that a text uses without declaring them: rather too many, but one that it declares anywhere is its own."""
    found = tokens(code)
    used = {token.text for at, token in enumerate(found) if token.kind == "name" and not _is_key(found, at)}
    return frozenset(used - RESERVED - _declared(found))


def _token(text: str, at: int, before: Token | None) -> Token:
    first = text[at]
    if first in "'\"":
        return _matched("text", _STRING, text, at)
    if first.isdigit() or (first == "." and text[at + 1 : at + 2].isdigit()):
        return _matched("number", _NUMBER, text, at)
    if (name := _NAME.match(text, at)) is not None:
        stop = _NAME_REST.match(text, name.end())
        assert stop is not None
        return Token("name", text[at : stop.end()], at, stop.end())
    if first == "/" and _begins_value(before) and _PATTERN.match(text, at):
        return _matched("pattern", _PATTERN, text, at)
    return _matched("sign", _SIGN, text, at)


def _matched(kind: Kind, form: re.Pattern[str], text: str, at: int) -> Token:
    found = form.match(text, at)
    if found is None:
        raise ScriptUnreadable(f"A text that begins with {text[at : at + 20]!r} does not end on its line.", "Close it.")
    return Token(kind, found[0], at, found.end())


def _begins_value(before: Token | None) -> bool:
    if before is None:
        return True
    if before.kind == "name":
        return before.text in _BEFORE_VALUES
    return before.kind == "sign" and before.text not in ")]}"


def _template(text: str, start: int, level: int) -> Iterator[Token]:
    """A text in backticks: the words of each `${…}` in it, then all of it as one token."""
    at = start + 1
    while True:
        part = _TEMPLATE_TEXT.match(text, at)
        assert part is not None
        at = part.end()
        if text[at : at + 1] == "`":
            break
        if text[at : at + 2] != "${":
            raise ScriptUnreadable("A text in backticks is not closed.", "Close it with a backtick.")
        inside, stop = _read(text, at + 2, level + 1)
        if text[stop : stop + 1] != "}":
            raise ScriptUnreadable("`${` in a text in backticks is not closed.", "Close it with }.")
        # Brackets around it, so that what is before and behind it is never taken for its neighbour.
        yield from (Token("sign", "(", at, at + 2), *inside, Token("sign", ")", stop, stop + 1))
        at = stop + 1
    yield Token("text", text[start : at + 1], start, at + 1)


def _is_key(found: Sequence[Token], at: int) -> bool:
    """Whether the name belongs to an object: behind a dot, or before a colon in braces."""
    before = found[at - 1].text if at else ""
    behind = found[at + 1].text if at + 1 < len(found) else ""
    return before in (".", "?.") or (behind == ":" and before in ("{", ","))


def _declared(found: Sequence[Token]) -> set[str]:
    own: set[str] = set()
    for at, token in enumerate(found):
        if token.text == "=>" and at:
            own |= _names(_group_before(found, at)) if found[at - 1].text == ")" else {found[at - 1].text}
        elif token.kind == "name" and token.text in _DECLARING | {"catch"}:
            own |= _names(_pattern_behind(found, at + 1))
    return own


def _pattern_behind(found: Sequence[Token], at: int) -> Sequence[Token]:
    """What follows a declaring word: a name and perhaps parameters, or a bracket with names in it."""
    stop = at
    while stop < len(found) and (found[stop].kind == "name" or found[stop].text == "*"):
        stop += 1
    if stop < len(found) and found[stop].text in _OPENING:
        stop = _closing(found, stop) + 1
    return found[at:stop]


def _closing(found: Sequence[Token], opening: int) -> int:
    depth = 0
    for at in range(opening, len(found)):
        if found[at].kind == "sign":
            depth += (found[at].text in _OPENING) - (found[at].text in _CLOSING)
        if depth == 0:
            return at
    return len(found) - 1


def _group_before(found: Sequence[Token], arrow: int) -> Sequence[Token]:
    depth = 0
    for at in range(arrow - 1, -1, -1):
        if found[at].kind == "sign":
            depth += (found[at].text in _CLOSING) - (found[at].text in _OPENING)
        if depth == 0:
            return found[at:arrow]
    return found[:arrow]


def _names(group: Sequence[Token]) -> set[str]:
    return {token.text for at, token in enumerate(group) if token.kind == "name" and not _is_key(group, at)}
