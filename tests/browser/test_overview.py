import pytest
from playwright.async_api import expect

from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

GREETER = r"""
name: greet
context: {document_owner: none}
agents:
  greeter:
    backend: scripted
    script:
      - {on: 'hello', say: "Hello @$from, this is **bold** and `code`."}
kickoff: Nobody is meant.
"""


async def test_what_is_said_appears_as_it_is_said_also_where_nothing_has_happened_before(theatre: Theatre) -> None:
    await theatre.say("ann", "elsewhere")
    async with theatre.showing("--instance", "new") as shown, theatre.visit(shown) as visit:
        await expect(visit.page.get_by_text("Nothing has happened in new yet.")).to_be_visible()
        await theatre.say("ann", "the first word", "the second word", instance="new")
        said = visit.page.locator(".messages .message .prose")
        await expect(said).to_have_text(["the first word", "the second word"])


async def test_a_person_writes_and_is_answered(theatre: Theatre) -> None:
    async with theatre.playing(GREETER) as shown, theatre.visit(shown) as visit:
        field = visit.page.get_by_role("textbox", name="Message")
        await field.press_sequentially("hello @gre")
        await expect(visit.page.get_by_role("option", name="greeter")).to_be_visible()
        await field.press("Enter")
        await expect(field).to_have_value("hello @greeter ")
        await field.press("Enter")
        answer = visit.page.locator(".messages .message").filter(has_text="this is bold and code")
        await expect(answer.locator("strong")).to_have_text("bold")
        await expect(answer.locator(".mention")).to_have_text("@human")
        await expect(field).to_have_value("")
        await expect(field).to_be_focused()
    said = await theatre.house.json("log")
    assert [one["message"] for one in said if one["from"] == "human"] == ["hello @greeter"]
