"""The names of the tool groups, for those who only choose among them: the tools themselves cost more to import."""

from moot.core.errors import InvalidInput

NAMES = ("channel", "inbox", "documents", "proposals", "requests", "agents")

APPROVE = "approve"  # a tool that is offered only to those whose groups name it


class GroupUnknown(InvalidInput):
    code = "GROUP_UNKNOWN"


def parse(text: str) -> tuple[str, ...]:
    """`channel,inbox` as people write it."""
    chosen = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in chosen if name not in NAMES]
    if unknown or not chosen:
        raise GroupUnknown(f"There is no tool group {', '.join(unknown)[:80]!r}.", f"Choose from: {', '.join(NAMES)}.")
    return chosen
