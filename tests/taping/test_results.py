"""Documents and votes are compared as they stand at the end of a run, whatever was done on the way."""

from typing import Any

import pytest

from moot.documents import documents
from moot.proposals import votes
from moot.taping.replaying import results
from moot.taping.tape import Happened

NOTES = "notes.md"
ID = "ms_01m7jhxskw467cb63ay9"
OTHER_ID = "ms_01m7jhxsm41qjqd3kpy2"


def happened(*facts: tuple[str, str, dict[str, Any]]) -> list[Happened]:
    return [Happened(seq, kind, subject, "ann", seq, told) for seq, (kind, subject, told) in enumerate(facts)]


def changed(action: str, content: str = "", *, version: int = 2, file: str = NOTES) -> tuple[str, str, dict[str, Any]]:
    return documents.CHANGED, file, {"action": action, "content": content, "version": version}


def cast(by: str, choice: str, *, id: str = "prop-001", title: str = "Ship?") -> tuple[str, str, dict[str, Any]]:
    return votes.CAST, id, {"by": by, "choice": choice, "reason": "", "title": title}


def closed(status: str, winner: str | None, *, id: str = "prop-001") -> tuple[str, str, dict[str, Any]]:
    return votes.CLOSED, id, {"title": "Ship?", "status": status, "winner": winner, "reason": "", "by": "votes"}


def compared(old: list[Happened], new: list[Happened]) -> list[str]:
    return list(results.compare(old, new, lambda text: text.replace("again", "first")))


WHOLE = changed("created", "one\n", version=1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ([WHOLE, changed("appended", "two\n")], [changed("written", "one\ntwo\n")], []),
        ([WHOLE], [changed("written", "on\n")], ["the document notes.md differs: 'on' instead of 'one'"]),
        ([WHOLE], [], ["the document notes.md was changed, and is not now"]),
        ([], [WHOLE], ["the document notes.md is changed, which the recording does not have"]),
        ([WHOLE, changed("deleted")], [WHOLE], ["the document notes.md was deleted in the recording"]),
        ([WHOLE], [WHOLE, changed("deleted")], ["the document notes.md is deleted now"]),
        ([changed("deleted")], [changed("deleted")], []),
        ([changed("created", version=1)], [], []),
        ([changed("deleted"), WHOLE], [WHOLE], []),
        # What stood there before the run is not on the tape.
        ([changed("appended", "two\n")], [WHOLE, changed("appended", "two\n")], []),
        ([changed("appended", "two\n")], [WHOLE], ["the document notes.md differs: 'one' instead of 'two'"]),
        ([changed("written", f"of {ID} in first")], [changed("written", f"of {OTHER_ID} in again")], []),
        ([changed("written", "x", file="of-first.md")], [changed("written", "x", file="of-again.md")], []),
    ],
)
def test_documents_that_differ_are_told(old: list[Any], new: list[Any], told: list[str]) -> None:
    assert compared(happened(*old), happened(*new)) == told


ENDED = closed("resolved", "yes")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            [cast("ann", "yes"), ENDED],
            [cast("ann", "yes", id="prop-007"), closed("resolved", "yes", id="prop-007")],
            [],
        ),
        (
            [cast("ann", "yes"), cast("ben", "no"), closed("expired", None)],
            [cast("ann", "yes"), cast("ben", "yes"), ENDED],
            ["the vote on 'Ship?' differs: ann: yes, ben: yes, resolved yes instead of ann: yes, ben: no, expired"],
        ),
        (
            [cast("ann", "yes"), closed("expired", None)],
            [cast("ann", "yes")],
            ["the vote on 'Ship?' differs: ann: yes, open instead of ann: yes, expired"],
        ),
        ([cast("ann", "yes")], [], ["the vote on 'Ship?' differs: nobody voted instead of ann: yes, open"]),
        # Of two that are called the same each is compared with its own.
        (
            [cast("ann", "yes", id="prop-1000"), cast("ann", "no", id="prop-999")],
            [cast("ann", "no", id="prop-001"), cast("ann", "yes", id="prop-002")],
            [],
        ),
    ],
)
def test_votes_that_differ_are_told(old: list[Any], new: list[Any], told: list[str]) -> None:
    assert compared(happened(*old), happened(*new)) == told
