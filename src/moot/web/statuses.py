"""Refusals of the page: the same shape as at the door, with the status that fits the fact."""

from collections.abc import Mapping

from starlette.types import Send

from moot.core.errors import InvalidInput, MootError, NotAllowed
from moot.core.json import Json
from moot.edge import answers, refusals
from moot.edge.refusals import HttpRefusal
from moot.registry.errors import LinkSpent, NotAuthenticated
from moot.store.errors import StoreBusy, StoreUnavailable
from moot.web.clash import Clash

_MISSING = ("_NOT_FOUND", "NOTHING_TRACED")


async def refuse(send: Send, error: MootError) -> None:
    if isinstance(error, HttpRefusal | NotAuthenticated):
        await answers.refuse(send, error)
    else:
        shown: Mapping[str, Json] = error.shown if isinstance(error, Clash) else {}
        await answers.send_json(send, status_of(error), {"error": {**refusals.facts_of(error), **shown}})


def status_of(error: MootError) -> int:
    match error:
        case StoreBusy() | StoreUnavailable():
            return 503
        case NotAllowed() | LinkSpent():
            return 403
        case InvalidInput():
            return 400
        case _ if error.code.endswith(_MISSING):
            return 404
        case _:  # things are not as whoever asked believed
            return 409
