"""A project's file is changed while it is needed, and put back whatever happens."""

import base64
import errno
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
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


def names(file: Path) -> list[str]:
    return sorted(one.name for one in file.parent.iterdir())


def records() -> Path:
    return Path.home() / ".moot" / "lent"


def test_nobody_else_can_read_what_only_the_user_could(file: Path) -> None:
    written(file, b"Bearer canary").chmod(0o600)
    with project_file.lent(file, ours):
        holders = [one for folder in (file.parent, records()) for one in folder.iterdir()]
        assert (len(holders), records().stat().st_mode & 0o777) == (3, 0o700)
        assert {one.stat().st_mode & 0o777 for one in holders} == {0o600}
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_link_is_one_again_and_what_it_leads_to_is_not_touched(file: Path, tmp_path: Path) -> None:
    target = written(tmp_path / "elsewhere" / "mcp.json", b"theirs")
    file.parent.mkdir(parents=True)
    file.symlink_to("../../elsewhere/mcp.json")
    with project_file.lent(file, ours):
        assert file.read_bytes() == b"theirs+ours"
        assert target.read_bytes() == b"theirs"
    assert os.readlink(file) == "../../elsewhere/mcp.json"
    assert (target.read_bytes(), names(target), names(file)) == (b"theirs", ["mcp.json"], ["mcp.json"])


def test_a_link_that_leads_nowhere_stays(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.symlink_to("gone")
    with project_file.lent(file, ours):
        assert file.read_bytes() == b"+ours"
    assert (os.readlink(file), names(file)) == ("gone", ["mcp.json"])


def test_a_folder_that_is_a_link_stays_and_leads_to_the_same(file: Path) -> None:
    elsewhere = file.parent.with_name("elsewhere")
    elsewhere.mkdir(parents=True)
    file.parent.symlink_to(elsewhere)
    with project_file.lent(file, ours), project_file.lent(elsewhere / "mcp.json", ours):
        assert file.read_bytes() == b"+ours"
    assert (file.parent.is_symlink(), list(file.parent.iterdir())) == (True, [])


def test_a_folder_that_leads_out_of_the_project_is_refused(file: Path, tmp_path: Path) -> None:
    theirs = written(tmp_path / "elsewhere" / "mcp.json", b"theirs")
    file.parent.parent.mkdir()
    file.parent.symlink_to(theirs.parent)
    with pytest.raises(CannotLaunch, match="leads out of the project"), project_file.lent(file, ours):
        pass
    assert (theirs.read_bytes(), names(theirs)) == (b"theirs", ["mcp.json"])


def adding(before: bytes | None) -> bytes:
    """As Cursor's files are changed: one more server, and one more rule."""
    found = json.loads(before or b"{}")
    servers, allowed = found.get("servers", {}), found.get("allow", [])
    return json.dumps({**found, "servers": {**servers, "moot": {"url": "u"}}, "allow": [*allowed, "moot"]}).encode()


@pytest.mark.parametrize("is_link", [False, True])
def test_of_what_somebody_edits_meanwhile_only_ours_is_taken_out(file: Path, *, is_link: bool) -> None:
    before = {"servers": {"a": 1, "b": 2}, "allow": ["x"], "kept": [1]}
    target = written(file.with_name("target.json") if is_link else file, json.dumps(before).encode())
    target.chmod(0o640)
    if is_link:
        file.symlink_to(target.name)
    with project_file.lent(file, adding):
        found = json.loads(file.read_bytes())
        del found["servers"]["a"]
        found["servers"] |= {"b": 3, "mine": 4}
        found["allow"].append("y")
        file.write_text(json.dumps(found))
    after = {"servers": {"b": 3, "mine": 4}, "allow": ["x", "y"], "kept": [1]}
    assert json.loads(file.read_bytes()) == json.loads(target.read_bytes()) == after
    assert (file.is_symlink(), target.stat().st_mode & 0o777) == (is_link, 0o640)
    assert names(file) == sorted({"mcp.json", target.name})


def test_a_file_that_somebody_fills_while_it_is_ours_stays_without_ours(file: Path) -> None:
    with project_file.lent(file, adding):
        found = json.loads(file.read_bytes())
        found["servers"]["mine"] = 1
        file.write_text(json.dumps(found))
    assert (json.loads(file.read_bytes()), names(file)) == ({"servers": {"mine": 1}}, ["mcp.json"])
    file.unlink()
    with project_file.lent(file, adding):
        file.write_text(json.dumps(json.loads(file.read_bytes()), indent=8))
    assert not file.parent.exists()


def test_what_is_edited_meanwhile_is_not_written_through_a_link_out_of_the_project(file: Path, tmp_path: Path) -> None:
    target = written(tmp_path / "elsewhere" / "settings.json", b'{"theirs": 1}')
    file.parent.mkdir(parents=True)
    file.symlink_to(target)
    with project_file.lent(file, adding):
        file.write_text(json.dumps(json.loads(file.read_bytes()) | {"hooks": 2}))
    assert target.read_bytes() == b'{"theirs": 1}'
    assert (file.is_symlink(), json.loads(file.read_bytes())) == (False, {"theirs": 1, "hooks": 2})


def test_a_file_that_became_a_link_meanwhile_is_not_read(file: Path, tmp_path: Path) -> None:
    secret = written(tmp_path / "elsewhere" / "key", b"canary")
    written(file, b"{}")
    with project_file.lent(file, adding):
        file.unlink()
        file.symlink_to(secret)
    assert (file.is_symlink(), file.read_bytes(), secret.read_bytes()) == (False, b"{}", b"canary")


def test_a_pipe_is_refused_and_not_waited_for(file: Path) -> None:
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    with pytest.raises(CannotLaunch, match="it is no file"), project_file.lent(file, ours):
        pass
    assert names(file) == ["mcp.json"]


def a_record(content: bytes, *, is_new: bool) -> bytes:
    """As moot would write it, of an owner that is gone."""
    kept = base64.b64encode(content).decode()
    return json.dumps({"owner": "1:nobody", "content": kept, "is_new": is_new}).encode()


def test_what_a_repository_says_of_loans_is_not_believed(file: Path, tmp_path: Path) -> None:
    theirs = written(tmp_path / "home" / ".bashrc", b"theirs")
    written(file, b"evil")
    file.with_name("mcp.json.moot-backup").symlink_to(theirs)
    written(file.with_name("mcp.json.moot-lent"), a_record(b"other", is_new=False))
    written(file.with_name("cli.json"), b"precious")
    written(file.with_name("cli.json.moot-lent"), a_record(b"precious", is_new=True))
    os.mkfifo(file.with_name("x.moot-lent"))
    before = names(file)
    project_file.recover(file.parent)
    with pytest.raises(CannotLaunch, match="in the way"), project_file.lent(file, ours):
        pass
    assert (theirs.read_bytes(), names(file)) == (b"theirs", before)
    assert (file.read_bytes(), file.with_name("cli.json").read_bytes()) == (b"evil", b"precious")


@pytest.mark.parametrize("owner", ["1.1.nobody", 7])
def test_a_record_of_nobody_is_none(file: Path, owner: object) -> None:
    written(file, b"theirs")
    with project_file.lent(file, ours):
        (record,) = records().iterdir()
    written(record, json.dumps({"owner": owner, "content": "", "is_new": True}).encode())
    project_file.recover(file.parent)
    assert (file.read_bytes(), list(records().iterdir())) == (b"theirs", [])


@contextmanager
def no_file_longer_than(size: int) -> Generator[None]:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("size", [4, 40], ids=["its content", "its record"])
@pytest.mark.parametrize("content", [b"theirs", None])
def test_what_cannot_be_written_is_undone_and_told(file: Path, content: bytes | None, size: int) -> None:
    file.parent.parent.mkdir()
    if content is not None:
        written(file, content)
    refused = pytest.raises(CannotLaunch, match=r"mcp\.json cannot be changed: .*\. See that")
    with no_file_longer_than(size), refused as caught, project_file.lent(file, ours):
        pass
    assert caught.value.failure == "error"
    assert (names(file) if file.parent.exists() else None) == (None if content is None else ["mcp.json"])
    with project_file.lent(file, ours):
        assert file.read_bytes() == (content or b"") + b"+ours"


def test_a_backup_that_nobody_has_noted_is_not_written_over(file: Path) -> None:
    written(file, b"theirs")
    stray = written(file.with_name("mcp.json.moot-backup"), b"precious")
    with pytest.raises(CannotLaunch, match=r"moot-backup is in the way"), project_file.lent(file, ours):
        pass
    assert (stray.read_bytes(), file.read_bytes()) == (b"precious", b"theirs")
    assert names(file) == ["mcp.json", "mcp.json.moot-backup"]


def test_a_full_disk_is_told_with_its_remedy(file: Path) -> None:
    def full(_: bytes | None) -> bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(CannotLaunch, match=r"No space left on device\. Make room"), project_file.lent(file, full):
        pass


def test_what_could_not_be_put_back_is_so_at_the_next_use(file: Path) -> None:
    written(file, b"theirs")
    with project_file.lent(file, ours):
        file.unlink()
        (file / "in the way").mkdir(parents=True)
    (file / "in the way").rmdir()
    file.rmdir()
    with project_file.lent(file, ours):
        assert file.read_bytes() == b"theirs+ours"
    assert (file.read_bytes(), names(file)) == (b"theirs", ["mcp.json"])


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


def test_what_is_edited_after_a_kill_is_kept(file: Path) -> None:
    written(file, b'{"servers": {"a": 1}}')
    killed = KILLED.replace('(before or b"") + b"+killed"', """b'{"servers": {"a": 1, "moot": 2}}'""")
    with subprocess.Popen(
        [sys.executable, "-c", killed, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.kill(process.pid, signal.SIGKILL)
    assert json.loads(file.read_bytes()) == {"servers": {"a": 1, "moot": 2}}
    file.write_text('{"servers": {"a": 1, "moot": 2, "mine": 3}}')
    project_file.recover(file.parent)
    assert json.loads(file.read_bytes()) == {"servers": {"a": 1, "mine": 3}}
    assert names(file) == ["mcp.json"]


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
