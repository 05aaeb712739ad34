"""What an attempt lets be known goes onto the tape, and a recording that fails is no failure of the run."""

import errno
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import pytest

from moot.backends.backend import Assignment, Called, Ended, Progress, Wrote
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.runner import tape, tape_file
from moot.runner.recording import Recorder
from moot.runner.tape_file import Writer
from moot.workflow.workflow import Workflow
from tests.backends.test_scripted import assignment

CANARY = "canary-0123456789"


class Talker:
    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        yield Wrote(f"key: {CANARY[:8]}")
        yield Wrote(f"{CANARY[8:]}!")
        yield Called("Bash")
        yield Wrote("and on")
        yield Called("Bash", is_error=True)
        yield Ended(text="done")


async def play(recorder: Recorder) -> list[Progress]:
    backend = recorder.backends({"talker": Talker()})["talker"]
    return [one async for one in backend.run(assignment([], "hi"))]


async def test_a_secret_that_comes_in_pieces_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", CANARY)
    recorder = Recorder(tmp_path / "tape", InstanceName("default"), Workflow("w", "w.yaml", ()))
    assert Ended(text="done") in await play(recorder)
    recorder.close()
    lines = [line for line in tape_file.read(tmp_path / "tape").lines if isinstance(line, tape.Progress)]
    assert [(one.kind, one.text) for one in lines] == [
        ("wrote", "key: [hidden]!"),
        ("called", "Bash"),
        ("wrote", "and on"),
        ("called", "Bash"),
    ]


async def test_a_full_disk_cuts_the_tape_and_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(tmp_path / "tape", InstanceName("default"), Workflow("w", "w.yaml", ()))

    def full(self: Writer, line: Mapping[str, Json]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Writer, "write", full)
    assert len(await play(recorder)) == 6
    found = tape_file.read(tmp_path / "tape")
    assert (found.lines, found.outcome) == ((), None)
