"""Documents from the terminal: what is printed, what is written, and what people do to the files in between."""

import sys
from pathlib import Path

import pytest

from moot.api.connection import Connection
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.documents import documents, ownership
from moot.documents.ownership import Author
from moot.registry import instances, tokens
from moot.registry.tokens import Grant
from tests.cli.terminal import Terminal


def put(terminal: Terminal, file: str, content: str, by: str = "ann", owner: str | None = None) -> None:
    async def work(connection: Connection) -> None:
        def change(tx: Tx) -> None:
            instance = instances.ensure(tx, connection.caller.instance).name
            ownership.give(tx, instance, owner)
            documents.write(tx, instance, file, content, Author(by, is_free=True))

        await connection.store.write(change, caller=SYSTEM)

    terminal.act(work)


def editor(folder: Path, code: str) -> dict[str, str]:
    """An editor that does this to the text in `path`."""
    script = folder / "editor.py"
    script.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\n{code}\n")
    return {"EDITOR": f"{sys.executable} {script}", "VISUAL": ""}


def test_documents_are_listed(either: Terminal) -> None:
    put(either, "notes.md", "one")
    put(either, "a/b.md", "two", owner="ann")
    lines = either.ok("doc").out.splitlines()
    assert [line.split()[:3] for line in lines[:3]] == [
        ["DOCUMENT", "VERSION", "BY"], ["a/b.md", "1", "ann"], ["notes.md", "1", "ann"],
    ]  # fmt: skip
    assert lines[3] == "only ann and you can write them"
    listed = either.ok("doc", "--json").json
    assert [(one["file"], one["version"], one["entry_point"]) for one in listed] == [
        ("a/b.md", 1, False),
        ("notes.md", 1, True),
    ]
    assert either.ok("doc", "list", "--json").json == listed


def test_without_documents_there_is_a_hint_and_no_store(terminal: Terminal) -> None:
    assert terminal.ok("doc").out == "no documents yet; make one with: moot doc edit notes.md\n"
    assert terminal.ok("doc", "--json").json == []
    assert terminal.run("doc", "show").code == 1
    assert not (terminal.folder / ".workflow").exists()


def test_a_document_is_shown_as_it_is_and_in_old_versions(either: Terminal) -> None:
    put(either, "notes.md", "one\r\n")
    put(either, "notes.md", "two\x1b[31m, no newline")
    assert either.ok("doc", "show").out == "two\x1b[31m, no newline"
    assert either.ok("doc", "show", "notes.md", "--version", "1").out == "one\r\n"
    assert either.ok("doc", "show", "NOTES.md", "--json").json["version"] == 2
    assert "\x1b[31m" not in either.show("doc", "show")
    missing = either.run("doc", "show", "no.md")
    assert (missing.code, missing.out) == (1, "")
    assert missing.err.startswith("error: DOCUMENT_NOT_FOUND: There is no document no.md.\n")


def test_a_document_is_written_from_stdin_and_from_a_file(either: Terminal) -> None:
    assert either.ok("doc", "write", "a/b.md", stdin="öne\n".encode()).out == "written a/b.md (version 1)\n"
    assert (either.folder / ".workflow/default/a/b.md").exists() == (either.url is None)
    (either.folder / "source.txt").write_text("two\n")
    either.ok("doc", "write", "a/b.md", "source.txt", "--append")
    assert either.ok("doc", "show", "a/b.md").out == "öne\ntwo\n"
    assert either.ok("doc", "write", "a/b.md", "-", "--json", stdin=b"x").json == {
        "file": "a/b.md", "version": 3, "action": "written", "changed": True,
    }  # fmt: skip
    assert either.ok("doc", "write", "a/b.md", stdin=b"x").out == "a/b.md is as it was (version 3)\n"
    stale = either.run("doc", "write", "a/b.md", "--if-version", "1", stdin=b"y")
    assert (stale.code, stale.out) == (1, "")
    assert "DOCUMENT_CHANGED: a/b.md is at version 3" in stale.err


@pytest.mark.parametrize(
    ("words", "stdin", "code"),
    [
        (("write", "../x.md"), b"x", "PATH_REFUSED"),
        (("write", "channel.md"), b"x", "PATH_REFUSED"),
        (("write", "a.md"), b"\xff", "INVALID_INPUT"),
        (("write", "a.md"), b"a\0b", "INVALID_INPUT"),
        (("write", "a.md", "nowhere.txt"), b"", "INVALID_INPUT"),
        (("show", "/etc/passwd"), b"", "PATH_REFUSED"),
        (("rm", "a/../b"), b"", "PATH_REFUSED"),
        (("rm", ""), b"", "PATH_REFUSED"),
        (("show", "--version", "0"), b"", "USAGE"),
        (("show", "a", "b"), b"", "USAGE"),
        (("nonsense",), b"", "USAGE"),
    ],
)
def test_bad_input_is_refused(terminal: Terminal, words: tuple[str, ...], stdin: bytes, code: str) -> None:
    put(terminal, "notes.md", "one")
    refused = terminal.run("doc", *words, stdin=stdin)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"error: {code}: ")
    assert [one["file"] for one in terminal.ok("doc", "--json").json] == ["notes.md"]


def test_history_tells_who_changed_it(either: Terminal) -> None:
    put(either, "notes.md", "one")
    either.ok("doc", "write", "notes.md", stdin=b"two")
    lines = either.ok("doc", "history").out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["VERSION", "ACTION", "BY"], ["1", "written", "ann"], ["2", "written", "human"],
    ]  # fmt: skip
    assert [one["version"] for one in either.ok("doc", "history", "notes.md", "-n", "1", "--json").json] == [2]


def test_a_document_is_deleted_and_its_past_is_kept(either: Terminal) -> None:
    put(either, "notes.md", "one")
    either.ok("export")
    assert either.ok("doc", "rm", "notes.md").out == "deleted notes.md (version 2)\n"
    assert either.ok("doc", "--json").json == []
    assert not (either.folder / ".workflow/default/notes.md").exists()
    assert either.ok("doc", "show", "notes.md", "--version", "1").out == "one"
    assert either.run("doc", "rm", "notes.md").code == 1


def test_a_document_is_edited_in_the_persons_editor(terminal: Terminal) -> None:
    env = editor(terminal.folder, "path.write_text(path.read_text() + 'more\\n')")
    assert terminal.ok("doc", "edit", env=env).out == "written notes.md (version 1)\n"
    assert terminal.ok("doc", "edit", "notes.md", env=env).out == "written notes.md (version 2)\n"
    assert terminal.ok("doc", "show").out == "more\nmore\n"
    unchanged = terminal.ok("doc", "edit", env=editor(terminal.folder, "pass"))
    assert (unchanged.out, unchanged.err) == ("", "notes.md was not changed\n")


def test_an_edit_over_a_newer_version_is_not_lost(terminal: Terminal) -> None:
    put(terminal, "notes.md", "one")
    code = (
        "import subprocess\npath.write_text('mine')\n"
        f"subprocess.run([{sys.executable!r}, '-m', 'moot', 'doc', 'write', 'notes.md'], input=b'theirs', check=True,"
        f" stdout=subprocess.DEVNULL, cwd={str(terminal.folder)!r})"
    )
    refused = terminal.run("doc", "edit", env=editor(terminal.folder, code))
    assert refused.code == 1
    assert "DOCUMENT_CHANGED" in refused.err
    kept = Path(refused.err.partition("Your text is in ")[2].partition(". ")[0])
    assert kept.read_text() == "mine"
    kept.unlink()
    assert terminal.ok("doc", "show").out == "theirs"


def test_what_was_changed_on_disk_is_taken_in_first(terminal: Terminal) -> None:
    put(terminal, "notes.md", "one")
    terminal.ok("doc")
    folder = terminal.folder / ".workflow/default"
    assert (folder / "notes.md").read_text() == "one"
    (folder / "notes.md").write_text("two")
    (folder / "new.md").write_text("new")
    assert terminal.ok("doc", "show").out == "two"
    assert [one["author"] for one in terminal.ok("doc", "--json").json] == ["disk", "disk"]


def test_export_writes_documents_too(either: Terminal) -> None:
    put(either, "a/b.md", "one")
    folder = either.folder / ".workflow/default"
    assert either.ok("export").out.splitlines()[-1] == f"wrote {folder / 'a/b.md'}"
    (folder / "a/b.md").write_text("two")
    either.ok("export")
    assert (folder / "a/b.md").read_text() == "two"
    assert either.ok("doc", "show", "a/b.md").out == "two"


def test_options_may_stand_before_the_command(either: Terminal) -> None:
    either.join("coder")
    either.ok("doc", "--instance", "pr-1", "write", "notes.md", stdin=b"there")
    assert either.ok("doc", "show", "--instance", "pr-1").out == "there"
    assert either.ok("doc", "--json").json == []
    assert either.ok("doc", "--instance", "pr-1", "--json", "show").json["content"] == "there"


def test_a_store_given_to_the_program_is_the_commands(terminal: Terminal) -> None:
    url = f"sqlite://{terminal.folder / 'other.db'}"
    terminal.ok("--store", url, "doc", "write", "notes.md", stdin=b"x")
    assert terminal.ok("--store", url, "doc", "show").out == "x"
    assert not (terminal.folder / ".workflow" / "moot.db").exists()


def test_an_agent_with_a_token_is_bound_by_the_owner(terminal: Terminal) -> None:
    bob = terminal.join("bob")
    put(terminal, "notes.md", "one", owner="ann")

    async def mint(connection: Connection) -> str:
        text = tokens.new_text()
        grant = Grant("member", bob.instance, "member", bob.id)
        await connection.store.write(lambda tx: tokens.mint(tx, text, grant), caller=SYSTEM)
        return text

    env = {"MOOT_TOKEN": terminal.act(mint)}
    for words in (("write", "notes.md"), ("rm", "notes.md")):
        refused = terminal.run("doc", *words, stdin=b"x", env=env)
        assert refused.code == 1
        assert "NOT_DOCUMENT_OWNER: Only @ann" in refused.err
    assert terminal.ok("doc", "show", env=env).out == "one"
