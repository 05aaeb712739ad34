"""A command that was forked from a loaded process is the same as one that was started."""

import pytest

from tests.cli import nursery
from tests.cli.terminal import Terminal

COMMANDS = ["--help", "list --json", "send @nobody", "no-such", "check w.yaml", "log --limit x"]


@pytest.mark.parametrize("words", COMMANDS)
def test_it_says_and_ends_the_same(terminal: Terminal, words: str) -> None:
    (terminal.folder / "w.yaml").write_text("agents: {ann: {backend: scripted}}\nkickoff: '@ann é'\n", encoding="utf-8")
    started = terminal._run(terminal.argv(*words.split()), b"", None)  # pyright: ignore[reportPrivateUsage]
    assert terminal.run(*words.split()) == started


def test_it_has_its_own_input_environment_and_folder(terminal: Terminal) -> None:
    folder = terminal.folder / "other"
    elsewhere = Terminal(folder, terminal.bytecode, f"sqlite://{folder}/own.db")
    (folder / ".moot").mkdir(parents=True)
    elsewhere.join("ann")
    elsewhere.ok("send", "-", "--to", "ann", stdin="from there: ü".encode())
    assert "from there: ü" in elsewhere.ok("log").out
    assert (folder / "own.db").exists()
    assert not (terminal.folder / ".workflow").exists()


def test_what_matters_before_python_runs_is_not_forked() -> None:
    assert nursery.fits({"MOOT_STORE": "1", "HOME": "2"})
    assert not any(nursery.fits({name: "1"}) for name in ("PYTHONOPTIMIZE", "LC_ALL", "LANG"))
