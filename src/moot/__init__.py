"""moot: where coding agents work together.

    import moot

    outcome = moot.run("review.yaml", inputs={"issue": 42})

    async with moot.connect() as m:
        await m.send("@reviewer please look at auth.py")

All of it is on one page, docs/python.md. What is named here is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from moot.core.version import VERSION as __version__

if TYPE_CHECKING:
    from moot.api.functions import Function as Function
    from moot.api.functions import tool as tool
    from moot.api.meeting import Meeting as Meeting
    from moot.api.meeting import connect as connect
    from moot.api.outcomes import Outcome as Outcome
    from moot.api.outcomes import RunNotDone as RunNotDone
    from moot.api.outcomes import resume as resume
    from moot.api.outcomes import run as run
    from moot.bus.messages import Message as Message
    from moot.core.caller import Caller as Caller
    from moot.core.errors import MootError as MootError
    from moot.tools.talk import Said as Said

_PLACES = {
    "Caller": "moot.core.caller",
    "Function": "moot.api.functions",
    "Meeting": "moot.api.meeting",
    "Message": "moot.bus.messages",
    "MootError": "moot.core.errors",
    "Outcome": "moot.api.outcomes",
    "RunNotDone": "moot.api.outcomes",
    "Said": "moot.tools.talk",
    "connect": "moot.api.meeting",
    "resume": "moot.api.outcomes",
    "run": "moot.api.outcomes",
    "tool": "moot.api.functions",
}
__all__ = [
    "Caller",
    "Function",
    "Meeting",
    "Message",
    "MootError",
    "Outcome",
    "RunNotDone",
    "Said",
    "__version__",
    "connect",
    "resume",
    "run",
    "tool",
]


def __getattr__(name: str) -> object:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'moot' has no attribute {name!r}")
    found: object = getattr(import_module(place), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
