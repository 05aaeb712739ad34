"""A tape is whole up to the moment at which its process ended, and nothing else is taken for one."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from moot.registry import runs
from moot.taping import facts, tape, tape_file
from moot.taping.replaying import score
from moot.taping.tape import FORMAT, Happened, Header, Member, Outcome, Printed
from moot.taping.tape_file import TapeInvalid, Writer

MEMBER = Member("claude", True, "anthropic/x", "ask", None, {"system_prompt": "1234"})
HEADER = Header("0.1", "w", "default", ("ls",), {"a": MEMBER}, {"document": "notes.md"}, has_person=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tape.jsonl"


def write(file: Path, *lines: tape.Line) -> None:
    writer = Writer(file)
    for line in lines:
        writer.write(tape.plain(line))
    writer.close()


def test_what_was_written_is_read(file: Path) -> None:
    write(file, HEADER, Printed(0, "a\u2028b\n"), Outcome(0, "done"))
    found = tape_file.read(file)
    assert (found.header, found.lines, found.outcome) == (HEADER, (Printed(0, "a\u2028b\n"),), Outcome(0, "done"))
    assert file.stat().st_mode & 0o777 == 0o600


def test_every_line_is_in_the_file_before_the_next(file: Path) -> None:
    writer = Writer(file)
    writer.write(tape.plain(HEADER))
    assert tape_file.read(file).header == HEADER
    writer.close()


def test_a_tape_that_was_cut_is_read_up_to_its_last_whole_line(file: Path) -> None:
    write(file, HEADER, Printed(0, "x"), Outcome(0, "done"))
    whole = file.read_bytes()
    for length in range(len(whole.splitlines()[0]) + 1, len(whole)):
        file.write_bytes(whole[:length])
        found = tape_file.read(file)
        assert found.outcome is None
        assert len(found.lines) == whole[:length].count(b"\n") - 1


@pytest.mark.parametrize(
    ("content", "fact", "remedy"),
    [
        ("", "is no recording", "--record"),
        ("my notes\n", "is no recording", "--record"),
        ('{"type":"run"}\n', "is no recording", "--record"),
        (
            json.dumps({**tape.plain(HEADER), "format": FORMAT + 1, "new": 1}) + "\n",
            "newer moot",
            "Replay it with that",
        ),
        (json.dumps({**tape.plain(HEADER), "format": FORMAT - 1}) + "\n", "older moot", "Record it anew"),
        (json.dumps({"type": "recording", "format": "x"}) + "\n", "older moot", "Record it anew"),
        (json.dumps(tape.plain(HEADER)) + '\n{"type":"said"}\n', ":2 is no line of a recording", "--record"),
        (json.dumps(tape.plain(HEADER)) + "\nmy notes\n", ":2 is no line of a recording", "--record"),
        ((json.dumps(tape.plain(HEADER)) + "\n") * 2, "more than one recording", "a file of its own"),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_reason(file: Path, content: str, fact: str, remedy: str) -> None:
    file.write_text(content)
    with pytest.raises(TapeInvalid) as refused:
        tape_file.read(file)
    assert fact in refused.value.fact
    assert remedy in refused.value.remedy


COMPLETE: dict[str, dict[str, Any]] = {
    "vote_cast": {"by": "a", "choice": "x", "title": "T", "reason": ""},
    "proposal_closed": {"title": "T", "status": "cancelled", "winner": None, "reason": "", "by": None},
    "request_opened": {"to": "a", "kind": "question", "title": "T", "body": "", "options": [], "lasts": 3.5},
    "request_answered": {"title": "T", "requester": "a", "state": "approved", "answer": "", "by": None},
    "document_changed": {"action": "written", "version": 1, "content": "x"},
    "run_stop_asked": {"how": "now"},
    "run_paused": {"is_paused": True},
    "run_ended": {"state": "interrupted", "reason": ""},
    "agent_registered": {"name": "a", "runtime": "", "backend": "external", "role": "member", "label": ""},
    "agent_stopped": {"name": "a"},
    "agent_released": {"name": "a"},
}
NEEDLESS = {("proposal_closed", "by"), ("document_changed", "version")}


def act(kind: str, facts: Mapping[str, Any]) -> str:
    return json.dumps({**tape.plain(Happened(7, kind, "it", "human", 1)), "facts": facts})


@pytest.mark.parametrize("kind", COMPLETE)
def test_an_event_that_lacks_what_is_needed_to_play_it_is_refused_with_its_line(file: Path, kind: str) -> None:
    facts, header = COMPLETE[kind], json.dumps(tape.plain(HEADER))
    file.write_text(f"{header}\n{act(kind, facts)}\n")
    assert len(tape_file.read(file).lines) == 1
    for name in facts:
        if (kind, name) in NEEDLESS:
            continue
        for broken in ({key: value for key, value in facts.items() if key != name}, {**facts, name: {"x": 1}}):
            file.write_text(f"{header}\n{act(kind, broken)}\n")
            with pytest.raises(TapeInvalid, match=f":2 is damaged: `{name}` of {kind}") as refused:
                tape_file.read(file)
            assert "damaged" in refused.value.remedy


def test_every_act_that_is_played_has_its_facts_checked() -> None:
    assert {*score.ACTS, facts.JOINED, runs.ENDED} == set(COMPLETE)


def test_what_was_lost_is_a_price_by_path(file: Path) -> None:
    for broken in ({}, {"lost": {"t1/m": "much"}}, {"lost": {"t1/m": -1}}):
        file.write_text(f"{json.dumps(tape.plain(HEADER))}\n{act('attempt_failed', broken)}\n")
        with pytest.raises(TapeInvalid, match="damaged"):
            tape_file.read(file)


def test_a_document_that_was_deleted_has_no_text(file: Path) -> None:
    file.write_text(f"{json.dumps(tape.plain(HEADER))}\n{act('document_changed', {'action': 'deleted'})}\n")
    assert len(tape_file.read(file).lines) == 1


@pytest.mark.parametrize(
    "line",
    [
        {"type": "end", "attempt": "at_1", "how": "ended", "failure": "unheard of"},
        {"type": "end", "attempt": "at_1", "how": "ended", "usage": {"turns": "many"}},
        {"type": "progress", "attempt": "at_1", "kind": "used", "usage": {"cost": []}},
        {"type": "said", "seq": 1, "id": "", "sender": "a", "kind": "song", "body": "", "to": [], "attempt": None},
    ],
)
def test_values_that_cannot_be_are_refused_with_their_line(file: Path, line: Mapping[str, Any]) -> None:
    file.write_text(f"{json.dumps(tape.plain(HEADER))}\n{json.dumps(line)}\n")
    with pytest.raises(TapeInvalid, match=":2 is no line of a recording"):
        tape_file.read(file)


def test_only_recordings_are_written_over_and_only_if_that_is_meant(file: Path, tmp_path: Path) -> None:
    file.write_text("my notes\n")
    for is_over in (False, True):
        with pytest.raises(TapeInvalid, match="is no recording"):
            Writer(file, is_over=is_over)
    assert file.read_text() == "my notes\n"
    other = json.dumps({**tape.plain(HEADER), "format": FORMAT + 1}) + "\n"
    file.write_text(other)
    with pytest.raises(TapeInvalid, match="holds a recording") as refused:
        Writer(file)
    assert "--force" in refused.value.remedy
    assert file.read_text() == other
    Writer(file, is_over=True).close()
    assert file.read_text() == ""
    write(file, HEADER)  # nothing is lost with an empty file
    assert tape_file.read(file).header == HEADER
    file.unlink()
    write(file, HEADER)
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(TapeInvalid, match="cannot be written"):
        Writer(tmp_path / "link", is_over=True)
    with pytest.raises(TapeInvalid, match="cannot be written"):
        Writer(tmp_path)
    with pytest.raises(TapeInvalid, match="cannot be read"):
        tape_file.read(tmp_path / "nothing")
