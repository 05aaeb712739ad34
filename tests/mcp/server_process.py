"""A server as a process of its own, to be killed: `python server_process.py FOLDER`.

It makes a store and an agent there on first start, leaves the token in a file, and says when it is ready.
"""

import asyncio
import sys
from pathlib import Path

from moot.mcp import server
from moot.mcp.server import Endpoints
from moot.store import sqlite
from tests.mcp.people import Meeting


async def main(folder: Path) -> None:
    store = sqlite.open_file(folder / "served" / "moot.db", create=True)
    if not (folder / "token").exists():
        (folder / "token").write_text((await Meeting(store).join("ann")).token)
    await server.serve(
        store,
        Endpoints(folder / "served.sock", port=None),
        ready=lambda _: print("ready", flush=True),  # noqa: T201
    )


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
