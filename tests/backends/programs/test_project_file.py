"""A project's file is changed while it is needed, and put back whatever happens."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from moot.backends.programs import project_file
from moot.backends.programs.launch import CannotLaunch
from tests.backends.programs.cast import CURSOR, cast
from tests.backends.programs.stage import Stage, play


def ours(before: bytes | None) -> bytes:
    return (before or b"") + b"+ours"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".cursor" / "mcp.json"


def written(file: Path, content: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def test_what_was_there_is_put_back(file: Path) -> None:
    written(file, b"theirs").chmod(0o640)
    with project_file.lent(file, ours):
        assert file.read_bytes() == b"theirs+ours"
    assert file.read_bytes() == b"theirs"
    assert file.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in file.parent.iterdir()] == ["mcp.json"]


def test_where_nothing_was_nothing_is_left(file: Path) -> None:
    file.parent.parent.mkdir()
    with project_file.lent(file, ours):
        assert file.read_bytes() == b"+ours"
    assert list(file.parent.parent.iterdir()) == []


def test_it_is_put_back_when_something_goes_wrong(file: Path) -> None:
    written(file, b"theirs")
    with pytest.raises(ZeroDivisionError), project_file.lent(file, ours):
        raise ZeroDivisionError
    assert file.read_bytes() == b"theirs"


def test_agents_of_one_host_share_it_and_the_last_puts_it_back(file: Path) -> None:
    written(file, b"theirs")
    with project_file.lent(file, ours):
        with project_file.lent(file, ours):
            pass
        assert file.read_bytes() == b"theirs+ours"
        with pytest.raises(CannotLaunch), project_file.lent(file, lambda _: b"other"):
            pass
    assert file.read_bytes() == b"theirs"


def test_what_somebody_changes_meanwhile_stays(file: Path) -> None:
    written(file, b"theirs")
    with project_file.lent(file, ours):
        file.write_bytes(b"edited")
    assert file.read_bytes() == b"edited"
    assert [one.name for one in file.parent.iterdir()] == ["mcp.json"]


KILLED = """
import os, signal, sys
from pathlib import Path
from moot.backends.programs import project_file
with project_file.lent(Path(sys.argv[1]), lambda before: (before or b"") + b"+killed"):
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("content", [b"theirs", None])
def test_after_a_kill_it_is_put_back_at_the_next_start(file: Path, content: bytes | None) -> None:
    file.parent.mkdir(parents=True)
    if content is not None:
        written(file, content)
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with pytest.raises(CannotLaunch, match="Another moot"), project_file.lent(file, ours):
            pass
        project_file.recover(file.parent)  # its owner lives: nothing happens
        assert file.read_bytes() == (content or b"") + b"+killed"
        os.kill(process.pid, signal.SIGKILL)
    project_file.recover(file.parent)
    assert (file.read_bytes() if file.exists() else None) == content
    project_file.recover(file.parent)


async def test_cursor_finds_our_server_beside_those_of_the_user(place: Stage) -> None:
    servers = {"mcpServers": {"theirs": {"url": "http://127.0.0.1:1"}}, "other": 1}
    file = written(place.root / "workspace" / ".cursor" / "mcp.json", json.dumps(servers).encode())
    role = cast(CURSOR, place.root, [*CURSOR.opening, *CURSOR.ending("done")])
    given = await place.assignment(manner=role.manner())
    _, ended = await play(role.backend, given)
    assert ended.failure is None, ended.error
    seen = role.seen()["files"]
    found = json.loads(seen[".cursor/mcp.json"])
    assert found["mcpServers"]["theirs"] == servers["mcpServers"]["theirs"]  # pyright: ignore[reportIndexIssue]
    assert found["mcpServers"]["moot"] == {
        "url": given.access.url,
        "headers": {"Authorization": "Bearer ${env:MOOT_TOKEN}"},
    }
    assert json.loads(seen[".cursor/cli.json"])["permissions"]["allow"] == ["Mcp(moot:*)"]
    assert json.loads(file.read_bytes()) == servers
    assert [one.name for one in file.parent.iterdir()] == ["mcp.json"]
    assert role.seen()["argv"] == ["--print", "--output-format", "stream-json", "--approve-mcps", "--trust", "--force"]
