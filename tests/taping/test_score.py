"""Whatever order things were noticed in, they are played in the order in which the store did them."""

from dataclasses import replace

from moot.core import ids
from moot.documents import documents
from moot.models.model import Usage
from moot.proposals import votes
from moot.registry import attempts, runs
from moot.runner.refusals import Reached
from moot.taping.flow_lines import Moved, Submitted
from moot.taping.replaying import score
from moot.taping.tape import (
    Asked,
    Begin,
    Call,
    End,
    Happened,
    Header,
    Letter,
    Limit,
    Line,
    More,
    Outcome,
    Read,
    Refused,
    Replied,
    Said,
    Tape,
)
from moot.testing.clock import ManualClock

HEADER = Header("0", "w", "default", (), {}, {})


class Ids:
    """Ids, each younger than the one before."""

    def __init__(self) -> None:
        self._clock = ManualClock()

    def new(self, prefix: str) -> str:
        return ids.new(prefix, self._clock.micros())


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


def did(seq: int, kind: str, actor: str, at: int, **facts: object) -> Happened:
    return Happened(seq, kind, "it", actor, at, facts)


def test_what_was_done_without_tools_is_played_at_its_place_and_what_came_of_it_comes_by_itself() -> None:
    made = Ids()
    vote = did(7, votes.CAST, "human", 1001)
    lines = (
        Said(4, made.new("ms"), "system", "message", "begin", (), None, "system", 10),
        Said(6, made.new("ms"), "human", "message", "I vote", (), None, "human", 1000),
        vote,
        did(8, votes.CLOSED, "human", 1002),
        did(9, documents.CHANGED, "system", 2000),
        did(10, documents.CHANGED, "disk", 3000),
    )
    found = score.compose(Tape(HEADER, lines, Outcome(0, "done")))
    assert found.notes == (lines[0], vote, lines[-1])


def test_what_a_call_has_done_is_not_done_twice() -> None:
    made = Ids()
    one = made.new("at")
    lines = (
        Begin(one, "a", 1, ()),
        replace(call(one, "document_write", made.new("op")), events=(5,)),
        happened(1, attempts.STARTED, one),
        did(5, documents.CHANGED, "a", 300),
        did(6, documents.CHANGED, "a", 900),
        did(7, documents.CHANGED, "b", 950),
    )
    found = score.compose(Tape(HEADER, lines, Outcome(0, "done")))
    assert found.notes == (*lines[:2], *lines[4:])


def test_a_message_of_moot_about_a_failure_comes_with_the_end_of_the_attempt() -> None:
    made = Ids()
    one = made.new("at")
    lines = (
        Begin(one, "a", 1, ()),
        End(one, "ended", "crash"),
        happened(1, attempts.STARTED, one),
        Said(4, made.new("ms"), "system", "system", "a failed", (), None, "system", 4),
        happened(5, attempts.FAILED, one),
    )
    found = score.compose(Tape(HEADER, lines, Outcome(1, "failed")))
    assert found.notes == (lines[0], lines[1], lines[3])


def test_mail_is_handed_out_when_it_is_there() -> None:
    made = Ids()
    one, letter = made.new("at"), made.new("ms")
    lines = (
        Begin(one, "a", 1, ()),
        More(one, (Letter(letter, "human", "message", "more"),)),
        happened(1, attempts.STARTED, one),
        Said(4, letter, "human", "message", "more", ("a",), None, "human", 4),
    )
    found = score.compose(Tape(HEADER, lines, None))
    assert found.notes == (lines[0], lines[3], lines[1])


def test_a_run_that_its_person_has_ended_is_ended_at_that_place() -> None:
    ended = did(8, runs.ENDED, "system", 8, state="interrupted", reason="interrupted")
    saved = did(9, documents.CHANGED, "disk", 9)
    assert score.compose(Tape(HEADER, (ended, saved), Outcome(130, "interrupted"))).notes == (saved, ended)
    assert score.compose(Tape(HEADER, (ended, saved), Outcome(4, "interrupted"))).notes == (saved,)


def test_mail_that_the_inbox_shows_was_handed_out_before_it_was_looked_into() -> None:
    """Though that was noticed later. What it does not show has come behind it."""
    made = Ids()
    attempt, shown, other = made.new("at"), made.new("ms"), made.new("ms")
    check = made.new("op")

    def played(letter: str) -> list[str]:
        lines = (
            Begin(attempt, "a", 1, ()),
            replace(call(attempt, "inbox_check", check), text=f'[{{"id": "{shown}"}}]'),
            More(attempt, (Letter(letter, "b", "message", "hello"),)),
            happened(1, attempts.STARTED, attempt),
            Said(2, shown, "b", "message", "hello", ("a",), "at_x", "b", 2),
            Said(3, other, "b", "message", "hello", ("a",), "at_x", "b", 3),
        )
        return names(Tape(HEADER, lines, Outcome(0, "done")))

    assert played(shown) == ["begin", "more", "inbox_check"]
    assert played(other) == ["begin", "inbox_check", "more"]


def test_what_models_answered_counts_from_when_it_was_on_record_and_who_was_refused_is_so_before_it_is_told() -> None:
    made = Ids()
    one, other, said, operation = made.new("at"), made.new("at"), made.new("ms"), made.new("op")
    lines = (
        Begin(one, "a", 1, ()),
        Asked(one, "a", "t1/m", 1, "x"),
        Said(5, said, "system", "system", "The run has reached its budget.", (), None, "system", 5),
        replace(call(one, "look", operation), path="t1/c1"),
        Replied(one, "t1/m", 1, "", (), "tools", Usage(), 0.0, 4),
        Begin(other, "b", 1, ()),
        Refused(one, "t2/m", "x", "budget", "stopped", Reached("budget"), 4),
        Asked(one, "a", "t3/m", 2, "x"),
        happened(2, attempts.STARTED, one),
        happened(4, attempts.STARTED, other),
    )
    found = [note.type for note in score.compose(Tape(HEADER, lines, Outcome(3, "limit"))).notes]
    assert found == ["begin", "asked", "begin", "replied", "refused", "said", "call", "asked"]


def test_who_reached_a_limit_is_refused_when_that_is_told_though_others_spoke_meanwhile() -> None:
    made = Ids()
    one, other, words, notice = made.new("at"), made.new("at"), made.new("ms"), made.new("ms")
    lines = (
        Begin(one, "a", 1, ()),
        Begin(other, "b", 1, ()),
        Refused(one, "t2/m", "x", "budget", "stopped", Reached("budget"), 4),
        Said(6, notice, "system", "system", "reached", (), None, "system", 6, limit=Limit("budget")),
        Refused(other, "t1/m", "x", "budget", "stopped", Reached("budget"), 6),
        Said(5, words, "ann", "message", "hello", (), None, "ann", 2),
        happened(2, attempts.STARTED, one),
        happened(4, attempts.STARTED, other),
    )
    found = score.compose(Tape(HEADER, lines, Outcome(3, "limit"))).notes
    assert [getattr(note, "id", note.type) for note in found] == ["begin", "begin", words, "refused", notice, "refused"]


def test_a_call_is_played_behind_the_answer_that_wanted_it() -> None:
    made = Ids()
    one, operation = made.new("at"), made.new("op")
    lines = (
        Begin(one, "a", 1, ()),
        Replied(one, "t1/m", 1, "", (), "tools", Usage(), 0.0, 7),
        replace(call(one, "look", operation), path="t1/c1"),
        happened(2, attempts.STARTED, one),
    )
    assert names(Tape(HEADER, lines, Outcome(0, "done"))) == ["begin", "replied", "look"]


def test_what_moot_did_at_once_is_played_in_its_order() -> None:
    """One transaction has waited for the other: their events stand as close as those of one."""
    made = Ids()
    one, other, notice = made.new("at"), made.new("at"), made.new("ms")
    lines = (
        Begin(one, "a", 1, ()),
        Begin(other, "b", 1, ()),
        End(other, "ended", "error", "broken"),
        Refused(one, "t1/m", "x", "budget", "stopped", Reached("budget"), 2),
        Said(3, notice, "system", "system", "reached", (), None, "system", 3, limit=Limit("budget")),
        End(one, "ended", "budget"),
        happened(1, attempts.STARTED, one),
        happened(2, attempts.STARTED, other),
        happened(4, attempts.FAILED, one),
        happened(5, attempts.FAILED, other),
    )
    found = score.compose(Tape(HEADER, lines, Outcome(3, "limit"))).notes
    wanted = [(one, "begin"), (other, "begin"), (one, "refused"), (None, "said"), (one, "end"), (other, "end")]
    assert [(note.attempt, note.type) for note in found if not isinstance(note, Happened | Read | Moved)] == wanted


def test_mail_is_handed_out_before_the_first_letter_that_was_not_seen_then() -> None:
    """Who hands it out at once with others gets a number behind letters that it could not see."""
    made = Ids()
    attempt, seen, unseen = made.new("at"), made.new("ms"), made.new("ms")
    letters = {id: Letter(id, "b", "message", "hello") for id in (seen, unseen)}
    told = [Said(at, id, "human", "message", "hello", ("a",), None) for at, id in ((2, seen), (3, unseen))]

    def played(first: str, second: Begin | Call) -> list[str]:
        lines = (
            Begin(attempt, "a", 1, (letters[first],)),
            happened(4, attempts.STARTED, attempt),
            *told,
            second,
            happened(6, attempts.STARTED, getattr(second, "attempt", "") or ""),
        )
        return names(Tape(HEADER, lines, None))

    after = Begin(made.new("at"), "a", 1, (letters[unseen],))
    assert played(seen, after) == ["said", "begin", "said", "begin"]
    assert played(unseen, after) == ["said", "said", "begin", "begin"]


def test_the_inbox_is_looked_into_before_the_first_letter_that_it_does_not_show() -> None:
    made = Ids()
    attempt, seen, unseen, check = made.new("at"), made.new("ms"), made.new("ms"), made.new("op")
    lines = (
        Begin(attempt, "a", 1, ()),
        happened(1, attempts.STARTED, attempt),
        Said(2, seen, "human", "message", "hello", ("a",), None),
        Said(3, unseen, "human", "message", "hello", ("a",), None),
        replace(call(attempt, "inbox_check", check), text=f'[{{"id": "{seen}"}}]'),
    )
    assert names(Tape(HEADER, lines, None)) == ["begin", "said", "inbox_check", "said"]


def test_mail_that_was_too_much_for_one_attempt_is_handed_out_when_the_agent_is_free() -> None:
    made = Ids()
    one, other, first, second = made.new("at"), made.new("at"), made.new("ms"), made.new("ms")
    lines = (
        Begin(one, "a", 1, ()),
        happened(1, attempts.STARTED, one),
        Said(2, first, "human", "message", "hello", ("a",), None),
        Said(3, second, "human", "message", "hello", ("a",), None),
        End(one, "ended"),
        happened(4, attempts.SUCCEEDED, one),
        Begin(other, "a", 1, (Letter(first, "human", "message", "hello"),)),
        happened(5, attempts.STARTED, other),
    )
    assert names(Tape(HEADER, lines, None)) == ["begin", "said", "said", "end", "begin"]


def moved(id: str, seq: int, *events: int, flow: str = "wf", came: tuple[Submitted, ...] = ()) -> Moved:
    cue = "came" if came else "onward"
    return Moved(flow, id, seq, events, cue, 0, "", (id,), (), "in_progress", came=came)


def order(*lines: Line) -> list[str]:
    """What is played, by tool, by body, or by commit."""
    notes = score.compose(Tape(HEADER, lines, Outcome(0, "done"))).notes
    return [
        note.tool
        if isinstance(note, Call)
        else note.id
        if isinstance(note, Moved)
        else getattr(note, "body", note.type)
        for note in notes
    ]


def said(seq: int, id: str, body: str, at: int, sender: str = "system") -> Said:
    return Said(seq, id, sender, "message", body, (), None, sender, at)


def test_commits_of_a_flow_are_played_behind_what_came_before_them_and_before_what_they_say() -> None:
    made = Ids()
    first, second, third = (made.new("mv") for _ in range(3))
    lines = (
        moved(third, 6),
        moved(second, 5, 6),
        moved(first, 5),
        said(5, made.new("ms"), "before", 50, "ann"),
        said(6, made.new("ms"), "by the flow", 60),
    )
    assert order(*lines) == ["before", first, second, "by the flow", third]


def test_a_call_that_has_brought_about_nothing_is_played_between_the_commits_that_it_came_between() -> None:
    made = Ids()
    first, call_one, second, call_two = made.new("mv"), made.new("op"), made.new("mv"), made.new("op")
    lines = (
        moved(first, 5),
        moved(second, 5),
        Call(None, "ann", "member", "two", {}, False, "", {}, False, call_two),
        Call(None, "ann", "member", "one", {}, False, "", {}, False, call_one),
    )
    assert order(*lines) == [first, "one", second, "two"]


def test_no_flow_goes_on_with_what_a_call_had_for_it_before_that_call() -> None:
    """On PostgreSQL a letter that is older than the call may have got its number behind the commit of the flow."""
    made = Ids()
    letter, operation, took_in = made.new("ms"), made.new("op"), made.new("mv")
    lines = (
        moved(took_in, 14, came=(Submitted("update", 0),)),
        Call(None, "ann", "member", "update", {}, False, "", {}, False, operation),
        said(15, letter, "late", 150, "ann"),
    )
    assert order(*lines) == ["update", took_in, "late"]


def test_what_a_flow_says_is_no_part_of_the_transaction_that_ended_right_before_it() -> None:
    made = Ids()
    attempt, answer, commit, word = made.new("at"), made.new("ms"), made.new("mv"), made.new("ms")
    lines = (
        Begin(attempt, "a", 1, ()),
        End(attempt, "ended", text="done"),
        happened(1, attempts.STARTED, attempt),
        moved(commit, 1, 2),
        said(2, word, "by the flow", 20),
        Said(3, answer, "a", "message", "done", (), attempt, "system", 21),
        Happened(4, attempts.SUCCEEDED, attempt, "system", 22),
    )
    assert order(*lines) == ["begin", commit, "by the flow", "end"]


def test_what_a_flow_has_done_when_the_run_was_over_is_not_played() -> None:
    made = Ids()
    first, late = made.new("mv"), made.new("mv")
    ended = Happened(5, runs.ENDED, "wf", "system", 50, {"state": "interrupted", "reason": "interrupted"})
    assert order(moved(first, 4), ended, moved(late, 5)) == [first]
