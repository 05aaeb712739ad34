"""What a foreign page, a careless client or an attacker sends to the page is refused, and says nothing to them."""

import asyncio
import re
from collections.abc import Mapping

import pytest

from moot.bus import messages
from moot.edge import bodies
from moot.mcp import server
from moot.mcp.server import Endpoints
from moot.mcp.sockets import AddressRefused
from moot.registry import instances
from moot.store.store import Store
from tests.web import site as sites
from tests.web.site import Browser, Site

SEND = {"message": "@all in"}


async def is_silent(store: Store) -> bool:
    """Whether nobody has said anything."""
    return not await store.read(
        lambda tx: [one for place in instances.all_of(tx) for one in messages.latest(tx, place.stream, 1)]
    )


def codes(answer_status: int, answer: Mapping[str, Mapping[str, str]]) -> tuple[int, str]:
    return answer_status, answer["error"]["code"]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Host": "evil.example"}, (421, "HOST_REFUSED")),
        ({"Host": "127.0.0.1.evil.example"}, (421, "HOST_REFUSED")),
        ({"Origin": "http://evil.example"}, (403, "ORIGIN_REFUSED")),
        ({"Origin": "null"}, (403, "ORIGIN_REFUSED")),
        ({"Origin": "http://127.0.0.1:1"}, (403, "ORIGIN_REFUSED")),
        ({"Origin": "http://localhost"}, (403, "ORIGIN_REFUSED")),
        ({"Sec-Fetch-Site": "cross-site"}, (403, "ORIGIN_REFUSED")),
        ({"Sec-Fetch-Site": "same-site"}, (403, "ORIGIN_REFUSED")),
    ],
)
async def test_other_pages_and_names_are_not_let_in(
    browser: Browser, store: Store, headers: Mapping[str, str], expected: tuple[int, str]
) -> None:
    for method, path, body in (("POST", "/api/messages", SEND), ("GET", "/api/overview", None)):
        answer = await browser.client.request(method, path, json=body, headers={"X-Moot-CSRF": browser.csrf, **headers})
        assert codes(answer.status_code, answer.json()) == expected
    assert await is_silent(store)


async def test_our_own_page_is_let_in(browser: Browser) -> None:
    origin = str(browser.client.base_url).rstrip("/")
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin", "X-Moot-CSRF": browser.csrf}
    answer = await browser.client.post("/api/messages", json=SEND, headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize("type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_only_json_is_taken(browser: Browser, store: Store, type: str) -> None:
    headers = {"X-Moot-CSRF": browser.csrf, "Content-Type": type}
    answer = await browser.client.post("/api/messages", content=b'{"message": "@all in"}', headers=headers)
    assert codes(answer.status_code, answer.json()) == (415, "CONTENT_TYPE_REFUSED")
    assert await is_silent(store)


async def test_nothing_is_changed_by_get(site: Site, browser: Browser, store: Store) -> None:
    answer = await browser.client.get("/api/messages", params=SEND, headers={"X-Moot-CSRF": browser.csrf})
    assert codes(answer.status_code, answer.json()) == (400, "INVALID_INPUT")
    link = await site.link()
    for path in ("/api/login", "/api/logout"):
        answer = await browser.client.get(path, headers={"X-Moot-CSRF": browser.csrf})
        assert codes(answer.status_code, answer.json()) == (405, "METHOD_NOT_ALLOWED")
    assert (await browser.client.get("/login")).status_code == 200
    assert (await browser.client.post("/api/login", json={"link": link})).status_code == 200  # it was not used up
    assert await is_silent(store)


@pytest.mark.parametrize("word", [None, "", "x", "0" * 64])
async def test_a_change_needs_the_word_of_its_own_visit(site: Site, store: Store, word: str | None) -> None:
    async with site.browser() as browser, site.browser() as other:
        for given in (word, other.csrf):
            headers = {} if given is None else {"X-Moot-CSRF": given}
            answer = await browser.client.post("/api/messages", json=SEND, headers=headers)
            assert codes(answer.status_code, answer.json()) == (403, "CSRF_REFUSED")
    assert await is_silent(store)


async def test_every_answer_forbids_frames_foreign_scripts_and_guessing(site: Site, browser: Browser) -> None:
    for path in ("/", "/login", "/static/main.js", "/api/overview", "/api/nothing", "/static/nothing.js"):
        headers = (await browser.client.get(path)).headers
        policy = dict(one.split(" ", 1) for one in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
        assert policy["require-trusted-types-for"] == "'script'"
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


async def test_data_is_not_kept_by_browsers(browser: Browser) -> None:
    for path in ("/api/overview", "/api/messages", "/api/session", "/api/nothing"):
        assert (await browser.client.get(path)).headers["cache-control"] == "no-store"


async def test_our_own_pages_have_nothing_inline(browser: Browser) -> None:
    for path in ("/", "/login"):
        text = (await browser.client.get(path)).text
        assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|https?://", text)


async def test_script_in_what_is_said_stays_data(browser: Browser) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    await browser.post("/api/messages", {"message": f"@all {evil}"})
    answer = await browser.client.get("/api/messages")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["messages"][0]["message"] == f"@all {evil}"


async def test_a_body_over_the_cap_is_refused(browser: Browser, store: Store) -> None:
    content = b'{"message": "' + b"x" * bodies.CAP + b'"}'
    headers = {"X-Moot-CSRF": browser.csrf, "Content-Type": "application/json"}
    answer = await browser.client.post("/api/messages", content=content, headers=headers)
    assert codes(answer.status_code, answer.json()) == (413, "BODY_TOO_LARGE")
    assert await is_silent(store)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"[" * 100_000,
        b'{"message": "\\u0000"}',
        b'{"message": "\\ud800"}',
        b'{"message": "a", "message": "b"}',
        b'{"message": 1}',
        b'{"message": null}',
        b'{"message": "a", "other": 1}',
        b'{"message": "a", "to": "b", "reply_to": 1e308}',
        b'{"message": "a", "to": [1]}',
        b'{"message": ["a"]}',
        b'{"message": "   "}',
        b"\xff\xfe",
    ],
)
async def test_a_body_that_is_not_sound_changes_nothing(browser: Browser, store: Store, content: bytes) -> None:
    headers = {"X-Moot-CSRF": browser.csrf, "Content-Type": "application/json"}
    answer = await browser.client.post("/api/messages", content=content, headers=headers)
    assert 400 <= answer.status_code < 500, answer.text
    assert set(answer.json()["error"]) >= {"code", "message", "remedy"}
    assert await is_silent(store)


@pytest.mark.parametrize(
    "query",
    ["limit=-1", "limit=0", "limit=true", "limit=1e3", "limit=9999", "before=x", "before=1&after=1", "nope=1",
     "limit=1&limit=2", "limit=%00", "before=%ff", "instance=..%2F..%2Fetc", "instance=%00"],
)  # fmt: skip
async def test_arguments_that_are_not_sound_are_refused(browser: Browser, query: str) -> None:
    answer = await browser.client.get(f"/api/messages?{query}")
    assert answer.status_code == 400, answer.text
    assert set(answer.json()["error"]) == {"code", "message", "remedy"}


@pytest.mark.parametrize(
    "path",
    ["/static/../page.py", "/static/%2e%2e/page.py", "/static//etc/passwd", "/static/..%2f..%2fpage.py", "/static/",
     "/static/static/main.js", "/api", "/api/", "/admin", "/api/messages/"],
)  # fmt: skip
async def test_no_path_leads_out_of_the_page(site: Site, path: str) -> None:
    host, port = site.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
    async with asyncio.timeout(sites.DEADLINE):
        answer = await reader.read()
    writer.close()
    assert answer.split(b" ")[1] in (b"404", b"401"), answer


async def test_a_token_in_the_address_is_refused(site: Site, browser: Browser) -> None:
    link = await site.link()
    for query in (f"token={link}", "access_TOKEN=x"):
        answer = await browser.client.get(f"/api/overview?{query}")
        assert codes(answer.status_code, answer.json()) == (400, "BAD_REQUEST")
        assert link not in answer.text


async def test_who_only_watches_sees_everything_and_changes_nothing(watcher: Browser, store: Store) -> None:
    assert (await watcher.get("/api/session"))["may_change"] is False
    assert (await watcher.get("/api/overview"))["instance"] == "default"
    assert await watcher.refused("/api/messages", SEND) == (403, "READ_ONLY")
    assert await is_silent(store)


async def test_on_a_page_that_only_shows_nobody_changes_anything(store: Store, site: Site) -> None:
    async with sites.serving(store, site.project, is_read_only=True) as shown, shown.browser() as browser:
        assert (await browser.get("/api/session"))["may_change"] is False
        assert await browser.refused("/api/messages", SEND) == (403, "READ_ONLY")
    assert await is_silent(store)


async def test_a_visitor_who_never_ends_its_request_holds_up_nobody(site: Site, browser: Browser, store: Store) -> None:
    host, port = site.url.removeprefix("http://").split(":")
    (name,), (secret,) = browser.client.cookies.keys(), browser.client.cookies.values()
    head = (
        f"POST /api/messages HTTP/1.1\r\nHost: {host}:{port}\r\nCookie: {name}={secret}\r\n"
        f"X-Moot-CSRF: {browser.csrf}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    )
    async with asyncio.timeout(sites.DEADLINE):
        opened = [await asyncio.open_connection(host, int(port)) for _ in range(50)]
        for _, writer in opened:
            writer.write(head.encode() + b'{"message": "@all never')
            await writer.drain()
        assert (await browser.get("/api/overview"))["exists"] is False
        assert await is_silent(store)
        for _, writer in opened:
            writer.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
async def test_the_page_is_not_opened_to_other_machines(store: Store, host: str) -> None:
    with pytest.raises(AddressRefused):
        async with server.serving(store, Endpoints(host=host)):
            pass
