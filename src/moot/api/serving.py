"""A host in the foreground: until a signal ends it."""

from collections.abc import Callable
from pathlib import Path

from moot.api import access, signals
from moot.app import hosting, workflows
from moot.app.hosting import HostOptions, Running
from moot.app.stores import open_store
from moot.core.ids import InstanceName


async def serve(
    *,
    store: str | None,
    instance: InstanceName,
    agents_file: Path | None = None,
    options: HostOptions | None = None,
    ready: Callable[[Running], None] = lambda running: None,
) -> None:
    """Run agents for this store. The first signal to end lets them finish, the second ends them."""
    project = access.find_project()
    newcomers = workflows.agents_of(project, agents_file) if agents_file else ()
    opened = open_store(project.store_url(store), create=True)
    try:
        await hosting.introduce(opened, instance, newcomers)
        async with hosting.hosting(project, opened, options) as running:
            _stop_on_signals(running)
            ready(running)
            await running.host.stopping()
    finally:
        await opened.close()


def _stop_on_signals(running: Running) -> None:
    seen = 0

    def stop() -> None:
        nonlocal seen
        seen += 1
        running.host.stop(now=seen > 1)

    signals.hear(stop)
