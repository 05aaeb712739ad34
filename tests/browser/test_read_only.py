import pytest
from playwright.async_api import expect

from tests.browser import plays
from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

TABS = ("", "conversation", "agents", "documents", "proposals", "tasks", "steps", "timeline", "cost")
DOORS = (
    "/api/messages",
    "/api/mail/ack",
    "/api/requests/rq_1",
    "/api/proposals/prop-001/vote",
    "/api/document",
    "/api/agents/coder/stop",
    "/api/agents/coder/nudge",
    "/api/run/stop",
    "/api/tasks/tk_1/retry",
    "/api/flows/wf_1/step",
)
# Only these may be on a page by which nothing can be changed: they show something else, or leave.
HARMLESS = {"Keys, shown by ?", "Leave: end this visit", "Close", "Dismiss"}


async def test_who_only_watches_sees_everything_and_can_change_nothing(theatre: Theatre) -> None:
    async with theatre.playing(plays.RELEASE) as person, theatre.showing("--read-only") as shown:
        async with theatre.visit(shown) as visit:
            page = visit.page
            await expect(page.get_by_role("heading", name="Run the tests")).to_be_visible()
            await expect(page.get_by_text("You are watching. Nothing can be changed from here.")).to_be_visible()
            for tab in TABS:
                await page.goto(f"{shown.home}#/{tab}")
                await expect(page.locator(".tab")).to_be_visible()
                assert await page.locator("textarea").count() == 0
                names = [
                    await one.get_attribute("aria-label") or await one.inner_text()
                    for one in await page.get_by_role("button").all()
                    if not await one.evaluate(
                        "(one) => one.matches('.task button, .stretch, .message button, .more button')"
                    )
                ]
                assert set(names) <= HARMLESS
        assert person.link != shown.link


@pytest.mark.parametrize("door", DOORS)
async def test_what_a_watcher_sends_all_the_same_is_refused(theatre: Theatre, door: str) -> None:
    await theatre.say("ann", "one")
    async with theatre.showing("--read-only") as shown, theatre.visit(shown) as visit:
        send = """async (door) => {
          const { csrf } = await (await fetch("/api/session")).json();
          const headers = { "Content-Type": "application/json", "X-Moot-CSRF": csrf };
          const answer = await fetch(door, { method: "POST", headers, body: "{}" });
          return [answer.status, (await answer.json()).error.code];
        }"""
        assert await visit.page.evaluate(send, door) == [403, "READ_ONLY"]
