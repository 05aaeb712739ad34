"""Files are read, found and changed inside of one directory, and nowhere else."""

import os
import shutil
import stat
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from moot.session.workspace.tools import WorkspaceTools
from tests.session.workspace.desk import call, done, refused, tools


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "work"
    (found / "src/deep").mkdir(parents=True)
    (found / "src/a.py").write_text("one\ntwo\nthree\n")
    (found / "src/deep/b.py").write_text("two times two\n")
    (found / "notes.md").write_text("Two\n")
    (found / ".git").mkdir()
    (found / ".git/config").write_text("two secrets\n")
    (found / ".workflow").mkdir()
    (found / ".workflow/moot.db").write_text("two\n")
    (tmp_path / "work-sibling").mkdir()
    (tmp_path / "work-sibling/x").write_text("two outside\n")
    return found


@pytest.fixture
def source(root: Path) -> WorkspaceTools:
    return tools(root)


async def test_a_file_is_read_by_lines(source: WorkspaceTools) -> None:
    assert await done(source, "file_read", path="src/a.py") == "one\ntwo\nthree"
    assert await done(source, "file_read", path="./src//a.py", offset=3) == "three"
    text = await done(source, "file_read", path="src/a.py", offset=2, limit=1)
    assert text == "two\n… (3 lines in all; read on with offset 3)"
    assert "has 3 lines" in await refused(source, "file_read", path="src/a.py", offset=4)


async def test_what_is_no_text_is_not_read(source: WorkspaceTools, root: Path) -> None:
    (root / "image").write_bytes(b"\x89PNG\0\0")
    (root / "latin").write_bytes("für".encode("latin-1"))
    (root / "empty").write_bytes(b"")
    assert "not a text" in await refused(source, "file_read", path="image")
    assert (
        await done(source, "file_read", path="latin") == "f\ufffdr\n… (some bytes are not UTF-8, and shown as \ufffd)"
    )
    assert await done(source, "file_read", path="empty") == "(the file is empty)"
    assert "not a text in UTF-8" in await refused(source, "file_edit", path="latin", old="f", new="g")
    assert (root / "latin").read_bytes() == b"f\xfcr"


async def test_files_are_listed_by_patterns(source: WorkspaceTools) -> None:
    assert await done(source, "file_list") == "notes.md\nsrc/"
    assert await done(source, "file_list", pattern="**/*.py") == "src/a.py\nsrc/deep/b.py"
    assert await done(source, "file_list", pattern="src/*") == "src/a.py\nsrc/deep/"
    assert await done(source, "file_list", pattern="src/**/b.*") == "src/deep/b.py"
    assert await done(source, "file_list", pattern="*.rs") == "Nothing there matches."


async def test_files_are_searched_but_not_gits_and_moots_own(source: WorkspaceTools, root: Path) -> None:
    (root / "binary").write_bytes(b"two\0")
    (root / "away").symlink_to(root.parent / "work-sibling")
    assert await done(source, "file_search", pattern="two") == "src/a.py:2: two\nsrc/deep/b.py:1: two times two"
    assert await done(source, "file_search", pattern="^t.o$", is_case_sensitive=False) == (
        "notes.md:1: Two\nsrc/a.py:2: two"
    )
    assert await done(source, "file_search", pattern="two", glob="src/*.py") == "src/a.py:2: two"
    assert await done(source, "file_search", pattern="seven") == "Nothing was found."
    assert "only the first 1" in await done(source, "file_search", pattern="two", limit=1)
    assert "unterminated" in await refused(source, "file_search", pattern="(two")


async def test_a_long_line_is_shown_around_what_was_found(source: WorkspaceTools, root: Path) -> None:
    (root / "long").write_text("x" * 100_000 + "needle" + "y" * 100_000)
    text = await done(source, "file_search", pattern="needle")
    assert text.startswith("long:1: …xxx")
    assert "needleyyy" in text
    assert len(text) < 400


async def test_an_exact_text_is_replaced_once(source: WorkspaceTools, root: Path) -> None:
    assert await done(source, "file_edit", path="src/a.py", old="two\n", new="2\n") == "src/a.py: replaced once."
    assert (root / "src/a.py").read_text() == "one\n2\nthree\n"
    assert "is not in" in await refused(source, "file_edit", path="src/a.py", old="four", new="4")
    assert "2 times" in await refused(source, "file_edit", path="src/deep/b.py", old="two", new="2")
    assert (root / "src/deep/b.py").read_text() == "two times two\n"
    assert "replaced 2 times" in await done(source, "file_edit", path="src/deep/b.py", old="two", new="2", all=True)
    assert "same text" in await refused(source, "file_edit", path="src/a.py", old="one", new="one")


async def test_line_ends_of_other_systems_stay(source: WorkspaceTools, root: Path) -> None:
    (root / "dos.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    await done(source, "file_edit", path="dos.txt", old="a\nb", new="x\ny")
    assert (root / "dos.txt").read_bytes() == b"x\r\ny\r\nc\r\n"


async def test_a_file_is_written_with_its_folders_and_stays_executable(source: WorkspaceTools, root: Path) -> None:
    assert await done(source, "file_write", path="new/deep/x.txt", content="ö") == "new/deep/x.txt: written, 2 bytes."
    assert (root / "new/deep/x.txt").read_text() == "ö"
    (root / "run.sh").write_text("old")
    (root / "run.sh").chmod(0o755)
    assert "replaced" in await done(source, "file_write", path="run.sh", content="new")
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o755


OUTSIDE = [
    "",
    ".",
    "/etc/passwd",
    "/proc/self/cwd/notes.md",
    "/dev/fd/0",
    "~/x",
    "..",
    "../work-sibling/x",
    "src/../../work-sibling/x",
    "a\0b",
    "x" * 5000,
    "a/" + "y" * 256,
    "\ud800",
    ".git/config",
    ".GIT/config",
    ".g\u200bit/config",
    ".WorkFlow/moot.db",
    "src/.git/hooks/pre-commit",
    ".workflow/moot.db",
]


@pytest.mark.parametrize("path", OUTSIDE)
async def test_no_path_leads_out(source: WorkspaceTools, root: Path, path: str) -> None:
    for name, more in (("file_read", {}), ("file_write", {"content": "x"}), ("file_edit", {"old": "o", "new": "n"})):
        text = await refused(source, name, path=path, **more)
        assert text.startswith("PATH_REFUSED"), text
    assert (root.parent / "work-sibling/x").read_text() == "two outside\n"


@pytest.mark.parametrize("path", ["%2e%2e/work-sibling/x", "..%2fx", "src\\..\\x"])
async def test_an_encoded_path_is_a_name_like_others(source: WorkspaceTools, path: str) -> None:
    assert "no such file" in await refused(source, "file_read", path=path)


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "src/../../*", ".git/*"])
async def test_no_pattern_leads_out(source: WorkspaceTools, pattern: str) -> None:
    assert (await refused(source, "file_list", pattern=pattern)).startswith("PATH_REFUSED")
    assert (await refused(source, "file_search", pattern="x", glob=pattern)).startswith("PATH_REFUSED")


async def test_patterns_of_everything_show_nothing_of_git_and_moot(source: WorkspaceTools) -> None:
    text = await done(source, "file_list", pattern="**")
    assert ".git" not in text
    assert ".workflow" not in text


@pytest.mark.parametrize(
    "path",
    [
        *("CLAUDE.md", "src/Agents.MD", ".claude/settings.json", ".mcp.json", ".moot/config.yaml", ".MOOT/config.yaml"),
        *(".github/copilot-instructions.md", ".github/Instructions/a.md", ".windsurfrules", ".aider.conf.yml"),
        *("flow.yaml", "agents/Own.md"),
    ],
)
async def test_what_agents_take_orders_from_is_read_but_not_changed(
    source: WorkspaceTools, root: Path, path: str
) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("be kind")
    assert await done(source, "file_read", path=path) == "be kind"
    assert "take their orders" in await refused(source, "file_write", path=path, content="be evil")
    assert "take their orders" in await refused(source, "file_edit", path=path, old="kind", new="evil")
    assert (root / path).read_text() == "be kind"


async def test_links_second_names_and_pipes_are_neither_read_nor_written(source: WorkspaceTools, root: Path) -> None:
    outside = root.parent / "work-sibling"
    (root / "leaf").symlink_to(outside / "x")
    (root / "parent").symlink_to(outside)
    (outside / "y").write_text("outside, too\n")
    os.link(outside / "y", root / "second")
    os.mkfifo(root / "pipe")
    (root / "here").symlink_to("/proc/self/cwd")
    (root / "top").symlink_to("/proc/self/root")
    for path in ("leaf", "parent/x", "second", "pipe", "src", "here/x", f"top{outside}/x"):
        for name, more in (
            ("file_read", {}),
            ("file_write", {"content": "x"}),
            ("file_edit", {"old": "o", "new": "n"}),
        ):
            text = await refused(source, name, path=path, **more)
            assert text.startswith("FILE_REFUSED"), text
    assert [one.read_text() for one in (outside / "x", outside / "y")] == ["two outside\n", "outside, too\n"]
    assert (root / "leaf").is_symlink()
    assert sorted(os.listdir(outside)) == ["x", "y"]


@contextmanager
def repeating(act: Callable[[], None]) -> Generator[None]:
    """Somebody does this over and over in the block."""
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.is_set():
            act()

    acting = threading.Thread(target=repeat)
    acting.start()
    try:
        yield
    finally:
        is_over.set()
        acting.join()


async def test_a_link_swapped_in_for_a_folder_is_never_followed(source: WorkspaceTools, root: Path) -> None:
    outside = root.parent / "work-sibling"
    (outside / "a.py").write_text("secret")

    def swap() -> None:
        (root / "src").rename(root / "real")
        (root / "src").symlink_to(outside)
        (root / "src").unlink()
        (root / "real").rename(root / "src")

    with repeating(swap):
        for _ in range(300):
            assert "secret" not in (await call(source, "file_read", path="src/a.py")).text


async def test_a_link_swapped_in_for_a_file_is_never_followed(source: WorkspaceTools, root: Path) -> None:
    outside = root.parent / "work-sibling/x"

    def swap() -> None:
        (root / "link").symlink_to(outside)
        (root / "link").rename(root / "src/a.py")
        (root / "plain").write_text("plain")
        (root / "plain").rename(root / "src/a.py")

    with repeating(swap):
        for number in range(300):
            assert "outside" not in (await call(source, "file_read", path="src/a.py")).text
            await call(source, "file_write", path="src/a.py", content=f"{number}")
    assert outside.read_text() == "two outside\n"


async def test_nothing_is_written_through_a_link_swapped_in_for_a_folder(source: WorkspaceTools, root: Path) -> None:
    outside = root.parent / "work-sibling"

    def swap() -> None:
        """Whoever writes makes the folder anew."""
        for step in (
            lambda: (root / "made").rename(root / "old"),
            lambda: (root / "made").symlink_to(outside),
            lambda: shutil.rmtree(root / "old"),
            (root / "made").unlink,
        ):
            with suppress(OSError):
                step()

    with repeating(swap):
        for number in range(300):
            await call(source, "file_write", path=f"made/new-{number}.py", content="new")
    assert os.listdir(outside) == ["x"]


async def test_a_name_that_is_no_text_is_shown_all_the_same(source: WorkspaceTools, root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.txt")).write_text("two")
    assert "\ufffd.txt" in await done(source, "file_list")
    assert "\ufffd.txt:1: two" in await done(source, "file_search", pattern="two", glob="*.txt")


async def test_wrong_arguments_are_refused_in_words(source: WorkspaceTools) -> None:
    missing = "INVALID_INPUT: Nothing was done: file_read: `path` is missing in the arguments. Add it."
    assert await refused(source, "file_read") == missing
    assert "limit" in await refused(source, "file_read", path="notes.md", limit=-1)
    assert "limit" in await refused(source, "file_read", path="notes.md", limit="50")
    assert "color" in await refused(source, "file_read", path="notes.md", color="red")
    assert "old" in await refused(source, "file_edit", path="notes.md", old="", new="x")


async def test_a_huge_file_is_refused(source: WorkspaceTools, root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(1 << 40)
    assert "larger than" in await refused(source, "file_read", path="huge")


async def test_a_directory_that_is_gone_is_told(source: WorkspaceTools, root: Path) -> None:
    root.rename(root.parent / "elsewhere")
    assert "working directory is gone" in await refused(source, "file_read", path="notes.md")
    root.symlink_to(root.parent / "work-sibling")
    assert (await refused(source, "file_read", path="x")).startswith("FILE_REFUSED")
