"""A link becomes a visit; nothing but the visit's cookie opens the page, and only together with its word changes it."""

from datetime import timedelta
from http.cookies import SimpleCookie
from pathlib import Path

import httpx2
import pytest

from moot.api import viewing
from moot.api.access import Access
from moot.app.project import Project
from moot.core.caller import Caller
from moot.core.ids import DEFAULT_INSTANCE
from moot.registry import tokens
from moot.registry.errors import NotAuthenticated
from moot.registry.visits import LINK_LASTS, SHARED_LINK_LASTS, VISIT_LASTS, VisitRole
from moot.store.sqlite import SqliteStore
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.web import site as sites
from tests.web.site import Browser, Site


async def login(client: httpx2.AsyncClient, link: str) -> tuple[int, str]:
    answer = await client.post("/api/login", json={"link": link})
    return answer.status_code, answer.json().get("error", {}).get("code", "")


async def test_without_a_visit_nothing_is_told(site: Site) -> None:
    async with site.stranger() as client:
        for path in ("/api/overview", "/api/messages", "/api/session", "/api/events", "/api/instances"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "NOT_AUTHENTICATED"), path


async def test_a_link_is_good_for_one_visit(site: Site) -> None:
    link = await site.link()
    async with site.stranger() as first, site.stranger() as second:
        assert await login(first, link) == (200, "")
        assert await login(second, link) == (403, "LINK_SPENT")


async def test_a_link_for_watching_is_good_for_many(site: Site) -> None:
    link = await site.link("observer")
    async with site.stranger() as first, site.stranger() as second:
        assert await login(first, link) == (200, "")
        assert await login(second, link) == (200, "")


@pytest.mark.parametrize(("role", "lasts"), [("operator", LINK_LASTS), ("observer", SHARED_LINK_LASTS)])
async def test_links_do_not_last(site: Site, clock: ManualClock, role: VisitRole, lasts: timedelta) -> None:
    link = await site.link(role)
    clock.advance(lasts.total_seconds() + 1)
    async with site.stranger() as client:
        assert await login(client, link) == (403, "LINK_SPENT")


@pytest.mark.parametrize("link", ["", "moot_x", "\ud7ff", "x" * 5000])
async def test_what_is_no_link_opens_nothing(site: Site, link: str) -> None:
    async with site.stranger() as client:
        assert await login(client, link) == (403, "LINK_SPENT")


async def test_the_cookie_is_kept_from_scripts_and_from_other_sites(site: Site) -> None:
    async with site.stranger() as client:
        answer = await client.post("/api/login", json={"link": await site.link()})
        cookie = SimpleCookie(answer.headers["set-cookie"])
        (morsel,) = cookie.values()
        assert (morsel["httponly"], morsel["samesite"], morsel["path"]) == (True, "Strict", "/")
        assert morsel.value not in answer.text


async def test_the_store_has_no_secret_in_clear(sqlite_store: SqliteStore, project: Project, tmp_path: Path) -> None:
    async with sites.serving(sqlite_store, project) as site, site.browser() as browser:
        links = [await site.link(), await site.link("observer")]
        (secret,) = browser.client.cookies.values()
        kept = b"".join(file.read_bytes() for file in (tmp_path / "store").iterdir() if file.is_file())
        assert tokens.hash_of(secret).encode() in kept
        assert not [one for one in (secret, *links, browser.csrf) if one.encode() in kept]


async def test_neither_links_nor_visits_open_the_tools(site: Site, store: Store) -> None:
    async with site.browser() as browser:
        (secret,) = browser.client.cookies.values()
        for text in (secret, await site.link(), await site.link("observer")):
            with pytest.raises(NotAuthenticated):
                await store.read(lambda tx, text=text: tokens.identify(tx, text))


async def test_a_visit_ends_when_it_is_left(site: Site, browser: Browser) -> None:
    (secret,) = browser.client.cookies.values()
    (name,) = browser.client.cookies.keys()
    await browser.post("/api/logout", {})
    async with site.stranger() as client:
        answer = await client.get("/api/session", headers={"Cookie": f"{name}={secret}"})
        assert answer.status_code == 401


async def test_a_visit_does_not_last_for_ever(browser: Browser, clock: ManualClock) -> None:
    clock.advance(VISIT_LASTS.total_seconds() + 1)
    assert await browser.refused("/api/session") == (401, "NOT_AUTHENTICATED")


async def test_signing_out_ends_every_visit_and_every_link(site: Site, browser: Browser, project: Project) -> None:
    link = await site.link()
    ended = await viewing.sign_out(Access(site.store, project, Caller("human", "operator", DEFAULT_INSTANCE)))
    assert ended == 2
    assert await browser.refused("/api/session") == (401, "NOT_AUTHENTICATED")
    async with site.stranger() as client:
        assert await login(client, link) == (403, "LINK_SPENT")


async def test_a_visit_outlives_its_server(store: Store, project: Project) -> None:
    async with sites.serving(store, project) as site, site.browser() as browser:
        (secret,) = browser.client.cookies.values()
        (name,) = browser.client.cookies.keys()
        csrf = browser.csrf
    async with sites.serving(store, project) as site, site.stranger() as client:
        answer = await client.get("/api/session", headers={"Cookie": f"{name}={secret}"})
        assert answer.json()["csrf"] == csrf


async def test_pages_of_two_projects_have_cookies_of_their_own(store: Store, project: Project) -> None:
    other = Project(project.root / "other")
    async with (
        sites.serving(store, project) as one,
        sites.serving(store, other) as two,
        one.browser() as first,
        two.browser() as second,
    ):
        assert first.client.cookies.keys() != second.client.cookies.keys()
