"""Where a store may be, what is refused, and that reading creates nothing."""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import apsw
import pytest

from moot.core.caller import SYSTEM
from moot.core.clock import to_micros
from moot.core.tx import Query
from moot.store import migrate, sqlite
from moot.store.errors import StoreDamaged, StoreInUse, StoreNotFound, StorePlaceRefused, StoreTooNew
from moot.store.migrate import Migration
from moot.store.sqlite import place
from moot.testing.clock import ManualClock

MOUNTS = r"""
/dev/sda1 / ext4 rw 0 0
proc /proc proc rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/ann ext4 rw 0 0
//nas/share /mnt/My\040Files cifs rw 0 0
//nas/mull /mnt/Müll cifs rw 0 0
//nas/odd /mnt/back\134slash cifs rw 0 0
C:\134 /mnt/c 9p rw 0 0
/dev/sdc1 /over ext4 rw 0 0
server:/over /over nfs rw 0 0
me@host: /remote fuse.sshfs rw 0 0
overlay /box overlay rw 0 0
""".lstrip()


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/", "ext4"),
        ("/var/lib", "ext4"),
        ("/home", "nfs4"),
        ("/home/bob/project", "nfs4"),
        ("/home/ann/project", "ext4"),
        ("/home/anna", "nfs4"),
        ("/homework", "ext4"),
        ("/mnt/My Files/project", "cifs"),
        ("/mnt/Müll/project", "cifs"),
        ("/mnt/back\\slash", "cifs"),
        ("/mnt/c/Users", "9p"),
        ("/over/there", "nfs"),
        ("/remote", "fuse.sshfs"),
        ("/box", "overlay"),
        ("/home/../var", "ext4"),
    ],
)
def test_the_innermost_and_latest_mount_counts(folder: str, kind: str) -> None:
    assert place.file_system(Path(folder), MOUNTS) == kind


def test_a_link_is_followed_to_its_file_system(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/home/bob")
    assert place.file_system(tmp_path / "link", MOUNTS) == "nfs4"


@pytest.mark.parametrize("kind", sorted(place.NETWORK))
def test_network_file_systems_are_refused(kind: str) -> None:
    with pytest.raises(StorePlaceRefused, match=rf"\({kind}\)"):
        place.check_file_system(Path("/srv/project"), f"there /srv {kind} rw 0 0\n")


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", "fuseblk", "f2fs"])
def test_local_file_systems_are_fine(kind: str) -> None:
    place.check_file_system(Path("/srv/project"), f"here /srv {kind} rw 0 0\n")


def test_a_refused_place_is_left_untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/x {tmp_path} nfs rw 0 0\n")
    monkeypatch.setattr("moot.store.sqlite.place._MOUNTS", mounts)
    with pytest.raises(StorePlaceRefused, match="network file system"):
        sqlite.open_file(tmp_path / "new" / "moot.db", create=True)
    assert os.listdir(tmp_path) == ["mounts"]


@pytest.mark.parametrize("version", ["3.51.2", "3.40.1", "3.9.99", "2.99.99"])
def test_an_old_sqlite_is_refused(version: str) -> None:
    with pytest.raises(StorePlaceRefused, match=r"3\.51\.3 or newer"):
        place.check_sqlite(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.52.0", "3.100.0", "4.0.0", "3.54.1.0"])
def test_a_sqlite_that_keeps_its_word_is_fine(version: str) -> None:
    place.check_sqlite(version)


async def made(path: Path) -> Path:
    await sqlite.open_file(path, create=True).close()
    return path


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_a_new_folder_is_private_and_ignored_by_git(tmp_path: Path) -> None:
    await made(tmp_path / "deep" / ".workflow" / "moot.db")
    assert mode(tmp_path / "deep" / ".workflow") == 0o700
    assert (tmp_path / "deep" / ".workflow" / ".gitignore").read_text() == "*\n"
    assert not (tmp_path / "deep" / ".gitignore").exists()


async def test_a_folder_in_use_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    tmp_path.chmod(0o755)
    await made(tmp_path / "moot.db")
    assert not (tmp_path / ".gitignore").exists()
    assert mode(tmp_path) == 0o755


async def test_nobody_else_can_read_the_files_of_a_store(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    old = os.umask(0)
    try:
        store = sqlite.open_file(tmp_path / "moot.db", create=True)
        await store.write(lambda tx: None, caller=SYSTEM)
        readable = {path.name: mode(path) for path in tmp_path.iterdir() if mode(path) & 0o077}
        assert (tmp_path / "moot.db-wal").exists()
        await store.close()
    finally:
        os.umask(old)
    assert readable in ({}, {".gitignore": 0o666})


async def test_the_mode_of_a_store_that_is_there_is_its_owners_choice(tmp_path: Path) -> None:
    path = await made(tmp_path / "moot.db")
    path.chmod(0o660)
    await made(path)
    assert mode(path) == 0o660


def test_reading_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFound, match="There is no store"):
        sqlite.open_file(tmp_path / "new" / "moot.db", create=False)
    assert os.listdir(tmp_path) == []


def test_reading_fills_no_empty_file(tmp_path: Path) -> None:
    (tmp_path / "moot.db").touch()
    with pytest.raises(StoreNotFound):
        sqlite.open_file(tmp_path / "moot.db", create=False)
    assert os.listdir(tmp_path) == ["moot.db"]
    assert (tmp_path / "moot.db").stat().st_size == 0


async def test_an_empty_file_is_filled_when_asked(tmp_path: Path) -> None:
    (tmp_path / "moot.db").touch()
    await made(tmp_path / "moot.db")
    await sqlite.open_file(tmp_path / "moot.db", create=False).close()


def test_what_is_no_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "moot.db").write_text("Dear diary, " * 100)
    with pytest.raises(StoreDamaged, match="is not a moot store"):
        sqlite.open_file(tmp_path / "moot.db", create=True)
    assert (tmp_path / "moot.db").read_text().startswith("Dear diary")


@pytest.mark.parametrize("version", [0, 1])
def test_a_database_of_another_program_is_left_alone(tmp_path: Path, version: int) -> None:
    foreign = apsw.Connection(str(tmp_path / "moot.db"))
    foreign.execute("create table history (url text)")
    foreign.pragma("user_version", version)
    foreign.close()
    before = (tmp_path / "moot.db").read_bytes()
    with pytest.raises(StoreDamaged, match="is not a moot store"):
        sqlite.open_file(tmp_path / "moot.db", create=True)
    assert (tmp_path / "moot.db").read_bytes() == before
    assert os.listdir(tmp_path) == ["moot.db"]


async def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    path = await made(tmp_path / "moot.db")
    content = bytearray(path.read_bytes())
    content[100:2000] = os.urandom(1900)  # the root of the schema
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match=r"moot\.db is damaged"):
        sqlite.open_file(path, create=True)


async def test_a_page_that_is_damaged_is_reported_by_whoever_needs_it(tmp_path: Path) -> None:
    path = await made(tmp_path / "moot.db")
    connection = apsw.Connection(str(path))
    page = int(connection.execute("select rootpage from sqlite_schema where name = 'events'").get)
    connection.close()
    content = bytearray(path.read_bytes())
    content[4096 * (page - 1) : 4096 * page] = b"\xff" * 4096
    path.write_bytes(content)
    store = sqlite.open_file(path, create=True)
    count = Query("count", "select count(*) from events", "")
    with pytest.raises(StoreDamaged):
        await store.read(lambda tx: tx.one(count, int))
    with pytest.raises(StoreDamaged):
        await store.write(lambda tx: tx.one(count, int), caller=SYSTEM)
    await store.close()


def make_folder(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    socket.socket(socket.AF_UNIX).bind(str(path))


def make_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", [make_folder, make_pipe, make_socket, make_loop])
@pytest.mark.parametrize("create", [True, False])
def test_what_is_no_file_is_refused(tmp_path: Path, make: Callable[[Path], None], create: bool) -> None:
    make(tmp_path / "moot.db")
    with pytest.raises((StorePlaceRefused, StoreNotFound)) as refused:
        sqlite.open_file(tmp_path / "moot.db", create=create)
    assert str(tmp_path / "moot.db") in str(refused.value)
    assert os.listdir(tmp_path) == ["moot.db"]


def test_a_file_in_the_way_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorePlaceRefused, match="No store can be made"):
        sqlite.open_file(tmp_path / "file" / "moot.db", create=True)


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorePlaceRefused):
        sqlite.open_file(tmp_path / ("n" * 300), create=True)


@pytest.fixture
def nobodys() -> Generator[Path]:
    """A folder that everybody can reach, while this process has no more rights than anybody."""
    folder = Path(tempfile.mkdtemp(prefix="moot-test-"))
    folder.chmod(0o777)
    is_root = os.getuid() == 0
    if is_root:
        os.setresgid(65534, 65534, 0)
        os.setresuid(65534, 65534, 0)
    try:
        yield folder
    finally:
        if is_root:
            os.setresuid(0, 0, 0)
            os.setresgid(0, 0, 0)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o700)
        shutil.rmtree(folder)


async def test_a_folder_that_cannot_be_written_is_refused(nobodys: Path) -> None:
    path = await made(nobodys / "inner" / "moot.db")
    path.parent.chmod(0o555)
    for create in (True, False):
        with pytest.raises(StorePlaceRefused):
            sqlite.open_file(path, create=create)
    with pytest.raises(StorePlaceRefused):
        sqlite.open_file(nobodys / "inner" / "other" / "moot.db", create=True)
    with pytest.raises(StorePlaceRefused):
        sqlite.open_file(nobodys / "inner" / "other.db", create=True)


async def test_a_file_that_cannot_be_written_is_refused(nobodys: Path) -> None:
    path = await made(nobodys / "moot.db")
    path.chmod(0o444)
    with pytest.raises(StorePlaceRefused, match=r"moot\.db cannot be opened for writing"):
        sqlite.open_file(path, create=False)


async def test_a_file_that_cannot_be_read_is_refused(nobodys: Path) -> None:
    path = await made(nobodys / "inner" / "moot.db")
    path.chmod(0)
    with pytest.raises(StorePlaceRefused):
        sqlite.open_file(path, create=False)
    path.parent.chmod(0)
    with pytest.raises(StorePlaceRefused):
        sqlite.open_file(path, create=False)


async def test_a_newer_store_is_left_alone(tmp_path: Path) -> None:
    path = await made(tmp_path / "moot.db")
    newer = apsw.Connection(str(path))
    newer.pragma("user_version", migrate.newest() + 1)
    newer.close()
    for create in (True, False):
        with pytest.raises(StoreTooNew, match="Upgrade moot"):
            sqlite.open_file(path, create=create)


def with_one_more_step(monkeypatch: pytest.MonkeyPatch) -> None:
    version, steps = migrate.newest() + 1, migrate.migrations()
    step = Migration(version, f"{version:04}_more", "create table more (id text primary key) strict;")
    monkeypatch.setattr(migrate, "migrations", lambda: [*steps, step])
    monkeypatch.setattr(migrate, "newest", lambda: version)


ADD_HOST = Query(
    "add_host",
    "insert into hosts (id, machine, process, roles, started_at, lease_until) values ('h', 'm', 'p', '', 0, :until)",
    "",
)
HAS_MORE = Query("has_more", "select count(*) from sqlite_schema where name = 'more'", "")


async def test_a_store_in_use_is_not_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock()
    store = sqlite.open_file(tmp_path / "moot.db", create=True, clock=clock)
    until = to_micros(clock.now()) + 15_000_000
    await store.write(lambda tx: tx.run(ADD_HOST, until=until), caller=SYSTEM)
    await store.close()
    with_one_more_step(monkeypatch)
    with pytest.raises(StoreInUse, match=r"1 host\(s\)"):
        sqlite.open_file(tmp_path / "moot.db", create=True, clock=clock)
    with apsw.Connection(str(tmp_path / "moot.db")) as connection:
        assert connection.pragma("user_version") == migrate.newest() - 1
        assert connection.execute(HAS_MORE.sqlite).get == 0
    clock.advance(15)
    store = sqlite.open_file(tmp_path / "moot.db", create=True, clock=clock)
    assert await store.read(lambda tx: tx.one(HAS_MORE, int)) == 1
    await store.close()


async def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = await made(tmp_path / "moot.db")
    with_one_more_step(monkeypatch)
    steps = migrate.migrations()
    broken = Migration(steps[-1].version, "0002_more", "create table more (id text); create nonsense;")
    monkeypatch.setattr(migrate, "migrations", lambda: [*steps[:-1], broken])
    with pytest.raises(apsw.SQLError):
        sqlite.open_file(path, create=True)
    connection = apsw.Connection(str(path))
    assert connection.pragma("user_version") == migrate.newest() - 1
    assert connection.execute(HAS_MORE.sqlite).get == 0
    connection.close()


async def test_a_store_of_memory_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = sqlite.open_memory()
    assert mode(store.folder) == 0o700
    await store.write(lambda tx: None, caller=SYSTEM)
    await store.close()
    assert os.listdir(tmp_path) == []


async def test_a_store_may_be_named_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = sqlite.open_file(Path("moot.db"), create=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    await store.write(lambda tx: None, caller=SYSTEM)
    assert store.folder == tmp_path
    await store.close()
