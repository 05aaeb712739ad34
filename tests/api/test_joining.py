"""Who finds no host becomes one, unless somebody else does at that moment."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.api import joining
from moot.app import hosting
from moot.app.project import Project
from moot.app.stores import open_store


@pytest.fixture
def project() -> Iterator[Project]:
    """Not pytest's folder, whose path is too long for a socket."""
    with tempfile.TemporaryDirectory(prefix="moot-") as folder:
        found = Project(Path(folder))
        found.make_folder()
        yield found


async def test_who_is_slower_than_another_host_lives_with_that(project: Project) -> None:
    store = open_store(project.store_url(None), create=True)
    try:
        async with hosting.hosting(project, store) as other, joining.substitute(project, store) as take_over:
            assert other.address.socket == project.socket
            await take_over()
    finally:
        await store.close()
