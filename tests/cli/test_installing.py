"""The programs that come with the package are there once it is installed, by pip and by uv."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ("moot", "agent-worker", "team_mailbox.sh", "team_control.sh")


def run(*words: str, **env: str) -> str:
    done = subprocess.run(
        words, cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    (found,) = folder.glob("*.whl")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_all_programs_are_installed_and_run(wheel: Path, tmp_path: Path, installer: str) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    python = str(tmp_path / "venv/bin/python")
    if installer == "pip":
        run(
            sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", str(wheel)
        )
    else:
        run(sys.executable, "-m", "uv", "pip", "install", "--offline", "--no-deps", "--python", python, str(wheel))
    libraries = sysconfig.get_paths()["purelib"]  # what moot needs is there already
    for name in PROGRAMS:
        told = run(str(tmp_path / "venv/bin" / name), "--help", PYTHONPATH=libraries)
        assert told.startswith(f"Usage: {name}"), told
