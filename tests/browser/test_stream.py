import pytest
from playwright.async_api import Page, expect

from tests.browser.deaf import Line
from tests.browser.theatre import Theatre

pytestmark = pytest.mark.browser


async def words(page: Page) -> list[str]:
    return await page.locator(".messages .message .prose").all_inner_texts()


@pytest.mark.parametrize("is_killed", [False, True])
async def test_nothing_is_lost_or_shown_twice_when_the_server_is_started_again(
    theatre: Theatre, is_killed: bool
) -> None:
    await theatre.say("ann", "before")
    async with theatre.showing() as shown:
        port = shown.port
        async with theatre.visit(shown) as visit:
            page = visit.page
            await theatre.say("ann", "one", "two")
            await expect(page.locator(".messages .message")).to_have_count(3)
            await (shown.kill() if is_killed else shown.end())
            await expect(page.get_by_text("The connection is lost; trying again.")).to_be_visible()
            await expect(page.get_by_role("status").filter(has_text="Reconnecting")).to_be_visible()
            await theatre.say("ann", "three", "four")
            async with theatre.showing("--port", port):
                await expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
                await expect(page.get_by_text("The connection is lost")).to_have_count(0)
                await theatre.say("ann", "five")
                await expect(page.locator(".messages .message").filter(has_text="five")).to_be_visible()
                assert await words(page) == ["before", "one", "two", "three", "four", "five"]


async def test_a_stream_that_went_dead_without_a_word_is_taken_up_where_it_was(theatre: Theatre) -> None:
    await theatre.say("ann", "one")
    async with theatre.showing() as shown:
        line = Line(shown.port)
        async with line.open() as port, theatre.visit(shown.through(port)) as visit:
            page = visit.page
            await expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
            line.deaden()
            await theatre.say("ann", "two", "three")
            await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
            await expect(page.locator(".messages .message").filter(has_text="three")).to_be_visible()
            assert await words(page) == ["one", "two", "three"]
            assert line.streams == 2


async def test_an_instance_that_was_deleted_and_begun_anew_is_loaded_anew(theatre: Theatre) -> None:
    await theatre.say("ann", "old", "older")
    async with theatre.showing() as shown:
        port = shown.port
        async with theatre.visit(shown) as visit:
            page = visit.page
            await expect(page.locator(".messages .message")).to_have_count(2)
            await shown.end()
            await theatre.house.moot("rm", "@default", "--yes")
            await theatre.say("ben", "new")
            async with theatre.showing("--port", port):
                await expect(page.locator(".messages .message").filter(has_text="new")).to_be_visible()
                assert await words(page) == ["new"]


async def test_a_visit_that_was_ended_is_told_to_who_is_there(theatre: Theatre) -> None:
    await theatre.say("ann", "one")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        await expect(visit.page.get_by_role("status").filter(has_text="Live")).to_be_visible()
        await theatre.house.moot("ui", "--sign-out")
        await visit.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        await expect(visit.page.get_by_role("alert").filter(has_text="Get a link with: moot ui")).to_be_visible()


async def test_a_link_works_once_and_its_secret_does_not_stay_in_the_address(theatre: Theatre) -> None:
    await theatre.say("ann", "one")
    async with theatre.showing() as shown, theatre.visit(shown) as visit:
        secret = shown.link.partition("#")[2]
        assert visit.page.url == shown.home
        assert secret not in await visit.page.evaluate(
            "JSON.stringify([history.length, location.href, document.cookie])"
        )
        other = await theatre.browser.new_context()
        second = await other.new_page()
        await second.goto(shown.link)
        await expect(second.get_by_role("status")).to_contain_text("moot ui")
        assert secret not in second.url
        await other.close()
