"""Whoever watches hears everything once, from where it left off, whatever happens to it or to the server meanwhile."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import pytest

from moot.app.project import Project
from moot.core.caller import SYSTEM
from moot.core.ids import DEFAULT_INSTANCE, InstanceName
from moot.core.tx import Tx
from moot.registry import instances, visits
from moot.runner import removal
from moot.store.store import Store
from moot.tools import talk
from moot.tools.talk import Words
from moot.web import broadcasts
from tests.web import site as sites
from tests.web.site import DEADLINE, Browser, Events, Site

OTHER = InstanceName("other")


async def say(store: Store, body: str, instance: InstanceName = DEFAULT_INSTANCE) -> None:
    def change(tx: Tx) -> None:
        talk.say(tx, instances.ensure(tx, instance), None, Words(body))

    await store.write(change, caller=SYSTEM)


async def said(events: Events, count: int) -> list[str]:
    """The next messages."""
    found: list[str] = []
    while len(found) < count:
        heard = await events.next()
        if not heard.event and "message" in heard.data:
            found.append(heard.data["message"]["message"])
    return found


async def test_a_message_comes_whole(browser: Browser, store: Store) -> None:
    await say(store, "before")
    async with browser.listening() as events:
        assert (await events.next()).event == "hello"
        await say(store, "<b>now</b>")
        heard = await events.next()
        assert heard.data["kind"] == "message_posted"
        (listed,) = (await browser.get("/api/messages", limit=1))["messages"]
        assert heard.data["message"] == listed
        assert heard.id.endswith(f":{listed['seq']}")


async def test_a_view_and_the_events_behind_it_leave_nothing_out_and_repeat_nothing(
    browser: Browser, store: Store
) -> None:
    await say(store, "1")
    view = await browser.get("/api/overview")
    await say(store, "2")
    async with browser.listening(after=view["cursor"]) as events:
        await say(store, "3")
        assert await said(events, 2) == ["2", "3"]
    assert [one["message"] for one in view["messages"]] == ["1"]


async def test_what_happened_in_an_instance_that_was_not_there_is_told_from_the_beginning(
    browser: Browser, store: Store
) -> None:
    view = await browser.get("/api/overview")
    assert view["exists"] is False
    async with browser.listening(after=view["cursor"]) as events:
        await say(store, "first")
        assert await said(events, 1) == ["first"]
    async with browser.listening(after=view["cursor"]) as events:
        assert await said(events, 1) == ["first"]


async def test_who_comes_back_hears_what_it_missed_once(browser: Browser, store: Store) -> None:
    await say(store, "0")
    async with browser.listening() as events:
        await events.next()
        await say(store, "1")
        last = (await events.next()).id
    for number in range(2, 12):
        await say(store, str(number))
    async with browser.listening(last=last, after="wrong:0") as events:
        assert await said(events, 10) == [str(number) for number in range(2, 12)]


async def test_a_restart_of_the_server_loses_nothing_and_repeats_nothing(store: Store, project: Project) -> None:
    await say(store, "0")
    async with sites.serving(store, project) as site, site.browser() as browser:
        async with browser.listening() as events:
            await events.next()
            await say(store, "1")
            last = (await events.next()).id
        cookies, csrf = dict(browser.client.cookies), browser.csrf
    await say(store, "2")
    async with sites.serving(store, project) as site, site.stranger() as client:
        client.cookies.update(cookies)
        async with Browser(client, csrf).listening(last=last) as events:
            await say(store, "3")
            assert await said(events, 2) == ["2", "3"]


async def test_who_reads_slowly_is_not_waited_for_and_catches_up(
    site: Site, browser: Browser, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcasts, "_KEPT", 5)
    await say(store, "begin")
    host, port = site.url.removeprefix("http://").split(":")
    (name,), (secret,) = browser.client.cookies.keys(), browser.client.cookies.values()
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 12)
    head = f"GET /api/events HTTP/1.1\r\nHost: {host}:{port}\r\nCookie: {name}={secret}\r\n\r\n"
    writer.write(head.encode())
    async with asyncio.timeout(DEADLINE), browser.listening() as quick:
        await reader.readuntil(b"hello")
        assert (await quick.next()).event == "hello"
        long = "x" * 200_000  # more than sockets and buffers hold, all together
        for number in range(60):
            await say(store, f"{number} {long}")
        assert [body.split()[0] for body in await said(quick, 60)] == [str(number) for number in range(60)]
        numbers: list[int] = []
        while len(numbers) < 60:
            line = await _line(reader)
            if line.startswith(b"data: ") and b'"message"' in line:
                numbers.append(int(json.loads(line.removeprefix(b"data: "))["message"]["message"].split()[0]))
    writer.close()
    assert numbers == list(range(60))


async def _line(reader: asyncio.StreamReader) -> bytes:
    """A line of any length; chunks of the transfer are taken out as they are lines of their own."""
    pieces: list[bytes] = []
    while True:
        try:
            pieces.append(await reader.readuntil(b"\n"))
        except asyncio.LimitOverrunError as error:
            pieces.append(await reader.readexactly(error.consumed))
            continue
        return b"".join(pieces).strip()


async def test_what_is_said_elsewhere_is_not_told(browser: Browser, store: Store) -> None:
    await say(store, "here")
    async with browser.listening() as events:
        await events.next()
        await say(store, "there", OTHER)
        await say(store, "here again")
        assert await said(events, 1) == ["here again"]
    async with browser.listening(instance=OTHER, after="new:0") as events:
        assert await said(events, 1) == ["there"]


async def test_whoever_knew_an_instance_that_was_deleted_begins_anew(browser: Browser, store: Store) -> None:
    await say(store, "old")
    view = await browser.get("/api/overview")
    await removal.remove(store, DEFAULT_INSTANCE, SYSTEM)
    await say(store, "new")
    async with browser.listening(last=view["cursor"]) as events:
        assert (await events.next()).event == "reset"
        assert (await events.next()).event == "hello"
        await say(store, "newer")
        assert await said(events, 1) == ["newer"]


@pytest.mark.parametrize("after", ["garbage", ":", "in_x:", "in_x:-1", "in_x:\u0661", f"in_x:{10**30}"])
async def test_a_place_that_is_none_does_no_harm(browser: Browser, store: Store, after: str) -> None:
    await say(store, "1")
    async with browser.listening(after=after) as events:
        names = [(await events.next()).event]
        if names == ["reset"]:
            names.append((await events.next()).event)
        assert names[-1] == "hello"
        await say(store, "2")
        assert await said(events, 1) == ["2"]


async def test_a_sign_of_life_comes_as_a_comment(store: Store, project: Project) -> None:
    await say(store, "1")
    async with _beating(store, project) as site, site.browser() as browser, browser.listening() as events:
        await events.next()
        async for line in events.lines:
            if line.startswith(":"):
                break
        await say(store, "2")
        assert await said(events, 1) == ["2"]


async def test_a_visit_that_is_over_hears_nothing_more(store: Store, project: Project) -> None:
    await say(store, "1")
    async with _beating(store, project) as site, site.browser() as browser, browser.listening() as events:
        await events.next()
        await store.write(visits.end_all, caller=SYSTEM)
        assert await events.rest() == []


async def test_a_server_that_stops_lets_those_who_watch_go(store: Store, project: Project) -> None:
    await say(store, "1")
    async with AsyncExitStack() as visit, asyncio.timeout(DEADLINE):
        async with sites.serving(store, project) as site:
            browser = await visit.enter_async_context(site.browser())
            events = await visit.enter_async_context(browser.listening())
            await events.next()
        assert await events.rest() == []


def _beating(store: Store, project: Project) -> AbstractAsyncContextManager[Site]:
    return sites.serving(store, project, beat=0.05)
