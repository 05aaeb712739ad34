"""Text from outside, checked once at the edge: no NUL, no lone surrogates, not endless."""

from moot.core.errors import InvalidInput

MAX_TEXT = 1_000_000


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
