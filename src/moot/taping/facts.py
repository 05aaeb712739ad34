"""Facts: what a tape must tell of an event, so that the same can be done again. Whoever plays it relies on them."""

from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from moot.board import checks
from moot.core.caller import Role
from moot.core.permissions import Preset
from moot.core.records import record
from moot.documents import documents
from moot.proposals import votes
from moot.proposals.proposals import Status
from moot.registry import attempts, runs
from moot.registry.hosts import How
from moot.requests import requests
from moot.requests.requests import Kind, State
from moot.taping.tape import Happened
from moot.workspaces import workspaces

JOINED, STOPPED, RELEASED = "agent_registered", "agent_stopped", "agent_released"
ENDS = frozenset((attempts.SUCCEEDED, attempts.FAILED, attempts.INTERRUPTED, attempts.LOST))  # of attempts
_LONGEST = 10 * 365 * 24 * 3600  # seconds that a request may be open


@record
class _Vote:
    by: str
    choice: str
    title: str
    reason: str


@record
class _Closing:
    title: str
    status: Status
    winner: str | None
    reason: str


@record
class _Question:
    to: str
    kind: Kind
    title: str
    body: str
    options: list[str]
    lasts: Annotated[float, Field(ge=0, le=_LONGEST)] | None
    mode: Preset | None = None


@record
class _Answer:
    title: str
    requester: str
    state: State
    answer: str
    by: str | None


@record
class _Removal:
    action: Literal["deleted"]


@record
class _Text:
    action: Literal["created", "written", "appended"]
    content: str


@record
class _Stop:
    how: How


@record
class _Pause:
    is_paused: bool


@record
class _End:
    state: str
    reason: str


@record
class _Over:
    lost: dict[str, Annotated[int, Field(ge=0)]]


@record
class _Member:
    name: str
    runtime: str
    backend: str
    role: Role
    label: str


@record
class _Name:
    name: str


@record
class _Check:
    name: str
    round: int
    place: int
    has_passed: bool
    output: str


@record
class _Trouble:
    code: str
    fact: str
    remedy: str
    conflicts: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


@record
class _Workspace:
    branch: str
    repo_path: str | None
    path: str | None
    base_branch: str
    base_commit: str | None
    is_branch_ours: bool


@record
class _Made(_Workspace):
    trouble: _Trouble | dict[str, None]


@record
class _Merged(_Made):
    commit: str


@record
class _Removed(_Workspace):
    kept: str | None


@record
class _Refused(_Workspace):
    wanted: Literal["make", "merge", "remove"]
    trouble: _Trouble


_FACTS: dict[str, TypeAdapter[Any]] = {
    votes.CAST: TypeAdapter(_Vote),
    votes.CLOSED: TypeAdapter(_Closing),
    requests.OPENED: TypeAdapter(_Question),
    requests.ANSWERED: TypeAdapter(_Answer),
    documents.CHANGED: TypeAdapter(Annotated[_Removal | _Text, Field(discriminator="action")]),
    runs.STOP_ASKED: TypeAdapter(_Stop),
    runs.PAUSED: TypeAdapter(_Pause),
    runs.ENDED: TypeAdapter(_End),
    **dict.fromkeys(ENDS, TypeAdapter(_Over)),
    JOINED: TypeAdapter(_Member),
    STOPPED: TypeAdapter(_Name),
    RELEASED: TypeAdapter(_Name),
    checks.CHECKED: TypeAdapter(_Check),
    workspaces.MADE: TypeAdapter(_Made),
    workspaces.MERGED: TypeAdapter(_Merged),
    workspaces.REMOVED: TypeAdapter(_Removed),
    workspaces.REFUSED: TypeAdapter(_Refused),
}


def missing(line: Happened) -> str | None:
    """The first that is not there, or is not what it has to be; None if all are."""
    form = _FACTS.get(line.kind)
    if form is None:
        return None
    try:
        form.validate_python(line.facts)
    except ValidationError as error:
        place = error.errors()[0]["loc"]
        return str(place[-1]) if place else "action"
    return None
