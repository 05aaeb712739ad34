"""The line that is being typed: keys come in as terminals send them, and lines go out. Draws nothing."""

import re
from collections.abc import Callable, Iterator
from typing import Literal

from moot.cli import below
from moot.core.records import record

_MOST = 100  # lines that are kept to be typed again
# A key that is more than a letter: with parameters, one of the keypad, or Esc alone, of which more may be to come.
_SEQUENCE = re.compile("\x1b\\[([0-9;]*)([@-~])|\x1bO(.)", re.DOTALL)
_UNFINISHED = re.compile("\x1b(\\[[0-9;]*|O)?")
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
_LAST_WORD = re.compile(r"\S*\s*\Z")
_BREAKS = str.maketrans({"\n": "⏎", "\t": " "})  # what is pasted is one line to look at

Wish = Literal["next", "end", "redraw"]  # what a key asks of whoever shows the line


@record
class Line:
    """What was entered, perhaps nothing; pasted text may have breaks in it."""

    text: str


class Editor:
    def __init__(self) -> None:
        self.text = ""
        self.place = 0  # of the cursor, in letters
        self._rest = ""  # the beginning of a key of which the end is to come
        self._is_pasting = False
        self._past: list[str] = []
        self._at = 0  # in the past; behind it: the line itself
        self._draft = ""  # that line, while another is looked at
        self._keys: dict[str, Callable[[], None]] = {
            "\x7f": self._backspace, "\x08": self._backspace, "\x01": self._home, "\x05": self._end,
            "\x02": self._left, "\x06": self._right, "\x15": self._cut_before, "\x0b": self._cut_behind,
            "\x17": self._cut_word, "\x10": self._earlier, "\x0e": self._later,
        }  # fmt: skip
        self._named: dict[str, Callable[[], None]] = {
            "A": self._earlier, "B": self._later, "C": self._right, "D": self._left, "H": self._home, "F": self._end,
            "1~": self._home, "7~": self._home, "4~": self._end, "8~": self._end, "3~": self._delete,
        }  # fmt: skip

    def feed(self, typed: str) -> Iterator[Line | Wish]:
        """What comes of the keys, one after the other."""
        text, self._rest = self._rest + typed, ""
        while text:
            if self._is_pasting:
                text = self._paste(text)
            elif text[0] == "\x1b":
                text = self._escape(text)
            else:
                key, text = text[0], text[1:]
                if (found := self._press(key)) is not None:
                    yield found

    def window(self, columns: int) -> tuple[str, int]:
        """As much of the line around the cursor as fits, and the cursor's column in it."""
        first, left = self.place, columns - 2
        while first and (left := left - below.cells(self.text[first - 1])) >= 0:
            first -= 1
        mark = "…" if first else ""
        text = mark + self.text[first + len(mark) : first + columns].translate(_BREAKS)
        return below.cut(text, columns - 1), below.cells(text[: self.place - first])

    def _press(self, key: str) -> Line | Wish | None:
        if key in "\r\n":
            return self._enter()
        if key == "\x04" and not self.text:
            return "end"
        if key == "\t":
            return "next"
        if key == "\x0c":
            return "redraw"
        if key == "\x04":
            self._delete()
        elif key in self._keys:
            self._keys[key]()
        elif key.isprintable():
            self._insert(key)
        return None

    def _enter(self) -> Line:
        entered = self.text
        if entered.strip() and entered not in self._past[-1:]:
            self._past = [*self._past, entered][-_MOST:]
        self._become("")
        self._at = len(self._past)
        return Line(entered)

    def _escape(self, text: str) -> str:
        """The rest behind it."""
        if text.startswith(_PASTE):
            self._is_pasting = True
            return text[len(_PASTE) :]
        found = _SEQUENCE.match(text)
        if found is not None:
            name = found[3] or f"{found[1] if found[2] == '~' else ''}{found[2]}"
            self._named.get(name, lambda: None)()
            return text[found.end() :]
        if _UNFINISHED.fullmatch(text):
            self._rest = text
            return ""
        return text[1:]  # Esc means nothing, nor does Alt

    def _paste(self, text: str) -> str:
        pasted, end, rest = text.partition(_PASTED)
        if not end:  # it may have begun, and so may a break of two characters
            at = len(pasted) - 1 if pasted.endswith("\r") else pasted.rfind("\x1b")
            if at >= 0 and (pasted[at:] == "\r" or _PASTED.startswith(pasted[at:])):
                pasted, self._rest = pasted[:at], pasted[at:]
        self._is_pasting = not end
        lines = pasted.replace("\r\n", "\n").replace("\r", "\n")
        self._insert("".join(one for one in lines if one in "\n\t" or one.isprintable()))
        return rest

    def _insert(self, text: str) -> None:
        self.text = self.text[: self.place] + text + self.text[self.place :]
        self.place += len(text)

    def _become(self, text: str) -> None:
        self.text, self.place = text, len(text)

    def _cut(self, first: int, last: int) -> None:
        self.text, self.place = self.text[:first] + self.text[last:], first

    def _backspace(self) -> None:
        self._cut(max(0, self.place - 1), self.place)

    def _delete(self) -> None:
        self._cut(self.place, self.place + 1)

    def _cut_before(self) -> None:
        self._cut(0, self.place)

    def _cut_behind(self) -> None:
        self._cut(self.place, len(self.text))

    def _cut_word(self) -> None:
        found = _LAST_WORD.search(self.text[: self.place])
        self._cut(found.start() if found else self.place, self.place)

    def _home(self) -> None:
        self.place = 0

    def _end(self) -> None:
        self.place = len(self.text)

    def _left(self) -> None:
        self.place = max(0, self.place - 1)

    def _right(self) -> None:
        self.place = min(len(self.text), self.place + 1)

    def _earlier(self) -> None:
        if self._at == len(self._past):
            self._draft = self.text
        self._turn_to(max(0, self._at - 1))

    def _later(self) -> None:
        self._turn_to(min(len(self._past), self._at + 1))

    def _turn_to(self, at: int) -> None:
        if at != self._at:
            self._at = at
            self._become(self._past[at] if at < len(self._past) else self._draft)
