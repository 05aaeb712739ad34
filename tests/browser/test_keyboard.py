"""Whatever can be done on the page can be done without a mouse."""

import pytest
from playwright.async_api import Page, expect

from tests.browser import plays
from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

PLAY = f"{plays.RELEASE}together: true\n{plays.PLAN[plays.PLAN.index('tasks:') :]}"
VIEWS = ("", "conversation", "agents", "documents", "proposals", "tasks", "tasks/graph", "timeline", "cost")
TRIES = 3
# Each control gets a number; those of one group of radio buttons are one stop, and what is hidden is none.
NUMBER = """() => {
  const seen = (one) => one.checkVisibility({ checkVisibilityCSS: true }) && !one.disabled;
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
  const first = new Set();
  return all.filter((one) => {
    const group = one.type === "radio" ? one.name : null;
    if (!seen(one) || (group && first.has(group))) return false;
    if (group) first.add(group);
    return true;
  }).map((one, index) => { one.dataset.stop = index; return one.outerHTML.slice(0, 120); });
}"""
HERE = """() => {
  const one = document.activeElement;
  const group = one.type === "radio" ? document.querySelector(`input[name="${one.name}"][data-stop]`) : one;
  return group.dataset.stop ?? null;
}"""


async def missed(page: Page) -> set[str]:
    """What can be used, and Tab does not come to. What is drawn anew meanwhile loses its number: hence the tries."""
    every: list[str] = []
    reached: set[str] = set()
    for _ in range(TRIES):
        every = await page.evaluate(NUMBER)
        assert len(every) > len(VIEWS)  # the links to them, at least
        reached = await stops(page, len(every))
        if reached >= set(map(str, range(len(every)))):
            return set()
    return {html for index, html in enumerate(every) if str(index) not in reached}


async def stops(page: Page, count: int) -> set[str]:
    """The numbers of what Tab comes to, from the beginning of the page."""
    await page.evaluate("document.activeElement.blur()")
    reached: set[str] = set()
    for _ in range(count * 2 + 10):
        await page.keyboard.press("Tab")
        here: str | None = await page.evaluate(HERE)
        if here is not None:
            reached.add(here)
        if len(reached) == count:
            break
    return reached


async def test_tab_comes_to_everything_that_can_be_used(theatre: Theatre) -> None:
    async with theatre.playing(PLAY) as shown, theatre.visit(shown) as visit:
        page = visit.page
        await expect(page.locator(".need")).to_have_count(5)
        await expect(page.locator(".roster li").filter(has_text="coder")).to_contain_text("idle")
        for view in VIEWS:
            await page.goto(f"{shown.home}#/{view}")
            await expect(page.locator(".tab")).to_be_visible()
            await page.wait_for_load_state("networkidle")
            assert await missed(page) == set(), view


async def test_a_person_takes_part_without_a_mouse(theatre: Theatre) -> None:
    async with theatre.playing(plays.RELEASE) as shown, theatre.visit(shown) as visit:
        page, keys = visit.page, visit.page.keyboard
        await expect(page.locator(".need")).to_have_count(4)
        await page.evaluate("document.activeElement.blur()")
        await keys.press("c")
        await keys.type("hello @cod")
        await expect(page.get_by_role("option", name="coder")).to_be_visible()
        await keys.press("Enter")
        await keys.type("there")
        await keys.press("Enter")
        await expect(page.locator(".messages .prose").filter(has_text="hello @coder there")).to_be_visible()

        await keys.press("Escape")
        await page.evaluate("document.activeElement.blur()")
        await keys.press("n")
        for word in ("Run the tests", "Which Python?", "How do users log in?"):
            await _answer(page, word)
            await expect(page.locator(".need").filter(has_text=word)).to_have_count(0)
        await page.evaluate("document.activeElement.blur()")
        await keys.press("5")
        await expect(page.locator(".proposal .is-winner .count")).to_have_text("2 votes")


async def _answer(page: Page, word: str) -> None:
    """By Tab to its fields and its button."""
    keys = page.keyboard
    here = f"document.activeElement.closest('.need')?.innerText.includes({word!r}) ?? false"
    for _ in range(60):
        if await page.evaluate(here):
            break
        await keys.press("Tab")
    for _ in range(10):
        tag, text, kind = await page.evaluate(
            "[document.activeElement.tagName, document.activeElement.innerText, document.activeElement.type]"
        )
        if tag == "BUTTON" and text in ("Approve", "Answer", "Vote"):
            break
        if kind == "radio":
            await keys.press("ArrowDown")
        if tag == "TEXTAREA":
            await keys.type("as you like")
        await keys.press("Tab")
    await keys.press("Enter")
