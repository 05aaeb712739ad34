"""Commands reach what they need and nothing else. Every try is that of a real process, against a home that is ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from moot.core.permissions import PRESETS
from moot.process import confinement
from moot.process.guardian import Guardian
from moot.session.workspace import border, place
from moot.session.workspace.tools import WorkspaceTools
from tests.session.workspace.desk import Person, call, done, refused, tools

can_confine = pytest.mark.skipif(confinement.reach() == "unconfined", reason="this kernel has no Landlock of Linux 6.2")
can_cover = pytest.mark.skipif(confinement.reach() != "confined", reason="this system grants no mounts of one's own")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "me"
    (found / ".ssh").mkdir(parents=True)
    (found / ".ssh/id").write_text("the key")
    (found / ".bashrc").write_text("as it was\n")
    (found / ".gitconfig").write_text("[user]\n  name = Ana\n  email = ana@example.org\n")
    monkeypatch.setenv("HOME", str(found))
    return found


@pytest.fixture
def root(tmp_path: Path, home: Path) -> Path:
    """In the home, as most are."""
    found = home / "work"
    found.mkdir()
    (found / "mine").write_text("mine")
    return found


@pytest.fixture
def source(root: Path) -> WorkspaceTools:
    return tools(root)


def content(folder: Path, without: Path) -> dict[str, str]:
    files = (one for one in folder.rglob("*") if one != without and without not in one.parents)
    return {str(one): one.read_text() if one.is_file() else "" for one in files}


PYTHON = f"{sys.executable} -c"
OUTSIDE = [
    "echo x >> ~/.bashrc",
    "echo x > ~/new",
    "rm ~/.bashrc",
    "mkdir ~/folder",
    "mkfifo ~/pipe",
    "ln -s /etc ~/link",
    "ln -s ~/.bashrc out; echo x > out",
    "ln -s ~ out; echo x > out/.bashrc",
    "ln ~/.bashrc second && echo x > second",
    "ln mine ~/second",
    "mv mine ~/moved",
    "mv ~/.bashrc moved",
    "mv ~/.ssh moved",
    "cp mine ~/.bashrc",
    f"{PYTHON} 'import os; os.truncate(os.path.expanduser(\"~/.bashrc\"), 0)'",
    f'{PYTHON} \'import os; os.rename("mine", os.path.expanduser("~/.bashrc"))\'',
    "echo x > ../new",
    "echo x > /proc/self/cwd/../.bashrc",
    "echo x > /proc/self/root$HOME/.bashrc",
    'sh -c "sh -c \\"echo x >> ~/.bashrc\\""',
    "setsid sh -c 'echo x >> ~/.bashrc' & wait $!",
    "env -i HOME=$HOME PATH=$PATH sh -c 'echo x >> ~/.bashrc'",
]


@can_confine
@pytest.mark.parametrize("command", OUTSIDE)
async def test_nothing_is_changed_outside(source: WorkspaceTools, home: Path, root: Path, command: str) -> None:
    before = content(home, without=root)
    await refused(source, "shell", command=command)
    assert content(home, without=root) == before


@pytest.mark.parametrize("command", OUTSIDE)
async def test_each_of_these_tries_would_change_something(
    source: WorkspaceTools, home: Path, root: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(confinement.SETTING, "unconfined")
    before = content(home, without=root)
    await call(source, "shell", command=command)
    assert content(home, without=root) != before


WAITING = """
env -i HOME="$HOME" PATH="$PATH" setsid sh -c '
    echo ready > ready
    read go < begin
    if echo x 2>/dev/null >> ~/.bashrc; then echo written > told; else echo refused > told; fi' > /dev/null 2>&1 &
read is_ready < ready
"""


@can_confine
async def test_who_outlives_the_command_stays_confined(home: Path, root: Path) -> None:
    """It has thrown away the mark by which it would be found and ended."""
    for name in ("ready", "begin", "told"):
        os.mkfifo(root / name)
    await done(tools(root), "shell", command=WAITING)
    (root / "begin").write_text("go\n")  # waits until it reads
    assert (root / "told").read_text() == "refused\n"
    assert (home / ".bashrc").read_text() == "as it was\n"


@can_confine
async def test_rights_of_a_file_are_not_held_back(source: WorkspaceTools, home: Path) -> None:
    """Landlock knows no rule for them; the documentation says so."""
    await done(source, "shell", command="chmod 600 ~/.bashrc")
    assert (home / ".bashrc").stat().st_mode & 0o777 == 0o600


@can_confine
async def test_of_the_home_only_programs_are_read(
    source: WorkspaceTools, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = home / "opt/tool"
    (tool / "bin").mkdir(parents=True)
    (tool / "lib").mkdir()
    (tool / "lib/words").write_text("from the library\n")
    (tool / "login").write_text("a token\n")
    (tool / "bin/hello").write_text('#!/bin/sh\ncat "$(dirname "$0")/../lib/words"\n')
    (tool / "bin/hello").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool / 'bin'}:{home}:{os.environ['PATH']}")
    assert await done(source, "shell", command="hello; cat mine") == "from the library\nmine\nexit code 0"
    (home.parent / "alias").symlink_to(home)
    for path in ("~/.ssh/id", "~/.bashrc", "~/opt/tool/login", home.parent / "alias/.ssh/id"):
        assert "Permission denied" in await refused(source, "shell", command=f"cat {path}")


@pytest.mark.parametrize(("home", "closed"), [("/home/ana", "/home"), ("/root", "/root"), ("/srv/ana", "/srv/ana")])
def test_the_homes_of_others_are_closed_too(home: str, closed: str) -> None:
    found = border.around(Path("/srv/work"), Path("/tmp/x"), {"HOME": home, "PATH": "/home/brew/bin:/usr/bin"})
    assert found.closed == (Path(closed),)
    assert (Path("/home/brew/bin") in found.read) == (closed == "/home")
    assert Path("/usr/bin") not in found.read


@can_confine
async def test_other_processes_are_not_looked_into(source: WorkspaceTools) -> None:
    assert "Permission denied" in await refused(source, "shell", command="cat /proc/$PPID/environ")
    assert "HOME" in await done(source, "shell", command="cat /proc/self/environ | tr '\\0' '\\n'")


@can_cover
async def test_moots_own_files_in_the_directory_are_kept(source: WorkspaceTools, root: Path) -> None:
    for name in (".workflow", ".moot"):
        (root / name).mkdir()
        (root / name / "file").write_text("ours\n")
    assert await done(source, "shell", command="ls .workflow; cat .moot/file") == "ours\nexit code 0"
    for command in ("echo x > .workflow/new", "echo x > .moot/file", "mv .moot old", "rm -r .workflow", "umount .moot"):
        await refused(source, "shell", command=command)
    assert [(root / name / "file").read_text() for name in (".workflow", ".moot")] == ["ours\n"] * 2


@can_confine
async def test_who_works_in_a_folder_of_the_store_does_not_read_the_store(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / ".workflow/moot.private/at_1"
    folder.mkdir(parents=True)
    (tmp_path / ".workflow/moot.db").write_text("the store")
    await done(tools(folder), "shell", command="echo x > new; cat new")
    assert "Permission denied" in await refused(tools(folder), "shell", command="cat ../../moot.db")


ORDINARY = [
    "git init -q . && git add mine && git commit -qm first && git log --format=%an | grep Ana",
    "mkdir -p a/b && mv mine a/b/ && ln a/b/mine second && rm -r a && cat second",
    'file=$(mktemp) && echo x > "$file" && cat "$file" > /dev/null && rm "$file"',
    f"{PYTHON} 'import multiprocessing as m; m.Lock(); m.Queue().close()'",
    f"{PYTHON} 'import tempfile; tempfile.TemporaryFile()'",
    "echo told > /dev/stderr && cat <<here > said\nwords\nhere\ngrep words said",
    "printf 'all:\\n\\techo made > made\\n' > Makefile && make -s && cat made",
    "(yes; echo $? > ended) | head -1; grep 141 ended",
    "sh -c 'kill -PIPE $$'; [ $? = 141 ]",
    "sleep 100 & kill $!",
]


@can_confine
@pytest.mark.parametrize("command", ORDINARY)
async def test_ordinary_commands_work(source: WorkspaceTools, command: str) -> None:
    await done(source, "shell", command=command)


@can_confine
async def test_temporary_files_last_from_command_to_command_and_are_gone_in_the_end(root: Path) -> None:
    with Guardian() as guardian:
        source = WorkspaceTools(place.at(root, guardian), ("shell",), PRESETS["full"], Person())
        await done(source, "shell", command='echo x > "$TMPDIR/kept"; pwd > where; echo "$TMPDIR" > where')
        await done(source, "shell", command='cat "$TMPDIR/kept"; mkdir -p "$XDG_CACHE_HOME/a"')
        folder = Path((root / "where").read_text().strip())
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


@can_confine
def test_what_cannot_be_confined_is_not_run(root: Path) -> None:
    confined = confinement.Confinement(write=(root / "none",)).around(("/bin/sh", "-c", "echo x > new"))
    assert subprocess.run(confined, cwd=root, stderr=subprocess.DEVNULL, check=False).returncode == 126
    assert not (root / "new").exists()


@pytest.mark.usefixtures("without_landlock")
async def test_where_nothing_can_be_confined_a_person_looks_at_each_command(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = await refused(tools(root), "shell", command="echo x > new")
    assert text.startswith("NOT_CONFINED: Commands cannot be confined")
    assert not (root / "new").exists()
    person = Person()
    await done(tools(root, permissions=PRESETS["ask"], person=person), "shell", command="echo x > new")
    assert len(person.asked) == 1
    monkeypatch.setenv(confinement.SETTING, "unconfined")
    await done(tools(root), "shell", command="rm new")
