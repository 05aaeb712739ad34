from pathlib import Path

import pytest
from playwright.async_api import expect

from moot.api import demo
from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

DEMO = str(Path(demo.__file__).with_name("demo.yaml"))


async def test_the_demo_is_seen_from_its_first_word_to_its_last(theatre: Theatre) -> None:
    await theatre.say("ann", "elsewhere", instance="other")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        await expect(page.get_by_text("Nothing has happened in default yet.")).to_be_visible()
        played = await theatre.house.start("run", DEMO)
        try:
            roster = page.get_by_role("region", name="Who works on what")
            await expect(roster.get_by_role("listitem").filter(has_text="coder")).to_contain_text("running")
            last = page.locator(".messages .message").filter(has_text="Done: empty passwords are refused")
            await expect(last).to_be_visible()
            await expect(page.locator(".run .state")).to_have_text("done")
        finally:
            await theatre.house.end(played)
        said = [one["message"] for one in await theatre.house.json("log")]
        await expect(page.locator(".messages .message .prose")).to_have_count(len(said))
        await page.get_by_role("link", name="Timeline").click()
        await expect(page.get_by_role("row").filter(has_text="the test runner was not ready")).to_have_count(1)
        await page.get_by_role("link", name="Documents").click()
        await expect(page.locator(".document .prose li")).to_contain_text("test_login.py holds it")
