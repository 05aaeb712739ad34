"""At signs in what a program is told: some put the file or folder of every `@name` into the prompt, also of one in a
mail, wherever it lies; of one with a backslash before it none. The model sees the backslash, too."""

import re

_AT = re.compile(r"(?<!\\)@")
_ESCAPED = r"\\@"
_NOTE = "(In this text a backslash stands before every at sign. Write at signs without it.)"


def literal(text: str) -> str:
    """The same text, for such a program."""
    return f"{_NOTE}\n\n{_AT.sub(_ESCAPED, text)}" if _AT.search(text) else text
