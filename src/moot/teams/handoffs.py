"""Hand-offs: the one line in which a worker says what it has done, in a form that the next one can rely on."""

import re

from moot.core.errors import InvalidInput
from moot.core.records import record

TEMPLATE = "done: <what changed>; evidence: <tests/commands>; risk: <remaining risk>; next: <recommended next step>"
_FORM = re.compile(
    r"done:\s*(\S.*?)\s*;\s*evidence:\s*(\S.*?)\s*;\s*risk:\s*(\S.*?)\s*;\s*next:\s*(\S.*?)\s*",
    re.DOTALL | re.IGNORECASE,
)


class HandoffRefused(InvalidInput):
    """A task of a team is not handed off in the form that everybody can rely on."""

    code = "HANDOFF_REFUSED"


@record
class Handoff:
    done: str
    evidence: str
    risk: str
    next: str


def parse(text: str) -> Handoff | None:
    """None if it is not in the form. Angle brackets are those of the template itself."""
    found = _FORM.fullmatch(text.strip())
    if found is None or any(part.startswith("<") and part.endswith(">") for part in found.groups()):
        return None
    return Handoff(*found.groups())


def check(text: str | None) -> Handoff:
    found = parse(text or "")
    if found is None:
        raise HandoffRefused("The outcome is no hand-off.", f"Write it in this form, and fill it in: {TEMPLATE}")
    return found


def last(text: str) -> str | None:
    """The hand-off at the end of somebody's last words: the last paragraph, or the last line."""
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text.strip())]
    lines = [line.strip() for line in text.strip().splitlines()]
    wanted = (paragraphs[-1], lines[-1] if lines else "")
    return next((one.strip("`") for one in wanted if parse(one.strip("`")) is not None), None)
