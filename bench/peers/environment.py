"""The environment of the peers: made on demand, kept beside the sources, and no part of moot's own."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent
FOLDER = _ROOT / ".bench-peers"
REQUIREMENTS = Path(__file__).parent / "requirements.txt"
_SECONDS = 300.0  # without a network, installers try for a while
_LAST = 200  # letters of what an installer says


class PeersAbsent(Exception):
    """There is no environment for them, and none can be made here."""


def python(folder: Path = FOLDER, requirements: Path = REQUIREMENTS) -> Path:
    """The interpreter of the environment. Raises PeersAbsent, with the reason."""
    found = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp, wanted = folder / "installed", _wanted(requirements)
    if found.exists() and stamp.exists() and stamp.read_text() == wanted:
        return found
    print(f"Installing the peers into {folder.name}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _run(sys.executable, "-m", "venv", str(folder))
        _install(found, requirements)
    except PeersAbsent:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    stamp.write_text(wanted)
    return found


def _wanted(requirements: Path) -> str:
    return hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()


def _install(python: Path, requirements: Path) -> None:
    """Like moot itself: uv is quicker, and pip may know the way to the package index where uv does not."""
    uv = Path(sys.executable).with_name("uv")
    try:
        _run(str(uv), "pip", "install", "--quiet", "--python", str(python), "-r", str(requirements))
    except PeersAbsent:
        _run(str(python), "-m", "pip", "install", "--quiet", "-r", str(requirements))


def _run(*command: str) -> None:
    environ = {"UV_SYSTEM_CERTS": "true", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **os.environ}
    try:
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeersAbsent(str(error)[:_LAST]) from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"{command[0]} ended with {done.returncode}"]
        raise PeersAbsent(lines[-1].strip()[:_LAST])
