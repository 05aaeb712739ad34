import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser import plays
from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser


def need(page: Page, text: str) -> Locator:
    return page.locator(".need").filter(has_text=text)


def said(page: Page, text: str) -> Locator:
    return page.locator(".messages .message .prose").filter(has_text=text)


async def test_a_person_approves_answers_and_votes_while_the_run_goes_on(theatre: Theatre) -> None:
    async with theatre.playing(plays.RELEASE) as shown, theatre.visit(shown) as visit:
        page = visit.page
        asked = need(page, "Run the tests")
        await expect(asked.locator(".exactly")).to_have_text("make test ARGS='-x'")
        await asked.get_by_role("button", name="Approve").click()
        await expect(said(page, "The tests pass.")).to_be_visible()
        await expect(asked).to_have_count(0)

        question = need(page, "Which Python?")
        await question.get_by_role("textbox", name="Your answer").fill("3.12, and nothing older")
        await question.get_by_role("button", name="Answer").click()
        await expect(question).to_have_count(0)

        vote = need(page, "How do users log in?")
        await vote.get_by_role("radio", name="Server sessions").check()
        await vote.get_by_role("textbox", name="Why, if you like").fill("simple")
        await vote.get_by_role("button", name="Vote").click()
        await expect(vote).to_have_count(0)

        await page.get_by_role("link", name="Proposals").click()
        decided = page.locator(".proposal").filter(has_text="How do users log in?")
        await expect(decided.locator(".is-winner .count")).to_have_text("2 votes")
        await expect(decided.locator(".given")).to_contain_text("human simple")
    requests = {one["title"]: one for one in await theatre.house.json("request", "--all")}
    assert requests["Run the tests"]["state"] == "approved"
    assert requests["Which Python?"]["answer"] == "3.12, and nothing older"


async def test_a_person_denies_with_a_word(theatre: Theatre) -> None:
    async with theatre.playing(plays.RELEASE) as shown, theatre.visit(shown) as visit:
        asked = need(visit.page, "Run the tests")
        await asked.get_by_role("textbox").fill("not on a Friday")
        await asked.get_by_role("button", name="Deny").click()
        await expect(said(visit.page, "Then not.")).to_be_visible()
        await expect(said(visit.page, "not on a Friday")).to_be_visible()


async def test_mail_is_answered_in_its_thread_and_then_needs_nobody(theatre: Theatre) -> None:
    async with theatre.playing(plays.RELEASE) as shown, theatre.visit(shown) as visit:
        mail = need(visit.page, "may I?")
        await mail.get_by_role("button", name="Reply").click()
        field = visit.page.get_by_role("textbox", name="Message")
        await expect(field).to_be_focused()
        await expect(visit.page.locator(".composer .answers")).to_contain_text("Answering coder")
        await field.fill("you may")
        await field.press("Enter")
        await expect(mail).to_have_count(0)
        answer = visit.page.locator(".messages .message").filter(has_text="you may")
        await expect(answer).to_be_visible()
    (sent,) = [one for one in await theatre.house.json("log") if one["message"] == "you may"]
    (asked,) = [one for one in await theatre.house.json("log") if one["message"] == "@human may I?"]
    assert sent["reply_to"] == asked["id"]


async def test_what_somebody_else_has_answered_meanwhile_is_told_and_gone(theatre: Theatre) -> None:
    async with theatre.playing(plays.RELEASE) as shown, theatre.visit(shown) as visit:
        page = visit.page
        asked = need(page, "Run the tests")
        await expect(asked).to_be_visible()
        await page.route("**/api/overview*", lambda route: route.abort())  # it does not look again by itself
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        (request,) = [one for one in await theatre.house.json("request", "--all") if one["title"] == "Run the tests"]
        await theatre.house.moot("deny", request["id"])
        await asked.get_by_role("button", name="Approve").click()
        await expect(page.get_by_role("alert").filter(has_text="denied")).to_be_visible()
        await page.unroute("**/api/overview*")
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        await expect(asked).to_have_count(0)
