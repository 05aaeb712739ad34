"""Pictures of the live page, made from the page itself while scripted agents work: `make screenshots`.

`docs/page.png` and `docs/tasks.png` stand in the documentation. With a folder, every view goes there, wide and narrow,
light and dark, and empty: those are for looking at.
"""

import asyncio
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from playwright.async_api import Page, async_playwright, expect

from tests.browser import chromium
from tests.browser.theatre import SIZES, Theatre
from tests.stories.house import House

ROOT = Path(__file__).resolve().parent.parent
SCENE = (ROOT / "scripts" / "scene.yaml").read_text()
EMPTY = {
    name: name for name in ("conversation", "agents", "documents", "proposals", "tasks", "steps", "timeline", "cost")
}
VIEWS = {
    **EMPTY,
    "agent": "agents/coder",
    "history": "documents/notes.md/history",
    "edit": "documents/notes.md/edit",
    "graph": "tasks/graph",
}
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


async def main(folder: Path | None) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium.program(), args=chromium.QUIET)
        with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as place:
            theatre = Theatre(_house(Path(place)), browser)
            await _played(theatre, folder)
            if folder is not None:
                await _empty(theatre, folder / "empty")
        await browser.close()


def _house(root: Path) -> House:
    (root / ".moot").mkdir(parents=True)
    (root / "home").mkdir()
    return House(root)


async def _played(theatre: Theatre, folder: Path | None) -> None:
    async with theatre.playing(SCENE) as shown, theatre.visit(shown) as visit:
        page = visit.page
        await expect(page.locator(".need")).to_have_count(5)
        await expect(page.locator(".messages .message").filter(has_text="Left: the release note")).to_be_visible()
        await _answer(page)
        await page.set_viewport_size({"width": 1280, "height": 940})
        await page.screenshot(path=ROOT / "docs" / "page.png")
        await page.goto(f"{shown.home}#/tasks/graph")
        await expect(page.locator(".picture svg")).to_be_visible()
        await page.screenshot(path=ROOT / "docs" / "tasks.png", clip={"x": 0, "y": 0, "width": 1280, "height": 430})
        if folder is not None:
            await _every(page, shown.home, VIEWS, folder)


async def _answer(page: Page) -> None:
    """What would stand in front of the rest."""
    await page.get_by_role("button", name="I have read it").click()
    question = page.locator(".need").filter(has_text="Release 2 files today?")
    await question.get_by_role("textbox").fill("yes")
    await question.get_by_role("button", name="Answer").click()
    await expect(page.locator(".need")).to_have_count(3)
    await expect(page.get_by_role("status").filter(has_text="Answered")).to_have_count(0)


async def _empty(theatre: Theatre, folder: Path) -> None:
    async with theatre.showing("--instance", "empty") as shown, theatre.visit(shown) as visit:
        await _every(visit.page, shown.home, EMPTY, folder)


async def _every(page: Page, home: str, views: Mapping[str, str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for size, (width, height) in SIZES.items():
        await page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            for name, place in {"overview": "", **views}.items():
                await page.goto(f"{home}#/{place}")
                await expect(page.locator(".tab")).to_be_visible()
                await page.wait_for_load_state("networkidle")
                await page.screenshot(path=folder / f"{name}-{size}-{scheme}.png")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
