"""A page of a project. What it shows is tested on both databases beside what makes it; how it is served depends on
neither, and is tried on PostgreSQL when there is time."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot.app.project import Project
from moot.store.store import Store
from tests.web import site as sites
from tests.web.site import Browser, Site


@pytest.fixture(params=["sqlite_store", pytest.param("pg_store", marks=pytest.mark.chaos)])
def store(request: pytest.FixtureRequest) -> Store:
    return request.getfixturevalue(request.param)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
async def site(anyio_backend: object, store: Store, project: Project) -> AsyncIterator[Site]:
    async with sites.serving(store, project) as served:
        yield served


@pytest.fixture
async def browser(site: Site) -> AsyncIterator[Browser]:
    """The person's."""
    async with site.browser() as found:
        yield found


@pytest.fixture
async def watcher(site: Site) -> AsyncIterator[Browser]:
    """Of somebody who came by a link for those who only watch."""
    async with site.browser("observer") as found:
        yield found
