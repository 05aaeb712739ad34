"""A browser for all tests of a session, and for each test a project of its own."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from tests.browser import chromium
from tests.browser.theatre import Theatre
from tests.stories.house import House


@pytest.fixture(scope="session")
async def browser(anyio_backend: object) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=chromium.program(), args=chromium.QUIET)
        yield opened
        await opened.close()


@pytest.fixture
def house() -> Iterator[House]:
    with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "project"
        (root / ".moot").mkdir(parents=True)
        (root / "home").mkdir()
        yield House(root)


@pytest.fixture
def theatre(house: House, browser: Browser) -> Theatre:
    return Theatre(house, browser)
