import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(bytecode: Path) -> Iterator[Terminal]:
    """A terminal in the empty folder of a reader, who has no settings yet."""
    with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        (root / "home").mkdir()
        yield Terminal(root, bytecode)
