"""A shell completes commands, options and names, quickly and without a word of error."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from moot.cli import program
from tests.cli.terminal import Terminal

# As an interactive bash calls it when TAB is pressed behind these words.
PRESS_TAB = """
eval "$(moot completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_moot_completion moot
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def shell(terminal: Terminal) -> Terminal:
    """A project with a workflow and somebody in it, and a program called moot."""
    (terminal.folder / ".moot" / "workflows").mkdir()
    (terminal.folder / ".moot" / "workflows" / "nightly.yaml").write_text("name: nightly\n")
    (terminal.folder / ".moot" / "agents").mkdir()
    (terminal.folder / ".moot" / "agents" / "critic.md").write_text("---\nmodel: sonnet\n---\n")
    terminal.join("reviewer", instance="night")
    binaries = terminal.folder / "bin"
    binaries.mkdir()
    (binaries / "moot").symlink_to(Path(sys.executable).with_name("moot"))
    return terminal


def tab(terminal: Terminal, *words: str) -> list[str]:
    """What is offered for the last of the words."""
    env = terminal.env({"PATH": f"{terminal.folder / 'bin'}:{terminal.env()['PATH']}"})
    done = subprocess.run(
        ["bash", "--norc", "-c", PRESS_TAB, "tab", *words],
        cwd=terminal.folder, env=env, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["moot", "exa"], ["examples"]),
        (["moot", "--ver"], ["--version"]),
        (["moot", "run", "night"], ["nightly"]),
        (["moot", "run", "nightly", "--permissions", "re"], ["read-only"]),
        (["moot", "ask", "c"], ["critic"]),
        (["moot", "send", "--to", "r"], ["reviewer"]),
        (["moot", "log", "--instance", "n"], ["night"]),
        (["moot", "examples", "show", "rou"], ["router"]),
        (["moot", "nonsense", "x"], []),
    ],
    ids=" ".join,
)
def test_tab_offers_what_fits(shell: Terminal, words: list[str], offered: list[str]) -> None:
    assert tab(shell, *words) == offered


def test_without_a_store_and_with_a_broken_one_nothing_is_offered(terminal: Terminal, shell: Terminal) -> None:
    (shell.folder / ".workflow" / "moot.db").write_bytes(b"no database at all" * 500)
    assert tab(shell, "moot", "send", "--to", "r") == []
    shutil.rmtree(shell.folder / ".workflow")
    assert tab(shell, "moot", "send", "--to", "r") == []
    assert not (shell.folder / ".workflow").exists()


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_own_lines_and_is_told_where_they_go(terminal: Terminal, name: str) -> None:
    out = terminal.ok("completion", name).out
    assert out.startswith("# ")
    assert f"_MOOT_COMPLETE={name}_complete" in out
    assert terminal.ok("completion", env={"SHELL": f"/usr/bin/{name}"}).out == out
    if shutil.which(name):
        subprocess.run([name, "-n"], input=out, text=True, check=True, timeout=60)


def test_another_shell_is_named_as_unknown(terminal: Terminal) -> None:
    ended = terminal.run("completion", env={"SHELL": "/bin/tcsh"})
    assert (ended.code, ended.out) == (2, "")
    assert "SHELL_UNKNOWN" in ended.err


def test_commands_are_offered_without_importing_them(terminal: Terminal) -> None:
    code = (
        "import os, sys\n"
        "os.environ |= {'_MOOT_COMPLETE': 'bash_complete', 'COMP_WORDS': 'moot s', 'COMP_CWORD': '1'}\n"
        "from moot.cli.main import run\n"
        "run(['moot'])\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    ended = terminal.python(code)
    assert "plain,send" in ended.out
    loaded = set(ended.err.split())
    assert "moot.cli.program" in loaded
    assert not loaded & {*program.MODULES.values(), "asyncio", "apsw"}
