"""Steering a run as a whole: pause it, let it go on, stop it, try again what was given up."""

from moot.api import control, parked
from moot.api.page.desk import Desk, Plain
from moot.api.targets import Target
from moot.core.errors import MootError
from moot.web import resource
from moot.web.ask import Ask
from moot.web.resource import Resource


class NotPaused(MootError):
    """Nothing waits to be let go on here."""

    code = "NOT_PAUSED"


def resources(at: Desk) -> list[Resource]:
    async def pause(ask: Ask) -> Plain:
        run = await control.pause(at.seat(ask), ask.instance)
        return {"workflow_id": run.id, "is_paused": True}

    async def resume(ask: Ask) -> Plain:
        """Only where somebody attends it: to attend a run takes a process, and that is not this page's."""
        if not await control.unpause(at.seat(ask), ask.instance):
            raise NotPaused("No run waits here to be let go on.", f"To take one up again: moot resume @{ask.instance}")
        return {"is_paused": False}

    async def stop(ask: Ask) -> Plain:
        how = "now" if ask.flag("now") else "safely"
        stopped = await control.stop(at.seat(ask), Target(None, ask.instance), how)
        return {"stopped": [one.name for one in stopped]}

    async def retry(ask: Ask) -> Plain:
        return {"revived": await parked.retry(at.seat(ask), Target(None, ask.instance))}

    return [
        resource.post("/api/run/pause", pause),
        resource.post("/api/run/resume", resume),
        resource.post("/api/run/stop", stop, "now"),
        resource.post("/api/run/retry", retry),
    ]
