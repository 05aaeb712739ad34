"""What an attempt lets be known goes onto the tape, and a recording that fails is no failure of the run."""

import errno
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import pytest

from moot.backends.backend import Assignment, Called, Ended, Progress, Usage, Warned, Wrote
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.taping import tape, tape_file
from moot.taping.recording.recorder import Recorder
from moot.taping.recording.speech import MOST, Speech
from moot.taping.tape_file import Writer
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


class Babbler:
    """Writes in small pieces, and calls now and then, far more than is kept."""

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        for _ in range(20):
            for _ in range(100):
                yield Wrote("y" * 3000)
            yield Called("Bash")
        yield Usage(turns=1)
        yield Warned("mind the gap")
        yield Ended(text="done")


def written(file: Path) -> list[tape.Progress]:
    return [line for line in tape_file.read(file).lines if isinstance(line, tape.Progress)]


async def play(recorder: Recorder) -> list[Progress]:
    backend = recorder.backends({"talker": Talker()})["talker"]
    return [one async for one in backend.run(assignment([], "hi"))]


async def test_a_secret_that_comes_in_pieces_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", CANARY)
    recorder = Recorder(Writer(tmp_path / "tape"), InstanceName("default"), Workflow("w", "w.yaml", ()), {})
    assert Ended(text="done") in await play(recorder)
    recorder.close()
    assert [(one.kind, one.text) for one in written(tmp_path / "tape")] == [
        ("wrote", "key: [hidden]!"),
        ("called", "Bash"),
        ("wrote", "and on"),
        ("called", "Bash"),
    ]


async def test_of_an_agent_that_does_not_stop_writing_so_much_is_kept_and_that_is_said(tmp_path: Path) -> None:
    recorder = Recorder(Writer(tmp_path / "tape"), InstanceName("default"), Workflow("w", "w.yaml", ()), {})
    backend = recorder.backends({"babbler": Babbler()})["babbler"]
    heard = [one async for one in backend.run(assignment([], "hi"))]
    assert len(heard) == 2023  # the run itself has everything
    recorder.close()
    lines = written(tmp_path / "tape")
    size = sum(len(one.text) for one in lines if one.kind == "wrote")
    assert MOST - 20 * 110 < size <= MOST
    assert [one.kind for one in lines[-3:]] == ["used", "warned", "cut"]
    assert lines[-1].text.startswith("of what it wrote 5,000,000 characters are kept, and 1,00")
    assert (tmp_path / "tape").stat().st_size < MOST + 20_000


def test_pieces_cost_the_same_however_many_came_before_them() -> None:
    speech = Speech(most=10)
    speech.add("four")
    assert (speech.take(), speech.take(), speech.cut) == ("four", "", "")
    speech.add("seven more")
    assert not speech.has_room("Bash")
    assert speech.take() == "seven "
    assert speech.cut == "of what it wrote 10 characters are kept, and 108 are not"


async def test_a_tape_that_is_full_is_cut_and_the_run_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder(Writer(tmp_path / "tape", most=500), InstanceName("default"), Workflow("w", "w.yaml", ()), {})
    for _ in range(5):
        assert len(await play(recorder)) == 6
    found = tape_file.read(tmp_path / "tape")
    assert (found.outcome, bool(found.lines)) == (None, True)
    assert (tmp_path / "tape").stat().st_size <= 500
    assert caplog.messages == ["the run is not recorded any further: it has become too large"]


async def test_a_full_disk_cuts_the_tape_and_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(Writer(tmp_path / "tape"), InstanceName("default"), Workflow("w", "w.yaml", ()), {})

    def full(self: Writer, line: Mapping[str, Json]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Writer, "write", full)
    assert len(await play(recorder)) == 6
    found = tape_file.read(tmp_path / "tape")
    assert (found.lines, found.outcome) == ((), None)
