"""Files are reached without following anything, whatever is put in their way and whenever."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.core import folder
from moot.core.folder import Folder, OutsideFolder

MOST = 1000


@pytest.fixture
def place(tmp_path: Path) -> Path:
    found = tmp_path / "above" / "default"
    found.mkdir(parents=True)
    return found


@pytest.fixture
def opened(place: Path) -> Iterator[Folder]:
    with folder.opened(place.parent, "default") as found:
        assert found is not None
        yield found


def test_what_is_written_is_read_back_whole_and_private(opened: Folder, place: Path) -> None:
    stamp = opened.write("a/b/c.md", "öne".encode(), None)
    assert opened.read("a/b/c.md", MOST) == ("öne".encode(), stamp)
    assert stat.S_IMODE((place / "a/b/c.md").stat().st_mode) == 0o600
    assert stat.S_IMODE((place / "a").stat().st_mode) == 0o700
    assert opened.files() == {"a/b/c.md": stamp}
    assert [one.name for one in (place / "a/b").iterdir()] == ["c.md"]


def test_only_what_was_expected_is_replaced(opened: Folder, place: Path) -> None:
    first = opened.write("a.md", b"one", None)
    assert opened.write("a.md", b"two", None) is None
    second = opened.write("a.md", b"two", first)
    assert second is not None
    assert opened.write("a.md", b"three", first) is None
    assert not opened.remove("a.md", first) if first else False
    assert (place / "a.md").read_bytes() == b"two"
    assert opened.remove("a.md", second)
    assert os.listdir(place) == []


def test_folders_that_are_empty_go_with_the_last_file(opened: Folder, place: Path) -> None:
    stamp, other = opened.write("a/b/c.md", b"x", None), opened.write("a/d.md", b"x", None)
    assert stamp is not None
    assert other is not None
    assert opened.remove("a/b/c.md", stamp)
    assert os.listdir(place / "a") == ["d.md"]
    assert opened.remove("a/d.md", other)
    assert os.listdir(place) == []


def test_a_file_is_moved_only_to_a_free_name(opened: Folder, place: Path) -> None:
    opened.write("a/x.md", b"x", None)
    opened.write("a/y.md", b"y", None)
    assert not opened.move("a/x.md", "a/y.md")
    assert opened.move("a/x.md", "a/z.md")
    assert sorted(os.listdir(place / "a")) == ["y.md", "z.md"]


def odd(kind: str, path: Path, secret: Path) -> None:
    match kind:
        case "link":
            path.symlink_to(secret)
        case "hard link":
            path.hardlink_to(secret)
        case "pipe":
            os.mkfifo(path)
        case "dangling link":
            path.symlink_to("nowhere")
        case _:
            path.write_bytes(b"x" * (MOST + 1))


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "dangling link", "large"])
def test_what_is_no_plain_file_is_not_read(opened: Folder, place: Path, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    odd(kind, place / "a.md", secret)
    with pytest.raises(OSError) as refused:  # noqa: PT011  # which one depends on the system
        opened.read("a.md", MOST)
    assert not isinstance(refused.value, FileNotFoundError)
    (stamp,) = opened.files().values()
    assert stamp.is_plain == (kind == "large")


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "dangling link"])
def test_writing_replaces_what_is_odd_and_not_what_it_leads_to(
    opened: Folder, place: Path, tmp_path: Path, kind: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    odd(kind, place / "a.md", secret)
    assert opened.write("a.md", b"ours", opened.files()["a.md"]) is not None
    assert secret.read_text() == "secret"
    assert (place / "a.md").read_bytes() == b"ours"
    assert not (place / "a.md").is_symlink()


def test_a_folder_that_is_a_link_is_not_entered(opened: Folder, place: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (place / "sub").symlink_to(outside)
    with pytest.raises(OSError, match=r"Not a directory|symbolic"):
        opened.read("sub/secret.md", MOST)
    with pytest.raises(OSError, match=r"Not a directory|symbolic"):
        opened.write("sub/new.md", b"x", None)
    assert list(opened.files()) == ["sub"]
    assert os.listdir(outside) == ["secret.md"]


def test_the_folder_itself_must_not_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "default").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match=r"Not a directory|symbolic"), folder.opened(tmp_path, "default", create=True):
        pass


def test_a_missing_folder_is_made_only_on_demand(tmp_path: Path) -> None:
    with folder.opened(tmp_path, "default") as found:
        assert found is None
    with folder.opened(tmp_path / "nothing", "default", create=True) as found:
        assert found is None
    with folder.opened(tmp_path, "default", create=True) as found:
        assert found is not None
    assert stat.S_IMODE((tmp_path / "default").stat().st_mode) == 0o700


def test_hidden_files_are_not_seen(opened: Folder, place: Path) -> None:
    (place / ".git").mkdir()
    (place / ".git" / "config").write_text("x")
    (place / ".hidden.md").write_text("x")
    assert opened.files() == {}


def test_only_one_process_has_the_folder(place: Path, opened: Folder) -> None:
    assert opened.lock()
    with folder.opened(place.parent, "default") as other:
        assert other is not None
        assert not other.lock()


@pytest.mark.parametrize("moment", range(1, 13))
@pytest.mark.parametrize("swapped", ["sub", "sub/a.md"])
@pytest.mark.parametrize("kind", ["read", "write", "remove", "move"])
def test_a_link_swapped_in_at_any_moment_never_leads_outside(
    opened: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, swapped: str, moment: int
) -> None:
    """Before one system call after the other, the file or its folder is exchanged for a link."""
    place, outside = tmp_path / "above" / "default", tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    stamp = opened.write("sub/a.md", b"ours", None)
    assert stamp is not None
    calls = 0

    def exchanging(name: str) -> Callable[..., Any]:
        plain = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == moment:
                (place / swapped).rename(place / "kept")
                (place / swapped).symlink_to(outside if swapped == "sub" else outside / "a.md")
            return plain(*arguments, **options)

        return call

    work: dict[str, Callable[[], object]] = {
        "read": lambda: opened.read("sub/a.md", MOST)[0],
        "write": lambda: opened.write("sub/a.md", b"new", stamp),
        "remove": lambda: opened.remove("sub/a.md", stamp),
        "move": lambda: opened.move("sub/a.md", "sub/b.md"),
    }
    with monkeypatch.context() as patch:
        for name in ("open", "stat", "mkdir", "unlink", "rmdir", "fstat"):
            patch.setattr(os, name, exchanging(name))
        try:
            result = work[kind]()
        except OSError:
            result = None
    assert result != b"secret"
    assert [(one.name, one.read_text()) for one in outside.iterdir()] == [("a.md", "secret")]


def test_a_second_name_that_is_given_up_while_one_reads_gives_nothing_away(
    opened: Folder, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("secret")
    (place / "a.md").hardlink_to(tmp_path / "secret")
    plain = os.fstat

    def after_unlink(descriptor: int) -> os.stat_result:
        (place / "a.md").unlink(missing_ok=True)
        return plain(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", after_unlink)
        with pytest.raises(OSError, match="moved or replaced meanwhile"):
            opened.read("a.md", MOST)


@pytest.mark.parametrize(
    "path", ["../victim.md", "a/../../victim.md", "..", ".", "", "/victim.md", "a//b.md", "a/./b.md", "a/", "a\0.md"]
)
def test_a_path_that_leads_out_is_refused_whoever_asks(opened: Folder, place: Path, path: str) -> None:
    victim = place.parent / "victim.md"
    victim.write_bytes(b"mine")
    stamp = opened.write("b.md", b"x", None)
    assert stamp is not None
    acts: list[Callable[[], object]] = [
        lambda: opened.read(path, MOST),
        lambda: opened.write(path, b"theirs", None),
        lambda: opened.append(path, b"theirs", stamp),
        lambda: opened.move(path, "c.md"),
        lambda: opened.move("b.md", path),
        lambda: opened.remove(path, stamp),
    ]
    for act in acts:
        with pytest.raises(OutsideFolder):
            act()
    assert opened.stamp(path) is None
    assert victim.read_bytes() == b"mine"
    assert os.listdir(place) == ["b.md"]


def test_in_a_shared_folder_a_replaced_file_keeps_what_others_may_do_with_it(place: Path) -> None:
    script = place / "run.sh"
    script.write_text("old")
    script.chmod(0o751)
    with folder.opened(place.parent, "default", is_private=False) as shared:
        assert shared is not None
        shared.write("run.sh", b"new", shared.stamp("run.sh"))
        shared.write("a/new.md", b"x", None)
    assert (script.read_text(), stat.S_IMODE(script.stat().st_mode)) == ("new", 0o751)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((place / "a/new.md").stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE((place / "a").stat().st_mode) == 0o777 & ~umask


def test_a_walk_tells_folders_and_hidden_files_but_enters_no_link_and_nothing_skipped(
    opened: Folder, place: Path
) -> None:
    for path in (".hidden", "a/b/deep.md", "skipped/x.md"):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text("x")
    (place / "away").symlink_to("/etc")
    found = dict(opened.walk(lambda name: name == "skipped", 2))
    assert list(found) == [".hidden", "a/", "a/b/", "away"]
    assert not found["away"].is_plain
