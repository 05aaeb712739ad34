import pytest
from playwright.async_api import expect

from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

PLAY = r"""
name: work
context: {document_owner: none}
defaults: {backend: scripted}
agents:
  coder:
    description: writes code
    script:
      - {on: drop it, in: prompt, say: "Dropped.", usage: {tokens: 1500, turns: 2, cost: 0.05}}
      - {on: begin, hang: true}
  broken:
    script:
      - {on: try, fail: the key is wrong}
kickoff: "@coder begin. @broken try."
"""


async def test_an_agent_is_seen_at_work_interrupted_stopped_and_let_work_again(theatre: Theatre) -> None:
    async with theatre.playing(PLAY) as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.get_by_role("link", name="Agents").click()
        coder = page.get_by_role("article", name="coder")
        await expect(coder.locator(".state")).to_have_text("running")
        await expect(coder).to_contain_text("now try 1")
        await coder.get_by_role("button", name="Interrupt").click()
        await page.get_by_role("textbox", name="What it should know").fill("drop it")
        await page.get_by_role("dialog").get_by_role("button", name="Interrupt").click()
        await expect(coder.locator(".last-words")).to_contain_text("Dropped.")
        await expect(coder.locator(".figures")).to_contain_text("3k")  # for both messages
        await expect(coder.locator(".figures")).to_contain_text("$0.10")

        await coder.get_by_role("button", name="Stop").click()
        await page.get_by_role("dialog").get_by_role("button", name="Stop").click()
        await expect(coder.locator(".state")).to_have_text("stopped")
        await coder.get_by_role("button", name="Let it work again").click()
        await expect(coder.locator(".state")).to_have_text("idle")


async def test_mail_that_was_given_up_is_tried_again(theatre: Theatre) -> None:
    async with theatre.playing(PLAY) as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.get_by_role("link", name="Agents").click()
        broken = page.get_by_role("article", name="broken")
        await expect(broken).to_contain_text("1 message given up")
        await broken.get_by_role("link", name="broken").click()
        attempts = page.locator(".attempts li")
        await expect(attempts.filter(has_text="the key is wrong")).to_have_count(3)
        await page.get_by_role("button", name="Try given-up mail again").click()
        await expect(attempts.filter(has_text="the key is wrong")).to_have_count(6)


async def test_a_run_is_paused_goes_on_and_is_stopped(theatre: Theatre) -> None:
    async with theatre.playing(PLAY), theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        run = page.locator(".run")
        await run.get_by_role("button", name="Pause").click()
        await expect(run.locator(".state")).to_have_text("paused")
        await run.get_by_role("button", name="Go on").click()
        await expect(run.locator(".state")).to_have_text("live")
        await run.get_by_role("button", name="Stop").click()
        await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        await expect(run.locator(".state")).to_have_text("live")
        await run.get_by_role("button", name="Stop").click()
        await page.get_by_role("checkbox", name="At once").check()
        await page.get_by_role("dialog").get_by_role("button", name="Stop").click()
        await expect(run.locator(".state")).to_have_text("stopped")
