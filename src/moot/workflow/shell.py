"""Values in shell commands: each arrives as one argument, whatever it holds.

That holds only where the shell reads plain words. Inside quotes, here-documents and the like a quoted value would not
be quoted at all, so a variable there is refused when the file is read. Where it is not certain what the shell will
read, it counts as one of those.
"""

import re
from collections.abc import Iterator, Mapping

from moot.core.errors import InvalidInput
from moot.core.records import record
from moot.workflow import templates
from moot.workflow.workflow import Value

_BARE = "Write it without quotes around it: moot quotes the value."
_SEPARATE = 'Put the value into a shell variable first: x=${{ name }}; then use "$x".'
_STARTS_COMMENT = frozenset(" \t\n;&|()<>")
_PLAIN_EXPANSION = re.compile(r"\$\{\w+\}")


class CommandUnsafe(InvalidInput):
    """A value would not arrive as one argument."""

    code = "COMMAND_UNSAFE"


@record
class Unsafe:
    """A variable that stands where its value cannot be quoted."""

    at: int
    fact: str
    remedy: str


def expand(command: str, values: Mapping[str, Value]) -> str:
    """The command with each value as one word, and each element of an array as one."""
    for one in unsafe(command):
        raise CommandUnsafe(f"A variable stands {one.fact}.", one.remedy)
    return templates.replace(command, values, _words)


def unsafe(command: str) -> Iterator[Unsafe]:
    """The variables whose values cannot be quoted where they stand."""
    places = {one.start: one for one in templates.places(command)}
    reader = _Reader()
    at = 0
    while at < len(command):
        place = places.get(at)
        if place is None:
            at += reader.read(command, at)
            continue
        trouble = reader.trouble(command, at)
        if trouble is not None:
            yield Unsafe(at, *trouble)
        at = place.end
        reader.is_word_start = False


def quote(text: str) -> str:
    """One word. Quoted even if it looks harmless: `2` before `>` and `if` at the start mean something to the shell."""
    if "\0" in text:
        raise CommandUnsafe("A value holds a NUL character, which no argument can.", "Remove it.")
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _words(value: Value) -> str:
    return " ".join(quote(templates.spell(one)) for one in templates.elements(value))


class _Reader:
    """Goes through a command and knows, at every place, how the shell would read a quoted word there."""

    def __init__(self) -> None:
        self.quote = ""  # ' or " or #, if inside one
        self.lost = ""  # from here on it is not certain any more
        self.is_word_start = True

    def trouble(self, command: str, at: int) -> tuple[str, str] | None:
        before = command[at - 1] if at else ""
        if self.lost:
            return f"after {self.lost}", _SEPARATE
        match self.quote:
            case "'":
                return "in single quotes", _BARE
            case '"':
                return "in double quotes", _BARE
            case "#":
                return "in a comment", "Leave it out there."
            case _ if before in ("$", "\\"):
                return f"right after a {before}", "Leave that out, or put a space between."
            case _:
                return None

    def read(self, command: str, at: int) -> int:
        """Take in what stands here; how many characters that were."""
        here = command[at]
        is_word_start, self.is_word_start = self.is_word_start, here in _STARTS_COMMENT
        match self.quote, here:
            case "#", "\n":
                self.quote = ""
            case ("#", _):
                pass
            case "'", _:
                self.quote = "" if here == "'" else "'"
            case _, "\\" if not command.startswith("${{", at + 1):
                return 2
            case '"', '"':
                self.quote = ""
            case '"', _:
                self._nested(command, at)
            case _, "'" | '"':
                self.quote = here
            case _, "#" if is_word_start:
                self.quote = "#"
            case _:
                self._plain(command, at)
        return 1

    def _nested(self, command: str, at: int) -> None:
        if command[at] == "`" or command.startswith("$(", at) or _opens_expansion(command, at):
            self.lost = "a substitution in double quotes"

    def _plain(self, command: str, at: int) -> None:
        if command[at] == "`":
            self.lost = "a backtick"
        elif command.startswith("<<", at):
            self.lost = "a here-document"
        elif command.startswith(("$'", '$"'), at):
            self.lost = "a quotation that begins with $"
        elif command.startswith("((", at):
            self.lost = "(("
        elif _opens_expansion(command, at):
            self.lost = "${"


def _opens_expansion(command: str, at: int) -> bool:
    """`${`, which may hold words of its own; `${NAME}` does not."""
    return command.startswith("${", at) and not _PLAIN_EXPANSION.match(command, at)
