"""Text from outside: checked at the edge (no NUL, no lone surrogates, not endless), and inert where it is shown."""

import re

from moot.core.errors import InvalidInput

MAX_TEXT = 1_000_000
# All but tab and newline: C0, DEL and C1; marks that change the direction of text; line and paragraph separators;
# the byte order mark; invisible tags.
_ACTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


def clean(text: str, what: str, *, limit: int = MAX_TEXT) -> str:
    """The same text, or InvalidInput; `what` names it in the error."""
    if len(text) > limit:
        raise InvalidInput(
            f"The {what} has {len(text):,} characters; at most {limit:,} are taken.",
            "Send a file's path instead.",
        )
    if "\0" in text:
        raise InvalidInput(f"The {what} contains a NUL character.", "Remove it and send again.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"The {what} is not valid Unicode (lone surrogate at {error.start}).") from error
    return text


def is_text(text: str) -> bool:
    """Whether it can be written down: what comes from a system may have bytes in it that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def inert(text: str) -> str:
    """The same text with everything that would act on a terminal or turn the reading direction spelled out, like
    `\\x1b`."""
    return _ACTIVE.sub(_spelled, text.replace("\r\n", "\n"))


def sentence(text: str) -> str:
    """With a full stop, unless it has an end already: what others have said may come before a remedy."""
    found = text.rstrip()
    return found if found.endswith((".", "!", "?", "…")) else f"{found}."


def shortened(text: str, most: int) -> str:
    """In one line of at most so many characters."""
    found = " ".join(text.split())
    return found if len(found) <= most else f"{found[: most - 1].rstrip()}…"


def counted(count: int, noun: str) -> str:
    """`1 message`, `2 messages`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
