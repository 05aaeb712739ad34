"""Files appear whole or not at all."""

import os
import stat
import threading
from pathlib import Path

import pytest

from moot.views import files
from moot.views.files import FileRefused


def test_a_file_is_replaced_whole_and_private(tmp_path: Path) -> None:
    file = tmp_path / "new" / "view.md"
    files.replace(file, "öne\n")
    files.replace(file, "two\n")
    assert file.read_bytes() == b"two\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "view.md"
    files.replace(file, "before")

    def fail() -> None:
        with files.replacing(file) as handle:
            handle.write("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_reader_of_the_old_file_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / "view.md"
    files.replace(file, "before")
    with file.open() as reader:
        files.replace(file, "after")
        assert reader.read() == "before"


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    files.replace(pipe, "through")
    reader.join(20)
    assert read == ["through"]
    assert pipe.is_fifo()


def test_a_folder_cannot_be_replaced(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="cannot be written"):
        files.replace(tmp_path, "x")


def test_a_place_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileRefused):
        files.replace(tmp_path / "file" / "view.md", "x")
