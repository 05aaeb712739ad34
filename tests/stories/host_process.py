"""Hosts as processes of their own that start in a moment: everything but the MCP server. Killed by the stories.

To load the modules takes longer than a host lives there, so this process loads them once. For every address that it
reads it forks a host, which says `ready` and its number, and it says `gone` when that has ended.
"""

import asyncio
import os
import sys

from moot.app.stores import open_store
from moot.store import postgres as postgres  # which a store would load when it is opened
from moot.store import sqlite as sqlite
from tests.runner.team import make_host


async def host(url: str) -> None:
    store = open_store(url, create=False)
    await make_host(store).run(lambda: say(f"ready {os.getpid()}"))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            asyncio.run(host(line.strip()))
            os._exit(0)
        os.waitpid(pid, 0)
        say("gone")


if __name__ == "__main__":
    main()
