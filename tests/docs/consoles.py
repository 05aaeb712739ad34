"""Consoles of the documentation: commands typed behind `$`, and what a reader is shown.

Times, durations and ids may differ; a line of three dots stands for any lines. `exit code N` stands behind a command
that did not end with 0.
"""

import re
import subprocess
import sys
from pathlib import Path

from tests.cli.terminal import Terminal

SECONDS = 100
_DIFFERENT = re.compile(r"\b\d\d:\d\d:\d\d\b|\b\d+(?:\.\d+)?(?= s\b)|(?<=_)[0-9a-z]{20}\b")
ANY = "..."


def play(terminal: Terminal, shown: str) -> None:
    """Type each command, and compare."""
    for one in re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]:
        command, _, wanted = one.partition("\n")
        said = _type(terminal, command)
        assert is_as_shown(said, wanted), f"$ {command}\n{said}"


def is_as_shown(said: str, wanted: str) -> bool:
    return _matches(_lines(said), _lines(wanted))


def _type(terminal: Terminal, command: str) -> str:
    binaries = terminal.folder / "home" / "bin"
    if not binaries.exists():
        binaries.mkdir()
        (binaries / "moot").symlink_to(Path(sys.executable).with_name("moot"))
    env = terminal.env({"PATH": f"{binaries}:{terminal.env()['PATH']}", "NO_COLOR": "1"})
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=terminal.folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    return done.stdout + (f"exit code {done.returncode}\n" if done.returncode else "")


def _lines(text: str) -> list[str]:
    return [_DIFFERENT.sub("#", line.rstrip()) for line in text.rstrip("\n").splitlines()]


def _matches(said: list[str], wanted: list[str]) -> bool:
    if not wanted:
        return not said
    if wanted[0] == ANY:
        return any(_matches(said[at:], wanted[1:]) for at in range(len(said) + 1))
    return bool(said) and said[0] == wanted[0] and _matches(said[1:], wanted[1:])
