"""Documents and their files are brought together, in both directions, and nothing is lost on the way."""

import asyncio
import os
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from moot.core import folder
from moot.core.caller import SYSTEM
from moot.core.folder import Stamp
from moot.core.ids import ProposalId
from moot.documents import documents, ownership
from moot.documents.documents import Listing
from moot.registry import instances
from moot.store import feed
from moot.store.store import Store
from moot.views import documents as views
from moot.views.documents import Base, Memory, Seen, Step, decide, synchronise
from tests.documents.desk import ANN, BOB, HERE, PERSON, Shelf, shelf

DEADLINE = 20.0


@dataclass(frozen=True)
class Disk:
    """An instance's folder, and a process that keeps it."""

    docs: Shelf
    above: Path
    memory: Memory

    @property
    def root(self) -> Path:
        return self.above / self.docs.instance

    async def look(self, *, settle: float = 0.0) -> bool:
        return await synchronise(self.docs.store, self.above, self.docs.instance, self.memory, settle=settle)

    async def rounds(self) -> None:
        """Until nothing is left to be done."""
        for _ in range(3):
            assert await self.look()

    def files(self) -> dict[str, str]:
        """The text of every file that is not hidden."""
        found = [one for one in sorted(self.root.rglob("*")) if one.is_file() and not one.name.startswith(".")]
        return {str(one.relative_to(self.root)): one.read_text() for one in found}

    def put(self, file: str, content: str | bytes) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def again(self) -> "Disk":
        """As another process has it, that knows nothing yet."""
        return Disk(self.docs, self.above, Memory())


@pytest.fixture
async def disk(anyio_backend: object, store: Store, tmp_path: Path) -> Disk:
    above = tmp_path / ".workflow"
    above.mkdir()
    return Disk(await shelf(store), above, Memory())


async def test_documents_are_written_to_disk(disk: Disk) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.docs.write("a/b.md", "two")
    await disk.look()
    assert disk.files() == {"a/b.md": "two", "notes.md": "one"}
    await disk.docs.write("notes.md", "three")
    await disk.docs.delete("a/b.md")
    await disk.look()
    assert disk.files() == {"notes.md": "three"}


async def test_without_documents_nothing_is_made(disk: Disk) -> None:
    assert await disk.look()
    assert not disk.root.exists()


async def test_an_edit_on_disk_becomes_a_version_by_disk(disk: Disk) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.look()
    disk.put("notes.md", "one, edited")
    await disk.rounds()
    assert await disk.docs.text("notes.md") == "one, edited"
    assert await disk.docs.history("notes.md") == ["1 written ann", "2 written disk"]
    assert disk.files() == {"notes.md": "one, edited"}


async def test_an_edit_made_while_nobody_looked_is_taken_in(disk: Disk) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.look()
    disk.put("notes.md", "two")
    await disk.again().rounds()
    assert await disk.docs.history("notes.md") == ["1 written ann", "2 written disk"]


async def test_an_old_text_put_back_on_disk_is_an_edit(disk: Disk) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.docs.write("notes.md", "two")
    await disk.look()
    disk.put("notes.md", "one")
    await disk.rounds()
    assert await disk.docs.text("notes.md") == "one"
    assert (await disk.docs.files())["notes.md"] == 3


async def test_a_file_placed_by_a_person_becomes_a_document(disk: Disk) -> None:
    disk.put("ideas/new.md", "mine")
    await disk.rounds()
    assert await disk.docs.history("ideas/new.md") == ["1 created disk"]
    assert disk.files() == {"ideas/new.md": "mine"}


async def test_a_file_that_was_just_changed_waits_for_the_next_look(disk: Disk) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.look()
    disk.put("notes.md", "half")
    disk.put("new.md", "half")
    await disk.look(settle=60)
    assert await disk.docs.files() == {"notes.md": 1}
    for file in ("notes.md", "new.md"):
        os.utime(disk.root / file, (1_000_000_000, 1_000_000_000))
    await disk.look(settle=60)
    assert await disk.docs.files() == {"new.md": 1, "notes.md": 2}


async def test_a_deleted_file_is_written_again(disk: Disk) -> None:
    await disk.docs.write("a/notes.md", "one")
    await disk.look()
    (disk.root / "a/notes.md").unlink()
    (disk.root / "a").rmdir()
    await disk.look()
    assert disk.files() == {"a/notes.md": "one"}
    assert await disk.docs.files() == {"a/notes.md": 1}


async def test_when_both_have_changed_the_text_from_disk_is_put_beside(disk: Disk) -> None:
    await disk.docs.write("a/notes.md", "one")
    await disk.look()
    for number in (1, 2):
        disk.put("a/notes.md", f"from disk {number}")
        await disk.docs.write("a/notes.md", f"from ann {number}")
        await disk.rounds()
        assert await disk.docs.text("a/notes.md") == f"from ann {number}"
    assert disk.files() == {
        "a/notes.conflict-1.md": "from disk 1",
        "a/notes.conflict-2.md": "from disk 2",
        "a/notes.md": "from ann 2",
    }
    assert await disk.docs.files() == {"a/notes.md": 3}
    assert await conflicts(disk) == ["a/notes.conflict-1.md", "a/notes.conflict-2.md"]


async def test_conflicts_do_not_overwrite_each_other(disk: Disk) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.look()
    disk.put("notes.conflict-1.md", "of old")
    disk.put("notes.md", "from disk")
    await disk.docs.write("notes.md", "two")
    await disk.look()
    assert disk.files() == {
        "notes.conflict-1-2.md": "from disk",
        "notes.conflict-1.md": "of old",
        "notes.md": "two",
    }


async def test_a_document_deleted_while_its_file_is_edited_leaves_the_edit(disk: Disk) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.look()
    disk.put("notes.md", "edited")
    await disk.docs.delete("notes.md")
    await disk.rounds()
    assert disk.files() == {"notes.conflict-1.md": "edited"}
    assert await disk.docs.files() == {}


async def test_disk_does_not_write_what_has_an_owner(disk: Disk) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.look()
    await disk.docs.store.write(lambda tx: ownership.give(tx, HERE, "ann"), caller=SYSTEM)
    disk.put("notes.md", "from disk")
    disk.put("new.md", "new")
    await disk.rounds()
    assert disk.files() == {"new.md": "new", "notes.conflict-1.md": "from disk", "notes.md": "one"}
    assert await disk.docs.files() == {"notes.md": 1}
    await disk.docs.store.write(lambda tx: ownership.give(tx, HERE, None), caller=SYSTEM)
    await disk.rounds()
    assert await disk.docs.files() == {"new.md": 1, "notes.md": 1}


async def test_during_an_election_an_edit_waits(disk: Disk) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.look()
    await disk.docs.store.write(lambda tx: ownership.elect(tx, HERE, ProposalId("pr_1")), caller=SYSTEM)
    disk.put("notes.md", "edited")
    await disk.rounds()
    assert disk.files() == {"notes.md": "edited"}
    assert await disk.docs.text("notes.md") == "one"
    await disk.docs.store.write(lambda tx: ownership.give(tx, HERE, None), caller=SYSTEM)
    await disk.rounds()
    assert await disk.docs.text("notes.md") == "edited"


async def test_a_lost_note_of_versions_loses_no_text(disk: Disk) -> None:
    await disk.docs.write("same.md", "same")
    await disk.docs.write("stale.md", "old")
    await disk.docs.write("edited.md", "one")
    await disk.look()
    await disk.docs.write("stale.md", "new")
    disk.put("edited.md", "from disk")
    (disk.root / views.BASES).unlink()
    await disk.again().rounds()
    assert disk.files() == {
        "edited.conflict-1.md": "from disk",
        "edited.md": "one",
        "same.md": "same",
        "stale.md": "new",
    }


@pytest.mark.parametrize("note", [b"", b"[]", b'{"notes.md": 5}', b'{"notes.md": ["x", 1]}', b"\xff", b"{" * 9999])
async def test_a_spoiled_note_is_a_lost_one(disk: Disk, note: bytes) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.look()
    (disk.root / views.BASES).write_bytes(note)
    await disk.again().rounds()
    disk.put("notes.md", "two")
    await disk.rounds()
    assert await disk.docs.text("notes.md") == "two"


async def test_a_file_written_before_its_version_was_noted_is_no_conflict(disk: Disk) -> None:
    """As a process leaves it that is killed in between."""
    await disk.docs.write("notes.md", "one")
    await disk.look()
    note = (disk.root / views.BASES).read_bytes()
    await disk.docs.write("notes.md", "two")
    await disk.look()
    (disk.root / views.BASES).write_bytes(note)
    await disk.docs.write("notes.md", "three")
    await disk.again().rounds()
    assert disk.files() == {"notes.md": "three"}
    assert (await disk.docs.files())["notes.md"] == 3


async def test_a_look_that_is_cancelled_ends_before_its_folder_is_closed(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await disk.docs.write("notes.md", "one")
    is_listing, may_go_on = threading.Event(), threading.Event()
    listing = folder.Folder.files

    def files(self: folder.Folder) -> dict[str, Stamp]:
        is_listing.set()
        may_go_on.wait(DEADLINE)
        return listing(self)

    monkeypatch.setattr(folder.Folder, "files", files)
    look = asyncio.ensure_future(disk.look())
    await asyncio.to_thread(is_listing.wait, DEADLINE)
    look.cancel()
    await asyncio.sleep(0)
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await look
    assert disk.files() == {"notes.md": "one"}


class Killed(BaseException):
    """Nothing catches it."""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("is_new", [True, False])
async def test_a_process_killed_while_it_writes_leaves_nothing_to_guess(
    disk: Disk, monkeypatch: pytest.MonkeyPatch, when: str, is_new: bool
) -> None:
    if not is_new:
        await disk.docs.write("notes.md", "zero")
        await disk.look()
    await disk.docs.write("notes.md", "one")
    plain = folder.Folder.write

    def killed(self: folder.Folder, path: str, content: bytes, over: Stamp | None) -> Stamp | None:
        if path != views.BASES and when == "before":
            raise Killed
        written = plain(self, path, content, over)
        if path != views.BASES:
            raise Killed
        return written

    with monkeypatch.context() as patch:
        patch.setattr(folder.Folder, "write", killed)
        with pytest.raises(Killed):
            await disk.look()
    versions = (await disk.docs.files())["notes.md"]
    if when == "before":
        await disk.again().rounds()
        assert disk.files() == {"notes.md": "one"}
        assert (await disk.docs.files())["notes.md"] == versions
    disk.put("notes.md", "edited")
    await disk.again().rounds()
    assert disk.files() == {"notes.md": "edited"}
    assert await disk.docs.text("notes.md") == "edited"
    assert (await disk.docs.files())["notes.md"] == versions + 1


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b", b"\xed\xa0\x80", b"x" * (4 * documents.MOST_CHARACTERS + 1)])
async def test_a_file_that_is_no_text_is_put_aside(disk: Disk, content: bytes) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.look()
    disk.put("notes.md", content)
    disk.put("other.md", content)
    await disk.rounds()
    assert (disk.root / "notes.md").read_text() == "one"
    assert (disk.root / "notes.conflict-1.md").read_bytes() == content
    assert (disk.root / "other.md").read_bytes() == content
    assert await disk.docs.files() == {"notes.md": 1}


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe"])
async def test_nothing_is_read_or_written_through_a_link_or_a_pipe(disk: Disk, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    await disk.docs.write("notes.md", "one")
    await disk.look()
    (disk.root / "notes.md").unlink()
    for name in ("notes.md", "new.md"):
        if kind == "link":
            (disk.root / name).symlink_to(secret)
        elif kind == "hard link":
            (disk.root / name).hardlink_to(secret)
        else:
            os.mkfifo(disk.root / name)
    await disk.docs.write("notes.md", "two")
    await disk.rounds()
    assert await disk.docs.files() == {"notes.md": 2}
    assert secret.read_text() == "secret"
    assert (disk.root / "notes.md").read_text() == "two"
    assert not (disk.root / "notes.md").is_symlink()


async def test_nothing_is_written_into_a_folder_that_is_a_link(disk: Disk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    disk.root.mkdir()
    (disk.root / "a").symlink_to(outside)
    await disk.docs.write("a/b.md", "one")
    await disk.docs.write("notes.md", "two")
    await disk.rounds()
    assert [one.name for one in outside.iterdir()] == ["secret.md"]
    assert await disk.docs.files() == {"a/b.md": 1, "notes.md": 1}
    assert (disk.root / "notes.md").read_text() == "two"


async def test_moots_own_files_and_hidden_ones_are_no_documents(disk: Disk) -> None:
    for name in (
        "channel.md",
        "Proposals.json",
        "mcp.json",
        ".git/config",
        ".env",
        "CLAUDE.md",
        "x.conflict-1.md",
        "-x",
    ):
        disk.put(name, "text")
    await disk.rounds()
    assert await disk.docs.files() == {}


async def test_another_spelling_of_a_document_stays_a_file(disk: Disk) -> None:
    await disk.docs.write("Notes.md", "one")
    await disk.look()
    disk.put("notes.MD", "other")
    await disk.rounds()
    assert await disk.docs.files() == {"Notes.md": 1}
    assert disk.files() == {"Notes.md": "one", "notes.MD": "other"}


async def test_two_processes_do_not_both_take_in_an_edit(disk: Disk) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.look()
    disk.put("notes.md", "two")
    with folder.opened(disk.above, HERE) as held:
        assert held is not None
        assert held.lock()
        assert not await disk.look()
    await disk.rounds()
    await disk.again().rounds()
    assert (await disk.docs.files())["notes.md"] == 2


async def test_a_file_that_did_not_change_is_not_read_again(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    await disk.docs.write("notes.md", "one")
    await disk.rounds()
    os.utime(disk.root / "notes.md", (1_000_000_000, 1_000_000_000))
    await disk.look()
    read: list[str] = []
    plain = folder.Folder.read

    def noted(self: folder.Folder, path: str, most: int) -> tuple[bytes, Stamp]:
        read.append(path)
        return plain(self, path, most)

    monkeypatch.setattr(folder.Folder, "read", noted)
    await disk.look()
    assert read == [views.BASES]


async def test_the_person_writes_over_what_the_owner_wrote_and_disk_follows(disk: Disk) -> None:
    await disk.docs.store.write(lambda tx: ownership.give(tx, HERE, "bob"), caller=SYSTEM)
    await disk.docs.write("notes.md", "one", BOB)
    await disk.look()
    await disk.docs.write("notes.md", "two", PERSON)
    await disk.look()
    assert disk.files() == {"notes.md": "two"}
    assert ANN.name not in (await disk.docs.history("notes.md"))[0]


async def conflicts(disk: Disk) -> list[object]:
    stream = (await disk.docs.store.read(lambda tx: instances.get(tx, HERE))).stream
    events = await disk.docs.store.read(lambda tx: feed.events_after(tx, stream, 0, 100))
    return [one.data["kept"] for one in events if one.kind == documents.CONFLICT]


THERE = Listing("a.md", 3, "h3", 1, "ann", documents.datetime(2026, 1, 1))  # never looked at


def seen(hash: str | None) -> Seen:
    return Seen(Stamp(0, 0, 0, 0, 0, is_plain=True), hash)


@pytest.mark.parametrize(
    ("there", "base", "found", "past", "step"),
    [
        (THERE, None, None, None, "write"),
        (THERE, Base(3, "h3"), None, None, "write"),
        (THERE, None, seen("h3"), None, "same"),
        (THERE, Base(2, "h2"), seen("h3"), None, "same"),
        (THERE, Base(2, "h2"), seen("h2"), 2, "write"),
        (THERE, Base(3, "h3"), seen("new"), None, "take"),
        (THERE, Base(3, "h3", "h2"), seen("h2"), 2, "write"),
        (None, Base(3, "h3", "h2"), seen("h2"), None, "remove"),
        (THERE, Base(3, "h3"), seen("h1"), 1, "take"),
        (THERE, Base(2, "h2"), seen("new"), None, "aside"),
        (THERE, Base(2, "h2"), seen("h1"), 1, "aside"),
        (THERE, Base(1, "h1"), seen("h2"), 2, "write"),
        (THERE, None, seen("new"), None, "aside"),
        (THERE, None, seen("h1"), 1, "write"),
        (THERE, Base(3, "h3"), seen(None), None, "aside"),
        (None, None, None, None, "same"),
        (None, Base(3, "h3"), None, None, "same"),
        (None, None, seen("new"), None, "create"),
        (None, Base(3, "h3"), seen("h3"), None, "remove"),
        (None, Base(3, "h3"), seen("new"), None, "aside"),
        (None, None, seen(None), None, "leave"),
    ],
)
def test_what_is_done_about_a_file(
    there: Listing | None, base: Base | None, found: Seen | None, past: int | None, step: Step
) -> None:
    assert decide(there, base, found, past) == step
