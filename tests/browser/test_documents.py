import pytest
from playwright.async_api import expect

from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser


async def write(theatre: Theatre, content: str, file: str = "notes.md") -> None:
    path = theatre.house.root / "text"
    path.write_text(content)
    await theatre.house.moot("doc", "write", file, str(path))


async def test_a_document_is_shown_as_it_is_meant_with_its_history(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    await write(theatre, "# Notes\n\n- one\n- two\n")
    await write(theatre, "# Notes\n\n- one\n- **three**\n")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.get_by_role("link", name="Documents").click()
        await expect(page.locator(".document .prose h3")).to_have_text("Notes")
        await expect(page.locator(".document .prose li")).to_have_text(["one", "three"])
        await page.get_by_role("link", name="History").click()
        await expect(page.locator(".diff .is-removed del")).to_have_text("- two")
        await expect(page.locator(".diff .is-added ins")).to_have_text("- **three**")
        await page.get_by_role("link", name="v1").click()
        await expect(page.locator(".diff .is-added ins")).to_have_text(["# Notes", "", "- one", "- two"])


async def test_a_change_appears_while_the_document_is_read(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    await write(theatre, "before")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        await visit.page.get_by_role("link", name="Documents").click()
        await expect(visit.page.locator(".document .prose")).to_have_text("before")
        await write(theatre, "after")
        await expect(visit.page.locator(".document .prose")).to_have_text("after")


async def test_who_was_slower_sees_both_and_loses_nothing(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    await write(theatre, "# Notes\nfirst\n")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.goto(shown.home + "#/documents/notes.md/edit")
        field = page.get_by_role("textbox", name="Text of notes.md")
        await field.fill("# Notes\nfirst\nmine\n")
        await expect(page.locator(".preview")).to_contain_text("mine")
        await write(theatre, "# Notes\nfirst\ntheirs\n")
        await expect(page.get_by_text("has saved version 2 meanwhile")).to_be_visible()

        await page.get_by_role("button", name="Save", exact=True).click()
        clash = page.get_by_role("region", name="human was faster: it is version 2 now")
        await expect(clash.locator(".is-added ins")).to_have_text("theirs")
        await expect(field).to_have_value("# Notes\nfirst\nmine\n")
        assert "mine" not in await theatre.house.moot("doc", "show", "notes.md")

        await clash.get_by_role("button", name="I put both together").click()
        await field.fill("# Notes\nfirst\nmine\ntheirs\n")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.locator(".document .prose")).to_contain_text("mine theirs")
    assert await theatre.house.moot("doc", "show", "notes.md") == "# Notes\nfirst\nmine\ntheirs\n"


async def test_a_new_document_is_written_on_the_page(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.get_by_role("link", name="Documents").click()
        await expect(page.get_by_text("There are no documents yet.")).to_be_visible()
        await page.get_by_role("button", name="New document").click()
        await page.get_by_role("textbox", name="Name").fill("plans/login.md")
        await page.get_by_role("button", name="Write it").click()
        await page.get_by_role("textbox", name="Text of plans/login.md").fill("By sessions.")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.locator(".document .prose")).to_have_text("By sessions.")
    assert await theatre.house.moot("doc", "show", "plans/login.md") == "By sessions."


async def test_a_name_that_cannot_be_is_refused_in_words(theatre: Theatre) -> None:
    await theatre.say("ann", "hello")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        page = visit.page
        await page.goto(shown.home + "#/documents/..%2Fout.md/edit")
        alert = page.get_by_role("alert").filter(has_text="out.md")
        await expect(alert).to_be_visible()
