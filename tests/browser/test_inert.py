"""Script in whatever people and agents write stays text: nothing of it runs, nothing of it becomes an element."""

import json
from urllib.parse import quote

import pytest
from playwright.async_api import Page, expect

from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser

EVIL = (
    "<script>window.evil = 1</script>"
    "<img src=x onerror='window.evil = 2'>"
    "<svg onload='window.evil = 3'></svg>"
    "[click](javascript:window.evil=4) ![x](javascript:window.evil=5)"
    "<a href='javascript:window.evil=6'>a</a>"
    "<style>body { display: none }</style><iframe srcdoc='<script>parent.evil = 7</script>'></iframe>"
    "{{ constructor.constructor('window.evil = 8')() }}"
)
SHORT = EVIL[:190]  # as long as a title may be
PLAIN = EVIL.partition("{{")[0]  # what steps do not take for an expression
TABS = (
    "",
    "conversation",
    "agents",
    "agents/coder",
    "documents/evil.md",
    "documents/evil.md/history",
    "documents/evil.md/edit",
    "proposals",
    "tasks",
    "tasks/graph",
    "steps",
    "steps/state",
    "timeline",
    "cost/task",
)
NAME = "<img src=x onerror='window.evil = 10'>.md"  # of a document
PLAY = f"""
name: evil
context: {{document_owner: none}}
defaults: {{backend: scripted}}
agents:
  coder:
    description: {json.dumps(EVIL)}
    script:
      - on: begin
        calls:
          - document_write: {{file: {json.dumps(NAME)}, content: {json.dumps(EVIL)}}}
          - document_write: {{file: evil.md, content: {json.dumps("# " + EVIL + chr(10) * 2 + EVIL)}}}
          - request_create: {{to: human, type: permission, title: {json.dumps(SHORT)}, body: {json.dumps(EVIL)}}}
          - request_create: {{to: human, type: question, title: which, options: [{json.dumps(SHORT)}, b]}}
          - proposal_create:
              type: decision
              title: {json.dumps(SHORT)}
              description: {json.dumps(EVIL)}
              options: [{{id: a, label: {json.dumps(SHORT)}}}, {{id: b, label: b}}]
              electors: [voter, human]
              timeoutSeconds: 3600
        say: {json.dumps("@human " + EVIL)}
        usage: {{tokens: 100, cost: 0.01}}
      - on: TASK
        fail: {json.dumps(EVIL)}
        usage: {{tokens: 100, cost: 0.01}}
  voter:
    script:
      - on: 'PROPOSAL:(\\S+)\\]'
        calls: [{{vote: {{proposal: $1, choice: a, reason: {json.dumps(EVIL)}}}}}]
kickoff: "@coder begin"
together: true
tasks:
  - {{name: {json.dumps(EVIL[:100])}, description: {json.dumps(EVIL)}, agent: coder}}
default_state: {{raw: {{words: {json.dumps(PLAIN)}}}}}
steps:
  - {{id: tell, type: user_message, message: {json.dumps(PLAIN)}}}
  - {{id: ask, type: user_input, prompt: {json.dumps(PLAIN)}, state_update: {{path: raw.answer}}}}
"""


async def evil(page: Page) -> object:
    return await page.evaluate("window.evil ?? null")


async def test_script_in_every_text_stays_inert(theatre: Theatre) -> None:
    async with theatre.playing(PLAY) as shown, theatre.visit(shown) as visit:
        page = visit.page
        await expect(page.locator(".need h3").filter(has_text="<script>").first).to_be_visible()
        await expect(page.locator(".messages .prose").filter(has_text="<script>").first).to_be_visible()
        flow = (await theatre.house.json("flow", "ls"))[0]["workflow_id"]
        for tab in TABS:
            await page.goto(f"{shown.home}#/{tab.replace('steps/', f'steps/{flow}/')}")
            await expect(page.locator(".tab")).to_contain_text("window.evil")
            for task in await page.locator(".task button").all():
                await task.click()
                await expect(page.get_by_role("complementary")).to_contain_text("window.evil")
            await nothing_ran(page)


async def nothing_ran(page: Page) -> None:
    assert await page.locator("main :is(script, iframe, style, img, [onerror], [onload])").count() == 0
    assert await page.locator("main a[href^='javascript' i]").count() == 0
    assert await evil(page) is None


async def test_script_stays_inert_in_what_is_opened_beside(theatre: Theatre) -> None:
    async with theatre.playing(PLAY) as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.goto(f"{shown.home}#/conversation")
        message = page.locator(".messages .message").filter(has_text="<script>").first
        await message.hover()
        await message.get_by_role("button", name="Details").click()
        await expect(page.get_by_role("complementary", name="One message")).to_contain_text("window.evil")
        await nothing_ran(page)
        await page.goto(f"{shown.home}#/proposals")
        await expect(page.locator(".given")).to_contain_text("window.evil")  # why somebody voted
        await nothing_ran(page)
        await page.goto(f"{shown.home}#/documents/{quote(NAME, safe='')}")
        await expect(page.locator(".document h2")).to_have_text(NAME)
        await expect(page.locator(".shelf")).to_contain_text(NAME)
        await nothing_ran(page)
        await page.goto(f"{shown.home}#/timeline")
        await page.get_by_role("row").filter(has_text="window.evil").get_by_role("link").first.click()
        await expect(page.locator(".tree").first).to_contain_text("window.evil")
        await nothing_ran(page)


async def test_text_that_a_person_writes_stays_inert(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        field = page.get_by_role("textbox", name="Message")
        await field.fill(EVIL)
        await field.press("Enter")
        await expect(page.locator(".messages .prose").filter(has_text="<script>")).to_be_visible()
        await page.goto(shown.home + "#/documents/evil.md/edit")
        await page.get_by_role("textbox", name="Text of evil.md").fill(EVIL)
        await expect(page.locator(".preview")).to_contain_text("<script>")
        await page.goto(f"{shown.home}#/conversation")
        await page.get_by_role("searchbox").fill("script window")
        await page.get_by_role("searchbox").press("Enter")
        await expect(page.locator(".found")).to_contain_text("window.evil")
        assert await evil(page) is None


async def test_the_browser_is_told_to_run_nothing_but_the_pages_own_files(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        inject = """() => {
          const script = document.createElement("script");
          try { script.textContent = "window.evil = 9"; } catch (error) { return error.name; }
          document.body.append(script);
        }"""
        parse = "() => { try { document.body.innerHTML = '<b>x</b>' } catch (error) { return error.name } }"
        assert await page.evaluate(inject) == "TypeError"
        assert await page.evaluate(parse) == "TypeError"
        assert await evil(page) is None
        visit.faults.clear()  # that it was refused is logged
