"""A relay as a process of its own: `python relay_process.py SOCKET [STORE]`, the token in the environment.

With a store, it serves that itself when there is no server. MOOT_SILENCE is how long it waits for a sign of life.
"""

import asyncio
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from moot.mcp.relay import stdio
from moot.mcp.relay.courier import Client
from moot.mcp.relay.link import Patience
from moot.mcp.relay.relaying import relay


async def main(socket: Path, store: Path | None) -> None:
    async with AsyncExitStack() as stack:

        async def take_over() -> None:
            assert store is not None
            from moot.mcp import server  # noqa: PLC0415  # only who serves pays for it
            from moot.mcp.server import Endpoints  # noqa: PLC0415
            from moot.store import sqlite  # noqa: PLC0415

            opened = sqlite.open_file(store, create=False)
            stack.push_async_callback(opened.close)
            await stack.enter_async_context(server.serving(opened, Endpoints(socket, port=None)))

        hook = None if store is None else take_over
        await relay(
            socket, Client(os.environ["MOOT_TOKEN"]), *await stdio.opened(), take_over=hook, patience=patience()
        )


def patience() -> Patience:
    silence = os.environ.get("MOOT_SILENCE")
    return Patience() if silence is None else Patience(beat=float(silence), silence=float(silence))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
