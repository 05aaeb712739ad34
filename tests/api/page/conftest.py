"""The page over both databases: its views read in ways that nobody else does."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot.app.project import Project
from moot.store.store import Store
from tests.web import site as sites
from tests.web.site import Browser, Site


@pytest.fixture
async def site(anyio_backend: object, store: Store, tmp_path: Path) -> AsyncIterator[Site]:
    async with sites.serving(store, Project(tmp_path)) as served:
        yield served


@pytest.fixture
async def browser(site: Site) -> AsyncIterator[Browser]:
    async with site.browser() as found:
        yield found
