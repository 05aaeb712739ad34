"""A host killed at random moments loses nothing, does nothing twice, and acknowledges nothing unhandled."""

import asyncio
import os
import random
from collections import Counter

import pytest

from moot.store.store import Store
from tests.runner.team import Line, Team, gather
from tests.stories.hosts import SECONDS, Nursery, nursery

AGENTS = ("ada", "ben", "cy")
# Each item is answered with one message by tool, then the attempt goes on for a moment: kills fall in between.
SCRIPT: list[Line] = [
    {"on": r"item (\d+)", "takes": "3ms", "calls": [{"channel_send": {"message": "done $1"}}], "say": "over"}
]


async def feed_items(team: Team, stop: asyncio.Event) -> list[int]:
    """Send items until told to stop; returns those that were acknowledged to the sender."""
    sent: list[int] = []
    while not stop.is_set():
        number = len(sent)
        await team.say(f"@{AGENTS[number % len(AGENTS)]} item {number}")
        sent.append(number)
        await asyncio.sleep(0.03)
    return sent


async def kill_hosts(hosts: Nursery, url: str, times: int, chance: random.Random) -> None:
    for _ in range(times):
        async with hosts.host(url) as process:
            await asyncio.sleep(chance.uniform(0, 0.25))
            process.kill()


async def story(team: Team, url: str, kills: int) -> None:
    chance = random.Random(7)
    stop = asyncio.Event()
    async with nursery() as hosts:
        async with asyncio.TaskGroup() as group:
            feeding = group.create_task(feed_items(team, stop))
            await kill_hosts(hosts, url, kills, chance)
            stop.set()
        sent = feeding.result()
        async with hosts.host(url), asyncio.timeout(SECONDS):
            await team.idle()
    assert len(sent) > kills / 2
    done = Counter(one.body for one in await team.channel() if one.body.startswith("done "))
    assert done == Counter(f"done {number}" for number in sent)
    assert all([await team.inbox(name) == [] for name in AGENTS])


async def test_nothing_is_lost_or_done_twice_over_many_kills(shared: Store, url: str) -> None:
    team = await gather(shared, dict.fromkeys(AGENTS, SCRIPT))
    await story(team, url, 50 if url.startswith("sqlite") else 15)


@pytest.mark.chaos
@pytest.mark.timeout(1800)
async def test_nothing_is_lost_or_done_twice_over_hundreds_of_kills(shared: Store, url: str) -> None:
    team = await gather(shared, dict.fromkeys(AGENTS, SCRIPT))
    await story(team, url, int(os.environ.get("MOOT_KILLS", "400")))


async def test_two_hosts_share_the_work_and_one_takes_over_from_the_other(shared: Store, url: str) -> None:
    team = await gather(shared, dict.fromkeys(AGENTS, SCRIPT))
    stop = asyncio.Event()
    async with nursery() as here, nursery() as there, here.host(url), asyncio.timeout(2 * SECONDS):
        async with there.host(url) as second, asyncio.TaskGroup() as group:
            feeding = group.create_task(feed_items(team, stop))
            await team.until_event("attempt_succeeded")
            second.kill()
            stop.set()
        await team.idle()
    done = Counter(one.body for one in await team.channel() if one.body.startswith("done "))
    assert done == Counter(f"done {number}" for number in feeding.result())
