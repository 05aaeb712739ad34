"""Script in whatever people and agents write stays text: nothing of it runs, nothing of it becomes an element."""

import json

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
    "documents/evil.md",
    "proposals",
    "tasks",
    "tasks/graph",
    "steps",
    "steps/state",
    "timeline",
)
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
          - document_write: {{file: evil.md, content: {json.dumps("# " + EVIL + chr(10) * 2 + EVIL)}}}
          - request_create: {{to: human, type: permission, title: {json.dumps(SHORT)}, body: {json.dumps(EVIL)}}}
          - request_create: {{to: human, type: question, title: which, options: [{json.dumps(SHORT)}, b]}}
          - proposal_create:
              type: decision
              title: {json.dumps(SHORT)}
              description: {json.dumps(EVIL)}
              options: [{{id: a, label: {json.dumps(SHORT)}}}, {{id: b, label: b}}]
              electors: [coder, human]
              timeoutSeconds: 3600
        say: {json.dumps("@human " + EVIL)}
      - on: TASK
        fail: {json.dumps(EVIL)}
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
            assert await page.locator("main :is(script, iframe, style, img, [onerror], [onload])").count() == 0
            assert await page.locator("main a[href^='javascript' i]").count() == 0
            assert await evil(page) is None


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
