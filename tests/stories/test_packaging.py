"""The wheel holds all that moot needs: installed by itself, it works from an empty folder."""

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import moot
from tests.cli.terminal import Terminal

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
LOCK = ("-c", str(ROOT / "requirements.lock"))
SECONDS = 110


def call(*argv: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(one) for one in argv], cwd=cwd, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout


def first_that_works(*ways: Sequence[str | Path]) -> None:
    """What is needed comes from uv's store of what was installed before, or else as `make` gets it."""
    failures: list[str] = []
    for way in ways:
        done = subprocess.run(
            [str(one) for one in way], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        if done.returncode == 0:
            return
        failures.append(done.stderr)
    raise AssertionError("\n".join(failures))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "hatchling", "build", "-d", folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment in which nothing is but the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    call(sys.executable, "-m", "venv", "--without-pip", folder)
    uv = (BIN / "uv", "pip", "install", "--python", folder / "bin" / "python", *LOCK, wheel)
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", *LOCK, wheel)
    first_that_works((*uv, "--offline"), uv, pip)
    return folder / "bin"


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A folder of a person who has nothing yet."""
    (tmp_path / "home").mkdir()
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def outside(empty: Path, bytecode: Path) -> dict[str, str]:
    return Terminal(empty.parent, bytecode).env({"PATH": os.defpath})


@pytest.mark.slow
def test_the_wheel_plays_the_demo_from_an_empty_folder(installed: Path, empty: Path, bytecode: Path) -> None:
    env = outside(empty, bytecode)
    said = call(installed / "moot", "demo", cwd=empty, env=env)
    assert "Done: empty passwords are refused, and a test holds it." in said
    assert "done in " in said
    assert call(installed / "python", "-m", "moot", "--version", cwd=empty, env=env) == f"moot {moot.__version__}\n"
    assert call(installed / "agent-worker", "--version", cwd=empty, env=env) == f"agent-worker {moot.__version__}\n"
    assert "One finding, see the notes." in call(installed / "moot", "examples", "run", "review", cwd=empty, env=env)
    where = call(installed / "python", "-c", "import moot; print(moot.__file__)", cwd=empty, env=env)
    assert where.startswith(str(installed.parent))
    assert list(empty.iterdir()) == []


@pytest.mark.slow
def test_uv_installs_it_as_a_tool(wheel: Path, empty: Path, bytecode: Path) -> None:
    folders = {name: str(empty.parent / name) for name in ("UV_TOOL_DIR", "UV_TOOL_BIN_DIR")}
    env = {**os.environ, **folders}
    install = (BIN / "uv", "tool", "install", "--python", sys.executable, wheel)
    try:
        call(*install, "--offline", env=env)
    except AssertionError:  # nothing of it was installed before
        call(*install, env=env)
    tool = empty.parent / "UV_TOOL_BIN_DIR" / "moot"
    assert call(tool, "--version", cwd=empty, env=outside(empty, bytecode)) == f"moot {moot.__version__}\n"


def test_the_wheel_is_typed_and_holds_what_is_read_at_run_time(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    sources = {f"moot/{one.relative_to(ROOT / 'src/moot')}" for one in (ROOT / "src/moot").rglob("*") if one.is_file()}
    wanted = {one for one in sources if "__pycache__" not in one}
    assert wanted - held == set()
    assert "moot/py.typed" in held
    assert any(one.endswith(".sql") for one in wanted)


def test_a_wheel_made_from_the_source_distribution_is_the_same(built: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    unpacked = next(tmp_path.iterdir())
    call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "again", cwd=unpacked)
    again = next((tmp_path / "again").glob("*.whl"))
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())
