import pytest
from playwright.async_api import expect

from tests.browser import plays
from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser


async def test_the_board_and_the_graph_move_with_the_work(theatre: Theatre) -> None:
    async with theatre.playing(plays.PLAN) as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.goto(shown.home + "#/tasks/graph")
        box = page.locator(".picture g[data-key]")
        await expect(box).to_have_count(4)
        first = box.filter(has_text="first")
        await expect(first).to_have_attribute("data-kind", "verifying")
        await expect(box.filter(has_text="third")).to_have_attribute("data-kind", "blocked")
        await theatre.house.moot("approve")
        await expect(first).to_have_attribute("data-kind", "completed")
        await expect(box.filter(has_text="third")).to_have_attribute("data-kind", "completed")
        await expect(box.filter(has_text="second")).to_have_attribute("data-kind", "failed")

        await page.get_by_role("link", name="Board").click()
        await expect(page.get_by_role("region", name="Done").locator(".task .name")).to_have_text(["third", "first"])
        await expect(page.get_by_role("region", name="Failed")).to_contain_text("the runner was not ready")
        await page.get_by_role("button", name="second").click()
        details = page.get_by_role("complementary", name="One task")
        await expect(details).to_contain_text("Do this then.")
        await expect(details.get_by_role("link", name="first")).to_be_visible()
        await expect(details.get_by_role("link", name="fourth")).to_be_visible()


async def test_a_box_of_the_graph_is_opened_by_keyboard_and_keeps_the_focus(theatre: Theatre) -> None:
    async with theatre.playing(plays.PLAN) as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.goto(shown.home + "#/tasks/graph")
        first = page.locator(".picture g[data-key]").filter(has_text="first")
        await first.focus()
        await first.press("Enter")
        await expect(page.get_by_role("complementary", name="One task").locator("em")).to_have_text("this")
        await first.focus()
        await theatre.house.moot("approve")
        await expect(first).to_have_attribute("data-kind", "completed")
        await expect(first).to_be_focused()
