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
    for one in (
        Wrote("I lo"),
        Wrote("ok.\nThen"),
        Called("Bash"),
        Usage(1),
        Wrote("x"),
        Called("Edit", is_error=True, why="No x.\nLook."),
    ):
        trail.note(one)
    trail.note(Warned("slow"))
    trail.note(Ended("error", "no disk"))
    trail.close()
    assert noted(file) == [
        ("begin", "attempt 1"), ("text", "I look."), ("text", "Then"), ("tool", "Bash"), ("text", "x"),
        ("tool", "Edit failed: No x."), ("warning", "slow"), ("end", "error: no disk"),
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


def test_an_attempt_that_says_too_much_is_cut_off_with_a_word_and_its_end_follows(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trails, "_MOST_OF_ATTEMPT", 1000)
    heard: list[str] = []
    trail = Trail(file, AttemptId("at_1"), (TOKEN,), lambda kind, _: heard.append(kind))
    trail.begin("attempt 1")
    for _ in range(100):
        trail.note(Wrote("y\n" * 100))
        trail.note(Called("Bash"))
    trail.note(Ended())
    trail.close()
    kinds = [kind for kind, _ in noted(file)]
    assert kinds == ["begin", *(["text"] * (len(kinds) - 3)), "warning", "end"]
    assert noted(file)[-2] == ("warning", "it goes on, but no more of it is written down")
    assert heard == kinds
    assert 1000 < file.stat().st_size < 1500


def test_a_secret_that_came_in_pieces_or_over_lines_is_not_written(file: Path) -> None:
    trail = Trail(file, AttemptId("at_1"), ("canary-of-two\nlines-of-a-canary",))
    trail.begin("attempt 1")
    for piece in ("so canary-of", "-two\nlines-of-a-canary so\n"):
        trail.note(Wrote(piece))
    trail.close()
    assert noted(file)[1:] == [("text", "so [hidden] so")]
