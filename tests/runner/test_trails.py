"""What an agent does on its way is noted in lines, without secrets, and nobody fails because it cannot be."""

import json
from pathlib import Path

import pytest

from moot.backends.backend import Called, Ended, Usage, Warned, Wrote
from moot.core.ids import AttemptId
from moot.runner import trails
from moot.runner.trails import Trail

TOKEN = "mt_canary_of_this_attempt"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return trails.file_of(tmp_path, "default", "Coder")


def opened(file: Path) -> Trail:
    trail = Trail(file, AttemptId("at_1"), (TOKEN,))
    trail.begin("attempt 1")
    return trail


def noted(file: Path) -> list[tuple[str, str]]:
    found = [json.loads(line) for line in file.read_text().splitlines()]
    assert {one["attempt"] for one in found} == {"at_1"}
    return [(one["kind"], one["text"]) for one in found]


def test_pieces_of_text_become_lines_and_everything_is_in_its_order(file: Path) -> None:
    trail = opened(file)
    for one in (Wrote("I lo"), Wrote("ok.\nThen"), Called("Bash"), Usage(1), Wrote("x"), Called("Edit", is_error=True)):
        trail.note(one)
    trail.note(Warned("slow"))
    trail.note(Ended("error", "no disk"))
    trail.close()
    assert noted(file) == [
        ("begin", "attempt 1"), ("text", "I look."), ("text", "Then"), ("tool", "Bash"), ("text", "x"),
        ("tool", "Edit failed"), ("warning", "slow"), ("end", "error: no disk"),
    ]  # fmt: skip


def test_what_was_begun_is_there_when_an_attempt_is_cut_off(file: Path) -> None:
    trail = opened(file)
    trail.note(Wrote("half a li"))
    trail.close()
    assert noted(file)[-1] == ("text", "half a li")


def test_no_secret_is_written_and_only_the_owner_can_read_it(file: Path) -> None:
    trail = opened(file)
    trail.note(Wrote(f"{TOKEN} and sk-ant-canary-1234567890\n"))
    trail.close()
    assert "canary" not in file.read_text()
    assert file.stat().st_mode & 0o77 == 0


def test_where_it_cannot_be_written_the_work_goes_on_and_it_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "moot.raw").write_text("in the way")
    trail = opened(trails.file_of(tmp_path, "default", "coder"))
    trail.note(Wrote("a\nb\n"))
    trail.close()
    assert [record.message[:35] for record in caplog.records] == ["what coder does is not written down"]


def test_a_long_file_makes_room_and_is_kept_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trails, "_MOST", 200)
    for number in range(3):
        trail = opened(file)
        trail.note(Wrote(f"{number}" * 200 + "\n"))
        trail.close()
    assert noted(file)[-1] == ("text", "2" * 200)
    assert noted(file.with_suffix(".old"))[-1] == ("text", "1" * 200)
    assert sorted(one.name for one in file.parent.iterdir()) == ["coder.jsonl", "coder.old"]
