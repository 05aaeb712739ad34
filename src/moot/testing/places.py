"""Places for one test: a project with a store of its own, gone afterwards."""

import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from moot.api.meeting import Meeting, connect
from moot.app.project import PEOPLE_FOLDER, Project


@contextmanager
def project(files: Mapping[str, str] | None = None) -> Generator[Path]:
    """The folder of a project in which nothing is but these files, by their paths: `moot.run(…, folder=it)`."""
    with tempfile.TemporaryDirectory(prefix="moot-test-") as folder:
        root = Path(folder).resolve()
        (root / PEOPLE_FOLDER).mkdir()  # whatever lies above is another project
        for name, text in (files or {}).items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        yield root


@asynccontextmanager
async def meeting(files: Mapping[str, str] | None = None, *, instance: str | None = None) -> AsyncGenerator[Meeting]:
    """A connection to the store of such a project: `await m.run(…)` runs a workflow there."""
    with project(files) as folder:
        async with connect(folder, instance=instance, store=Project(folder).own_store_url) as opened:
            yield opened
