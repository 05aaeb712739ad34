"""The demo: a run of scripted agents on a real store, through a real server, in a folder that is gone afterwards."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

from moot.api import running
from moot.api.running import Order, Piece
from moot.app import workflows
from moot.app.project import Project
from moot.core.ids import DEFAULT_INSTANCE

_WORKFLOW = Path(__file__).with_name("demo.yaml")
_LONGEST = timedelta(seconds=60)


async def play() -> AsyncIterator[Piece]:
    """What is said, as it is said; at the end, how it went."""
    with tempfile.TemporaryDirectory(prefix="moot-demo-") as folder:
        project = Project(Path(folder))
        loaded = workflows.load(project, str(_WORKFLOW), DEFAULT_INSTANCE)
        order = Order(str(_WORKFLOW), "run", DEFAULT_INSTANCE, store=project.own_store_url, project=project)
        async with asyncio.timeout(_LONGEST.total_seconds()):
            async for piece in running.run(order, loaded):
                yield piece
