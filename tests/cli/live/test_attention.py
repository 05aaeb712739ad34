"""Which of the things that need a person the next line answers."""

from datetime import UTC, datetime

from moot.bus.mailbox import Mail
from moot.cli.live.attention import Attention
from moot.core.ids import MessageId, StreamId


def mail(name: str) -> Mail:
    id, at = MessageId(name), datetime(2026, 1, 1, tzinfo=UTC)
    return Mail(
        StreamId("s"), 1, id, "coder", "message", name, (), "normal", id, None, None, None, at, 0, state="queued"
    )


A, B, C = mail("a"), mail("b"), mail("c")


def test_the_first_until_somebody_turns_to_another() -> None:
    attention = Attention()
    attention.see([A, B, C])
    assert (attention.current, attention.others) == (A, [B, C])
    attention.turn()
    assert (attention.current, attention.others) == (B, [C, A])
    attention.see([C, B])
    assert attention.current == B
    attention.see([C])
    assert (attention.current, attention.others) == (C, [])
    attention.turn()
    assert attention.current == C


def test_what_is_typed_for_one_is_not_for_another() -> None:
    attention = Attention()
    attention.see([A, B])
    attention.hold(is_held=True)
    attention.see([B])
    assert (attention.current, attention.is_over) == (A, True)
    attention.turn()
    assert (attention.current, attention.is_over) == (B, False)
    attention.hold(is_held=False)
    assert attention.current == B


def test_what_comes_while_something_is_said_is_not_answered_by_it() -> None:
    attention = Attention()
    attention.hold(is_held=True)
    attention.see([A])
    assert attention.current is None
    attention.hold(is_held=False)
    assert attention.current == A


def test_what_was_answered_is_passed_over_unless_that_was_no_answer() -> None:
    attention = Attention()
    attention.see([A, B])
    attention.done(A)
    assert attention.current == B
    attention.see([A, B])
    assert attention.current == B
    attention.not_done(A)
    attention.see([A, B])
    assert attention.others == [A]
