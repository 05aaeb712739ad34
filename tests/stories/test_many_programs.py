"""Many programs at once in one host: all come to their end, and the host is as it was before."""

import asyncio
import os
import shlex
import sys
from pathlib import Path

import psutil

from moot.app import hosting, project, stores
from moot.app.hosting import HostOptions
from moot.bus import messages
from moot.core.caller import SYSTEM
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.runner import idle
from moot.store.store import Store
from moot.tools import talk
from moot.tools.talk import Words
from tests.processes import is_running

MANY = 50
DEADLINE = 240.0
HERE = InstanceName("default")
MEBIBYTE = 1 << 20


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else psutil.Process().num_fds()


async def until_idle(store: Store) -> None:
    def is_idle(tx: ReadTx) -> bool:
        return idle.is_idle(tx, instances.get(tx, HERE).stream)

    with store.listen() as signal:
        async with asyncio.timeout(DEADLINE):
            while not await store.read(is_idle):
                await signal.wait()
                signal.clear()


async def say(store: Store, body: str) -> None:
    await store.write(lambda tx: talk.say(tx, instances.get(tx, HERE), None, Words(body)), caller=SYSTEM)


async def test_fifty_commands_at_once_end_and_leave_nothing(tmp_path: Path) -> None:
    line = f"{shlex.quote(sys.executable)} -S -c \"import sys; print('I am', sys.stdin.read().count('hello'))\""
    command: list[Json] = ["/bin/sh", "-c", line]
    there = set(psutil.Process().children(recursive=True))  # what other tests keep for themselves
    place = project.Project(tmp_path)
    place.make_folder()
    store = stores.open_store(place.own_store_url, create=True)
    newcomers = tuple(
        NewAgent(f"agent{number}", backend="command", settings={"command": command}) for number in range(MANY)
    )
    try:
        async with hosting.hosting(place, store, HostOptions(port=0)):
            await hosting.introduce(store, HERE, newcomers)
            await say(store, "@agent0 hello")
            await until_idle(store)
            before = descriptors()
            size = psutil.Process().memory_info().rss
            for _ in range(2):
                await say(store, " ".join(f"@{one.name}" for one in newcomers) + " hello")
                await until_idle(store)
            assert descriptors() <= before + 2
            assert psutil.Process().memory_info().rss - size < 64 * MEBIBYTE
            assert list(place.private_folder.iterdir()) == []
            stream = await store.read(lambda tx: instances.get(tx, HERE).stream)
            states = await store.read(lambda tx: [one.status for one in agents.members(tx, stream)])
            assert "busy" not in states
            said = await store.read(lambda tx: messages.latest(tx, stream, 1000))
            assert sum(one.body.startswith("I am ") for one in said) == 1 + 2 * MANY
    finally:
        await store.close()
    assert not [one for one in psutil.Process().children(recursive=True) if one not in there and is_running(one.pid)]
