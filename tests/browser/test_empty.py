"""Where there is nothing to see, the page says what would be there and what to do for it."""

import pytest
from playwright.async_api import Route, expect

from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

NEXT = {
    "": ["Nothing has happened in new yet.", "moot demo", "moot run"],
    "conversation": ["Nothing has been said yet. Say something below; @ calls somebody."],
    "agents": ["Nobody is here yet.", "moot run FILE", "moot mcp"],
    "documents": ["There are no documents yet.", "moot doc edit notes.md", "New document"],
    "proposals": ["Nothing is put to the vote.", "proposal_create"],
    "tasks": ["There is no plan yet.", "moot plan apply FILE"],
    "steps": ["No workflow with steps has been run here.", "moot run FILE"],
    "timeline": ["Nothing was done yet.", "moot trace"],
    "cost": ["Nothing was spent yet.", "budget:"],
}


async def test_every_empty_view_says_what_to_do_next(theatre: Theatre) -> None:
    await theatre.say("ann", "elsewhere")
    async with theatre.showing("--instance", "new") as shown, theatre.visit(shown) as visit:
        for view, words in NEXT.items():
            await visit.page.goto(f"{shown.home}#/{view}")
            for word in words:
                await expect(visit.page.locator("#main")).to_contain_text(word)


async def test_what_is_still_being_loaded_is_not_called_empty(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        held: list[Route] = []
        await page.route("**/api/messages?*", lambda route: held.append(route))  # noqa: PLW0108  # it sets attributes of what it is given
        await page.get_by_role("link", name="Conversation").click()
        await expect(page.get_by_text("Loading messages")).to_be_attached()
        assert await page.locator(".messages .nothing").count() == 0
        for route in held:
            await route.continue_()
        await page.unroute("**/api/messages?*")
        await expect(page.locator(".messages .message .prose")).to_have_text(["hello"])
        await page.get_by_role("combobox", name="Kind").select_option("blocker")
        await expect(page.get_by_text("Nothing of this kind has been said.")).to_be_visible()
