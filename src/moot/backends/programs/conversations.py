"""A program's own conversation from one attempt to the next: which one it goes on with, if any."""

from moot.backends.backend import Assignment, Conversation, Manner

_LOST = "An isolated agent's private directory ends with the attempt, and its conversation with it."


def is_kept(manner: Manner) -> bool:
    return manner.keeps_conversation and not manner.is_isolated


def before(assignment: Assignment) -> Conversation | None:
    """That of the attempt before, to go on with."""
    return assignment.conversation if is_kept(assignment.manner) else None


def warning(manner: Manner) -> tuple[str, ...]:
    """For who asks for what cannot be."""
    return (_LOST,) if manner.keeps_conversation and manner.is_isolated else ()
