"""What can be checked of accessibility without people: the rules of axe on every view, and the way by keyboard."""

from importlib import resources
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser import plays
from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

AXE = resources.files("axe_playwright_python") / "axe.min.js"
VIEWS = (
    "",
    "conversation",
    "agents",
    "agents/coder",
    "documents",
    "documents/notes.md/history",
    "documents/notes.md/edit",
    "proposals",
    "tasks",
    "tasks/graph",
    "steps",
    "timeline",
    "cost",
)
# What is there only when all of a view is.
MARKS = {
    "agents/coder": ".attempts",
    "documents/notes.md/history": ".diff",
    "documents/notes.md/edit": ".editor",
    "tasks": ".board",
    "tasks/graph": ".picture svg",
    "timeline": ".lanes",
    "cost": ".chart",
}


async def complaints(page: Page) -> list[str]:
    await page.evaluate(AXE.read_text())
    found: dict[str, Any] = await page.evaluate("axe.run()")
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


@pytest.mark.parametrize(("size", "dark"), [("wide", False), ("wide", True), ("narrow", False)])
async def test_no_view_breaks_a_rule(theatre: Theatre, size: str, dark: bool) -> None:
    play = f"{plays.RELEASE}together: true\n{plays.PLAN[plays.PLAN.index('tasks:') :]}"
    async with theatre.playing(play) as shown, theatre.visit(shown, size=size, dark=dark) as visit:
        page = visit.page
        await page.emulate_media(reduced_motion="reduce", color_scheme="dark" if dark else "light")
        await expect(page.locator(".need")).not_to_have_count(0)
        for view in VIEWS:
            await page.goto(f"{shown.home}#/{view}")
            await expect(page.locator(MARKS.get(view, ".tab"))).to_be_visible()
            assert await complaints(page) == [], view


async def test_an_empty_page_and_its_dialogs_break_no_rule(theatre: Theatre) -> None:
    await theatre.say("ann", "elsewhere")
    async with theatre.showing("--instance", "new") as shown, theatre.visit(shown) as visit:
        page = visit.page
        for view in VIEWS[:3] + VIEWS[4:5] + VIEWS[7:]:
            await page.goto(f"{shown.home}#/{view}")
            await expect(page.locator(".tab")).to_be_visible()
            assert await complaints(page) == [], view
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        assert await complaints(page) == []


async def test_every_view_is_reached_by_its_key_and_keys_can_be_switched_off(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        title = page.get_by_role("heading", level=1)
        names = ["Overview", "Conversation", "Agents", "Documents", "Proposals", "Tasks", "Steps", "Timeline", "Cost"]
        for number, name in reversed(list(enumerate(names, 1))):
            await page.keyboard.press(str(number))
            await expect(title).to_have_text(name)
        await page.keyboard.press("c")
        await expect(page.get_by_role("textbox", name="Message")).to_be_focused()
        await page.keyboard.type("12?")
        await expect(page.get_by_role("textbox", name="Message")).to_have_value("12?")
        await title.focus()
        await page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keys")
        await keys.get_by_role("checkbox", name="Take these keys").uncheck()
        await keys.get_by_role("button", name="Close").click()
        await title.focus()
        await page.keyboard.press("3")
        await page.keyboard.press("?")
        await expect(keys).to_be_visible()
        await expect(title).to_have_text("Overview")


async def test_the_focus_stays_where_it_is_while_things_happen(theatre: Theatre) -> None:
    async with theatre.playing(plays.RELEASE) as shown, theatre.visit(shown) as visit:
        page = visit.page
        note = page.locator(".need").filter(has_text="Run the tests").get_by_role("textbox")
        await note.fill("half a tho")
        await theatre.say("lead", "something new")
        await expect(page.locator(".messages .message").filter(has_text="something new")).to_be_visible()
        await expect(page.locator(".need").filter(has_text="How do users log in?")).to_be_visible()
        await page.keyboard.type("ught")
        await expect(note).to_have_value("half a thought")
        await expect(note).to_be_focused()


async def test_who_has_answered_goes_on_with_the_next(theatre: Theatre) -> None:
    async with theatre.playing(plays.RELEASE) as shown, theatre.visit(shown) as visit:
        page = visit.page
        await expect(page.locator(".need")).to_have_count(4)
        approve = page.get_by_role("button", name="Approve")
        await approve.focus()
        await page.keyboard.press("Enter")
        await expect(page.locator(".need")).to_have_count(3)
        assert await page.evaluate("document.activeElement.closest('.need') !== null")


async def test_what_happens_is_told_to_who_does_not_see_it(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        await theatre.say("ann", "the build is green")
        await expect(visit.page.locator("#heard")).to_have_text("ann: the build is green")


async def test_nothing_is_cut_off_on_a_narrow_screen(theatre: Theatre) -> None:
    async with theatre.playing(plays.RELEASE) as shown, theatre.visit(shown, size="narrow") as visit:
        page = visit.page
        await expect(page.locator(".need")).not_to_have_count(0)
        for view in VIEWS:
            await page.goto(f"{shown.home}#/{view}")
            await expect(page.locator(".tab")).to_be_visible()
            wide = await page.evaluate("['html', 'main'].map((one) => document.querySelector(one).scrollWidth)")
            assert max(wide) <= 360, (view, wide)
