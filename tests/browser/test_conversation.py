from itertools import pairwise

import pytest
from playwright.async_api import Page, expect

from moot.tools.talk import Words
from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

MANY = 1000
PLACES = """(panel) => [...panel.querySelectorAll("h2, h3, li")].map((one) => {
  const { top, bottom } = one.getBoundingClientRect();
  return [top, bottom];
})"""
MOST = 300  # messages that are on the screen at once


async def fill(theatre: Theatre) -> None:
    for start in range(1, MANY + 1, 200):
        await theatre.post([("ann", Words(f"word {number} of many")) for number in range(start, start + 200)])


async def numbers(page: Page) -> list[int]:
    texts = await page.locator(".messages .message .prose").all_inner_texts()
    return [int(text.split()[1]) for text in texts]


async def scroll(page: Page, *, to: str) -> None:
    await page.locator(".scroller").evaluate(f"(one) => one.scrollTo(0, {to})")


async def test_a_long_conversation_is_walked_through_without_ever_being_held_as_a_whole(theatre: Theatre) -> None:
    await fill(theatre)
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.get_by_role("link", name="Conversation").click()
        first = page.locator(".messages .message").first
        await expect(page.get_by_text("word 1000 of many")).to_be_visible()
        seen = set(await numbers(page))
        while 1 not in seen:
            before = await first.get_attribute("data-seq")
            assert before is not None
            await scroll(page, to="0")
            await expect(first).not_to_have_attribute("data-seq", before)
            shown_now = await numbers(page)
            assert len(shown_now) <= MOST
            assert shown_now == list(range(shown_now[0], shown_now[-1] + 1))
            seen |= set(shown_now)
        assert seen == set(range(1, MANY + 1))
        last = page.locator(".messages .message").last
        while (await numbers(page))[-1] != MANY:
            before = await last.get_attribute("data-seq")
            assert before is not None
            await scroll(page, to="one.scrollHeight")
            await expect(last).not_to_have_attribute("data-seq", before)
            assert len(await numbers(page)) <= MOST


async def test_what_is_read_stays_where_it_is_while_more_is_loaded_and_said(theatre: Theatre) -> None:
    await fill(theatre)
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.get_by_role("link", name="Conversation").click()
        await expect(page.get_by_text("word 1000 of many")).to_be_visible()
        first = page.locator(".messages .message").first
        top = await first.inner_text()
        await scroll(page, to="300")
        await expect(first).not_to_have_text(top)
        held = page.locator(".messages .message").filter(has_text="word 905 ")
        place = await held.evaluate("(one) => one.getBoundingClientRect().top")
        await theatre.say("ben", "word 1001 of many")
        await expect(page.get_by_role("button", name="1 new message ↓")).to_be_visible()
        assert abs(await held.evaluate("(one) => one.getBoundingClientRect().top") - place) < 2
        await page.get_by_role("button", name="1 new message ↓").click()
        await expect(page.get_by_text("word 1001 of many")).to_be_in_viewport()
        await theatre.say("ben", "word 1002 of many")
        await expect(page.get_by_text("word 1002 of many")).to_be_in_viewport()


async def test_a_message_is_found_by_its_words_and_shown_among_its_neighbours(theatre: Theatre) -> None:
    await fill(theatre)
    await theatre.post([("ben", Words("a needle in the hay"))])
    for _ in range(2):
        await theatre.post([("ann", Words("word 0 of many")) for _ in range(200)])
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.get_by_role("link", name="Conversation").click()
        await page.keyboard.press("/")
        await expect(page.get_by_role("searchbox")).to_be_focused()
        await page.keyboard.type("needle")
        await page.keyboard.press("Enter")
        found = page.get_by_role("complementary", name="What was found")
        await expect(found.get_by_role("heading")).to_have_text("1 place found")
        await found.get_by_role("link").click()
        needle = page.locator(".messages .message").filter(has_text="a needle in the hay")
        await expect(needle).to_be_in_viewport()
        await expect(needle).to_be_focused()
        await expect(page.get_by_text("word 1000 of many")).to_be_in_viewport()


async def test_a_day_to_jump_to_shows_the_first_of_it(theatre: Theatre) -> None:
    await fill(theatre)
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.get_by_role("link", name="Conversation").click()
        await expect(page.get_by_text("word 1000 of many")).to_be_visible()
        await page.locator("input[type=date]").fill("2020-01-01")
        await expect(page.get_by_text("word 1 of many", exact=True)).to_be_in_viewport()


async def test_kinds_and_senders_are_sifted_also_of_what_is_said_meanwhile(theatre: Theatre) -> None:
    await theatre.post([("ann", Words("plain")), ("ben", Words("stuck", kind="blocker")), ("ben", Words("also plain"))])
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        said = page.locator(".messages .message .prose")
        await page.get_by_role("link", name="Conversation").click()
        await expect(said).to_have_text(["plain", "stuck", "also plain"])
        await page.get_by_role("combobox", name="From").select_option("ben")
        await expect(said).to_have_text(["stuck", "also plain"])
        await page.get_by_role("combobox", name="Kind").select_option("blocker")
        await expect(said).to_have_text(["stuck"])
        await theatre.post([("ann", Words("stuck", kind="blocker")), ("ben", Words("stuck again", kind="blocker"))])
        await expect(said).to_have_text(["stuck", "stuck again"])


async def test_who_has_read_a_message_and_who_answered_it_is_shown(theatre: Theatre) -> None:
    await theatre.say("ben", "here I am")
    (asked,) = await theatre.say("ann", "@human @ben who comes?")
    await theatre.post([("ben", Words("I do", reply_to=asked.id))])
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.get_by_role("link", name="Conversation").click()
        message = page.locator(".conversation .message").filter(has_text="who comes?").first
        await message.hover()
        await message.get_by_role("button", name="Details").click()
        details = page.get_by_role("complementary", name="One message")
        await expect(details.locator(".receipts li")).to_have_count(2)
        await expect(details.locator(".receipts li").filter(has_text="human")).to_contain_text("not yet handed over")
        await expect(details.locator(".messages").last).to_contain_text("I do")


async def test_a_long_thread_lies_on_top_of_nothing(theatre: Theatre) -> None:
    (asked,) = await theatre.say("ann", "who comes?")
    await theatre.post([("ben", Words(f"I do, {number}", reply_to=asked.id)) for number in range(40)])
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        await visit.page.goto(f"{shown.home}#/conversation/{asked.id}")
        details = visit.page.get_by_role("complementary", name="One message")
        await expect(details.locator(".messages").last).to_contain_text("I do, 39")
        places: list[tuple[float, float]] = await details.evaluate(PLACES)
        assert all(above[1] <= below[0] for above, below in pairwise(places))
