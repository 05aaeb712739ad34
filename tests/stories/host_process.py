"""A host as a process of its own that starts in a moment: everything but the MCP server. Killed by the stories."""

import asyncio
import sys

from moot.app.stores import open_store
from tests.runner.team import make_host


async def main(url: str) -> None:
    store = open_store(url, create=False)
    host = make_host(store)
    await host.run(_say_ready)


def _say_ready() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
