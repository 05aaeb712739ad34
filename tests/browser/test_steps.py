import pytest
from playwright.async_api import expect

from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

FLOW = r"""
name: count
default_state: {raw: {lines: [], answer: ""}}
state_schema:
  computed:
    many: {from: raw.lines, transform: "input.length"}
steps:
  - {id: look, type: shell_command, command: "printf 'a\nb\n'", output_format: lines, state_update: {path: raw.lines}}
  - {id: ask, type: user_input, prompt: "There are {{ many }}. Go on?", state_update: {path: raw.answer}}
  - {id: tell, type: user_message, message: "You said {{ answer }}."}
"""


async def test_where_a_flow_is_what_it_knows_and_what_it_computed_is_shown_as_it_goes_on(theatre: Theatre) -> None:
    async with theatre.playing(FLOW) as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.get_by_role("link", name="Steps").click()
        flow = page.get_by_role("region", name="Flow")
        await expect(flow).to_contain_text("ask")
        await expect(page.locator(".picture g.is-marked")).to_contain_text("ask")
        await expect(page.locator(".picture g[data-key]")).to_have_count(3)
        await page.get_by_role("link", name="State").click()
        await expect(page.get_by_role("row").filter(has_text="many")).to_contain_text("2")
        await page.get_by_role("link", name="Traces").click()
        await expect(page.get_by_role("row").filter(has_text="raw.lines").first).to_contain_text("2")

        await page.keyboard.press("1")
        need = page.locator(".need").filter(has_text="There are 2. Go on?")
        await need.get_by_role("textbox", name="Your answer").fill("yes")
        await need.get_by_role("button", name="Answer").click()
        await page.keyboard.press("7")
        await expect(flow.locator(".state")).to_have_text("completed")
        await expect(page.get_by_role("row").filter(has_text="tell")).to_be_visible()


async def test_a_flow_that_waits_for_leave_takes_one_step_by_a_button(theatre: Theatre) -> None:
    file = theatre.house.root / "flow.yaml"
    file.write_text(FLOW)
    process = await theatre.house.start("run", str(file), "--step")
    try:
        await theatre.say("ann", "hello")
        async with theatre.showing() as shown, theatre.visit(shown) as visit:
            await visit.page.goto(shown.home + "#/steps")
            flow = visit.page.get_by_role("region", name="Flow")
            await expect(flow).to_contain_text("0 steps taken")
            await flow.get_by_role("button", name="Take the next step").click()
            await expect(flow).to_contain_text("1 step taken")
    finally:
        await theatre.house.end(process)
