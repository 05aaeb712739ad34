"""How much CPU does a command need before it does anything, in units of `python -c pass`?"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.harness import Figure, Scale, interleaved, millis

CLAUDE = "@anthropic-ai/claude-code@2.1.325"
# What was compiled once stays compiled, as it does for whoever uses it: else compiling is what is measured.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure(scale: Scale, folder: Path) -> list[Figure]:
    moot = str(Path(sys.executable).with_name("moot"))
    subprocess.run([moot, "send", "hello"], cwd=folder, capture_output=True, timeout=60, check=False)
    sides = {
        "python": cpu([sys.executable, "-c", "pass"], folder),
        "help": cpu([moot, "--help"], folder),
        "list": cpu([moot, "list"], folder),
    }
    claude = find_claude(folder)
    if claude is not None:
        sides["claude"] = cpu([claude, "--version"], folder)
    rounds = interleaved(Scale(rounds=7 if scale.is_quick else 25, longest=scale.longest), **sides)

    def figure(command: str, side: str, bar: float) -> Figure:
        facts = [f"{millis(rounds.middle(side))} against {millis(rounds.middle('python'))}; {rounds.count} rounds"]
        if claude is not None:
            facts.append(f"claude --version: {rounds.ratio('claude', 'python'):.1f}x")
        return Figure(
            f"CPU of {command}, times python -c pass", rounds.ratio(side, "python"), bar, "at most", (*facts,)
        )

    return [figure("moot --help", "help", 6), figure("moot list", "list", 10)]


def find_claude(folder: Path) -> str | None:
    """The program people start beside ours: the one that is here, else one from npm for the time of the bench."""
    npm = shutil.which("npm")
    if (found := shutil.which("claude")) is not None or npm is None:
        return found
    quiet = subprocess.DEVNULL
    install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder / "npm"), CLAUDE]
    subprocess.run(install, stdin=quiet, stdout=quiet, stderr=quiet, timeout=300, check=False)
    return shutil.which("claude", path=str(folder / "npm" / "node_modules" / ".bin"))


def cpu(command: list[str], folder: Path) -> Callable[[], float]:
    """User and system seconds of the command and its children."""

    def measured() -> float:
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(
            command, cwd=folder, env=_ENVIRONMENT, stdin=quiet, stdout=quiet, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed: {said.decode(errors='replace')}")
        return usage.ru_utime + usage.ru_stime

    return measured
