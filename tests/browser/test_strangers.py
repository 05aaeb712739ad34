"""Another web page in the same browser, with the cookie of the visit sent along, sees nothing and changes nothing."""

import pytest
from playwright.async_api import Frame, Page, expect

from tests.browser import stranger
from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

TRY = """async (home) => {
  const tries = {
    read: () => fetch(home + "api/overview", { credentials: "include" }),
    simple: () => fetch(home + "api/messages", { method: "POST", mode: "no-cors", credentials: "include",
      headers: { "Content-Type": "text/plain" }, body: '{"message": "@all by a simple request"}' }),
    json: () => fetch(home + "api/messages", { method: "POST", credentials: "include",
      headers: { "Content-Type": "application/json", "X-Moot-CSRF": "x" }, body: '{"message": "@all by json"}' }),
    stream: () => new Promise((resolve, reject) => {
      const source = new EventSource(home + "api/events", { withCredentials: true });
      source.onopen = resolve;
      source.onerror = () => { source.close(); reject(new Error("refused")); };
    }),
    module: () => import(home + "static/api.js"),
  };
  const told = {};
  for (const [name, go] of Object.entries(tries)) {
    try { const answer = await go(); told[name] = answer?.type ?? "done"; } catch (error) { told[name] = "refused"; }
  }
  return told;
}"""


async def framed(page: Page) -> Frame:
    found = page.frame("framed")
    assert found is not None
    await found.wait_for_load_state()
    return found


async def test_another_page_can_neither_read_nor_change_nor_frame_it(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit, stranger.standing(shown.home) as address:
        other = await visit.page.context.new_page()
        await other.goto(address)
        tried: dict[str, str] = await other.evaluate(TRY, shown.home)
        assert tried == dict.fromkeys(("read", "simple", "json", "stream", "module"), "refused")
        assert await (await framed(other)).locator("nav").count() == 0
        async with other.expect_response("**/api/messages") as answer:
            await other.evaluate("document.forms[0].submit()")
        assert "ORIGIN_REFUSED" in await (await answer.value).text()
        await other.close()
        await theatre.say("ann", "still here")
        await expect(visit.page.locator(".messages .message").filter(has_text="still here")).to_be_visible()
    assert [one["message"] for one in await theatre.house.json("log")] == ["hello", "still here"]


async def test_other_names_of_the_machine_do_not_lead_to_the_page(theatre: Theatre) -> None:
    """A name that an attacker has pointed at this machine is not answered, whatever it asks for."""
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        answer = await visit.page.request.get(shown.home, headers={"Host": "rebound.example"})
        assert (answer.status, "HOST_REFUSED" in await answer.text()) == (421, True)
