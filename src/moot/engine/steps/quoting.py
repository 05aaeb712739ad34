"""Values in shell commands. Each is put in as one word, a list as one word for each of its items, so that nothing in a
value means anything to the shell. That holds only where a word can stand: whoever puts an expression into quotes of
his own is told so before anything runs."""

import re
import shlex
from collections.abc import Sequence

from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.engine.expressions import template
from moot.engine.expressions.template import Expression
from moot.engine.resolving import text_of
from moot.engine.step import StepFailed

_HERE = re.compile(r"<<(-?)[ \t]*(['\"\\]?)([A-Za-z_][\w.-]*)")
_BEFORE_COMMENTS = frozenset("\n \t;&|(")
_ARITHMETIC = "(("
_PLACES = {
    "'": "in single quotes",
    '"': "in double quotes",
    "`": "between backticks",
    _ARITHMETIC: "in arithmetic",
    "\\": "behind a backslash",
    "#": "in a comment",
    "<<": "in a text that is given by <<",
}
_REMEDIES = {
    "'": "Leave the quotes out: moot quotes every value by itself.",
    '"': "Leave the quotes out: moot quotes every value by itself.",
    "`": "Write $(…) in place of the backticks.",
    _ARITHMETIC: "Compute it in the braces: {{ a + 1 }}.",
    "<<": "Hand it on by a pipe: printf %s {{ value }} | command.",
}


class ValueMisplaced(InvalidInput):
    """An expression stands where its value could not be quoted."""

    code = "VALUE_MISPLACED"


def spelled(expression: Expression, value: Json) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str) and not expression.is_raw:
        return " ".join(_word(expression, one) for one in value)
    return text_of(value) if expression.is_raw else _word(expression, value)


def _word(expression: Expression, value: Json) -> str:
    text = text_of(value)
    if "\0" in text:
        raise StepFailed(f"{expression.source} has a zero byte in it.", "No command can be given one: take it out.")
    return shlex.quote(text)


def check(command: str) -> None:
    """ValueMisplaced if an expression with two braces stands where a word of its own cannot."""
    shell = _Shell()
    for part in template.parse(command).parts:
        if isinstance(part, str):
            shell.read(part)
            continue
        place = shell.place
        if place and not part.is_raw:
            remedy = _REMEDIES.get(place, "Put it elsewhere.")
            raise ValueMisplaced(f"{part.source[:80]} stands {_PLACES[place]}, where it cannot be quoted.", remedy)
        shell.pass_word()


class _Shell:
    """Where in a command a shell would be: as far as quotes go."""

    def __init__(self) -> None:
        self._inside: list[str] = []  # what is open, the innermost last
        self._before = "\n"
        self._is_escaped = False
        self._coming: list[tuple[str, bool]] = []  # the ends of texts that begin on the next line
        self._line: str | None = None  # of such a text

    @property
    def place(self) -> str:
        """Of `_PLACES`, or nothing where a word can stand."""
        if self._line is not None:
            return "<<"
        for around in ("`", _ARITHMETIC):  # quotes inside mean nothing to what closes it, or to what is expanded
            if around in self._inside:
                return around
        if self._is_escaped:
            return "\\"
        return self._inside[-1] if self._inside and self._inside[-1] in _PLACES else ""

    def pass_word(self) -> None:
        self._before, self._is_escaped = "x", False
        if self._line is not None:
            self._line += "x"

    def read(self, text: str) -> None:
        for at, sign in enumerate(text):
            if self._line is not None:
                self._read_given(sign)
            elif self._is_escaped:
                self._is_escaped = False
            else:
                self._read_sign(sign, text, at)
            self._before = sign

    def _read_given(self, sign: str) -> None:
        if sign != "\n":
            self._line = f"{self._line}{sign}"
            return
        end, is_indented = self._coming[0]
        line = self._line or ""
        if (line.lstrip("\t") if is_indented else line) == end:
            self._coming.pop(0)
        self._line = "" if self._coming else None

    def _read_sign(self, sign: str, text: str, at: int) -> None:
        within = self._inside[-1] if self._inside else ""
        if within in ("'", "#"):
            if sign == ("'" if within == "'" else "\n"):
                self._inside.pop()
            if within == "'" or sign != "\n":
                return
        if sign == "\\":
            self._is_escaped = True
        elif sign == "(" and (within != '"' or self._before == "$"):
            self._inside.append(_ARITHMETIC if self._before == "(" else ")")
        elif sign == "`" or (sign in "'\"" and within != '"') or (sign == '"' == within):
            self._turn(sign, within)
        elif within != '"':
            self._read_plain(sign, within, text, at)

    def _turn(self, sign: str, within: str) -> None:
        """It opens, or closes what it has opened."""
        if sign == within:
            self._inside.pop()
        else:
            self._inside.append(sign)

    def _read_plain(self, sign: str, within: str, text: str, at: int) -> None:
        if sign == ")" and within in (")", _ARITHMETIC):
            self._inside.pop()
        elif sign == "#" and self._before in _BEFORE_COMMENTS:
            self._inside.append("#")
        elif sign == "<" and self._before != "<" and (found := _HERE.match(text, at)) is not None:
            self._coming.append((found[3], bool(found[1])))
        elif sign == "\n" and self._coming:
            self._line = ""
