"""One spelling for each document, and none that leads elsewhere or means something to another program."""

import pytest

from moot.documents import paths
from moot.documents.errors import PathRefused

GOOD = [
    "notes.md",
    "findings/login.md",
    "a/b/c/d.txt",
    "Ärger.md",
    "README",
    "data.json",
    "a..b.md",
    "日本/語.md",
    "x y.md",
]
REFUSED = [
    "", ".", "..", "../x.md", "a/../b.md", "a/..", "/etc/passwd", "//x", "a//b.md", "a/", "./a.md", "a/./b.md",
    "a\0b.md", "a\\b.md", "..\\x.md", "C:/x.md", "a\nb.md", "a\x1b[31m.md", "a\u200b.md", "\u202emd.x", "a\u2028b",
    "\ud800.md",
    "\ufeffnotes.md", "-rf.md", "a/-x.md", ".git/config", ".git", "a/.git/hooks/x", ".mcp.json",
    ".claude/settings.json",
    ".env", " a.md", "a.md ", "a.", "a/b./c", "x" * 151, "a/" * 300 + "b", "a/" * 8 + "b", "é" * 76,
    "channel.md", "CHANNEL.md", "Channel.MD", "proposals.json", "inbox-state.json", "mcp.json", "MCP.json",
    "context.sock",
    "inboxes/ann.json", "Inboxes", "logs/x.md", "other.sock", "moot.db", "a/moot.db-wal", "run.log",
    "CLAUDE.md", "a/claude.md", "AGENTS.md", "gemini.md", "sub/mcp.json", "CLAUDE.local.md",
    "notes.conflict-3.md", "NOTES.CONFLICT-3.md", "a/x.conflict-3-2.md", "x.conflict-1",
]  # fmt: skip


@pytest.mark.parametrize("path", GOOD)
def test_a_plain_path_is_taken_as_it_is(path: str) -> None:
    assert paths.check(path) == path


@pytest.mark.parametrize("path", REFUSED)
def test_a_path_that_could_mean_something_else_is_refused(path: str) -> None:
    with pytest.raises(PathRefused) as refused:
        paths.check(path)
    assert refused.value.remedy
    assert len(str(refused.value)) < 400
    str(refused.value).encode()


def test_unicode_has_one_spelling() -> None:
    assert paths.check("A\u0308rger.md") == "Ärger.md"


@pytest.mark.parametrize(
    ("one", "other"),
    [("Notes.md", "notes.MD"), ("Ärger.md", "a\u0308rger.md"), ("straße.md", "STRASSE.md"), ("\u017f.md", "s.md")],
)
def test_names_that_a_file_system_may_take_for_one_are_one(one: str, other: str) -> None:
    assert paths.fold(one) == paths.fold(other)


@pytest.mark.parametrize("path", ["notes.md", "a/notes", "a.b/c.d.txt", "日本.md"])
def test_a_conflict_has_a_name_that_no_document_has(path: str) -> None:
    for number in (1, 2):
        name = paths.conflict(path, 3, number)
        assert paths.is_conflict(name)
        assert not paths.is_conflict(path)
        with pytest.raises(PathRefused):
            paths.check(name)
    assert paths.conflict("a/notes.md", 3) == "a/notes.conflict-3.md"
    assert paths.conflict("notes", 3, 2) == "notes.conflict-3-2"
