"""Nothing of a secret is told of a command, wherever its output is cut."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from moot.backends.backend import Manner
from moot.backends.command import CommandBackend
from tests.backends.test_scripted import assignment

SECRET = "canary-0123456789-abcdefghijklmnopqrstuvwxyz-final"
PIECES = (SECRET[:8], SECRET[-8:], SECRET[20:28])


async def told(root: Path, line: str) -> str:
    """All that is said of a command which knows the secret."""
    (root / "at_1").mkdir()
    given = replace(assignment([], "hi"), workspace=root, folder=root / "at_1")
    manner = Manner(command=("/bin/sh", "-c", line), env=("MYTHING",))
    backend = CommandBackend(parent={"PATH": os.environ["PATH"], "MYTHING": SECRET})
    return repr([one async for one in backend.run(replace(given, manner=manner))])


@pytest.mark.parametrize("before", [99_952, 99_960, 99_992])
async def test_an_answer_that_is_cut_in_a_secret_holds_nothing_of_it(tmp_path: Path, before: int) -> None:
    head = f"head -c {before} /dev/zero | tr '\\0' x; printf %s \"$MYTHING\"; "
    shown = await told(tmp_path, head + "head -c 150000 /dev/zero | tr '\\0' y")
    assert "bytes cut" in shown
    assert not [piece for piece in PIECES if piece in shown]


async def test_a_line_that_is_cut_in_a_secret_holds_nothing_of_it(tmp_path: Path) -> None:
    shown = await told(tmp_path, "head -c 199960 /dev/zero | tr '\\0' x; printf %s \"$MYTHING\"; echo yyyy")
    assert "bytes cut" in shown
    assert not [piece for piece in PIECES if piece in shown]


async def test_an_error_that_begins_in_a_secret_holds_nothing_of_it(tmp_path: Path) -> None:
    line = 'printf %s "$MYTHING" >&2; head -c 1460 /dev/zero | tr "\\0" x >&2; exit 1'
    shown = await told(tmp_path, line)
    assert "xxxx" in shown
    assert not [piece for piece in PIECES if piece in shown]


async def test_a_secret_is_not_told_in_base64_either(tmp_path: Path) -> None:
    assert "[hidden]" in await told(tmp_path, 'printf %s "$MYTHING" | base64 | tr -d "\\n"')
