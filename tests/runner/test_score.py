"""Whatever order things were noticed in, they are played in the order in which the store did them."""

from moot.core import ids
from moot.registry import attempts
from moot.runner import score
from moot.runner.tape import Begin, Call, End, Happened, Header, Outcome, Said, Tape
from moot.testing.clock import ManualClock

HEADER = Header("0", "w", (), {})


class Ids:
    """Ids, each younger than the one before."""

    def __init__(self) -> None:
        self._clock = ManualClock()

    def new(self, prefix: str) -> str:
        return ids.new(prefix, self._clock.now())


def call(attempt: str, tool: str, operation: str | None) -> Call:
    return Call(attempt, "a", "member", tool, {}, False, "", {}, False, operation)


def happened(seq: int, kind: str, subject: str) -> Happened:
    return Happened(seq, kind, subject, "system", seq)


def names(tape: Tape) -> list[str]:
    return [getattr(note, "tool", note.type) for note in score.compose(tape).notes]


def test_calls_are_played_in_the_order_of_their_operations() -> None:
    made = Ids()
    one, two = made.new("at"), made.new("at")
    first, second = made.new("op"), made.new("op")
    said = made.new("ms")
    third = made.new("op")
    lines = (
        Begin(one, "a", 1, ()),
        Begin(two, "b", 1, ()),
        call(two, "third", third),
        call(one, "first", first),
        call(two, "look", None),
        call(one, "second", second),
        End(one, "ended"),
        happened(1, attempts.STARTED, one),
        happened(2, attempts.STARTED, two),
        Said(5, said, "a", "message", "hello", (), one, "system", 5),
        happened(6, attempts.SUCCEEDED, one),
    )
    found = names(Tape(HEADER, lines, Outcome(0, "done")))
    assert found == ["begin", "begin", "first", "second", "end", "third", "look"]


def test_an_attempt_begins_when_the_store_handed_out_its_mail() -> None:
    made = Ids()
    said, late = made.new("ms"), made.new("at")
    lines = (
        call(late, "send", made.new("op")),
        Begin(late, "b", 1, ()),
        Said(3, said, "system", "message", "hello", (), None),
        happened(4, attempts.STARTED, late),
    )
    found = score.compose(Tape(HEADER, lines, Outcome(0, "done")))
    assert [note.type for note in found.notes] == ["said", "begin", "call"]


def test_who_speaks_by_themselves_is_played_too() -> None:
    said = Said(3, Ids().new("ms"), "human", "message", "hello", (), None)
    found = score.compose(Tape(HEADER, (said,), Outcome(0, "done")))
    assert found.notes == (said,)
