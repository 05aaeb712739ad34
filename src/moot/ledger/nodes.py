"""The nodes of a trace: what was done, what each belongs to, and what was used at it and below."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import field, fields, replace
from datetime import datetime

from moot.core.ids import AttemptId
from moot.core.records import record

_ANSWERS = frozenset(("handoff", "router", "supervisor"))  # for whom it was called
_IN_ITS_PLACE = frozenset(("advisor", "handoff", "router"))


@record
class Amounts:
    """Of one model call, or of all below a node."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: int = 0
    is_estimated: bool = False

    def __add__(self, other: "Amounts") -> "Amounts":
        summed = {one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)}
        return Amounts(**(summed | {"is_estimated": self.is_estimated or other.is_estimated}))


@record
class Node:
    """Something that was done, and what it belongs to."""

    id: str
    parent: str | None
    kind: str  # run, job, attempt, message, session, turn, model, tool
    name: str
    started_at: datetime
    ended_at: datetime | None = None
    state: str = "done"
    trigger: str = ""  # how it came to be: root, subagent, handoff, …; given or said, of a message
    agent: str = ""
    stop: str = ""
    error: str = ""
    text: str = ""  # how a message begins
    number: int = 1  # of the try
    path: str = ""  # in its tree
    root: str = ""  # of that tree
    attempt: AttemptId | None = None
    used: Amounts = field(default_factory=Amounts)


def totals(nodes: Sequence[Node]) -> dict[str, Amounts]:
    """What was used at each node and below it, by id."""
    found = {one.id: one.used for one in nodes}
    parents = {one.id: one.parent for one in nodes}
    for one in nodes:
        parent = one.parent
        while parent is not None and one.used.calls:
            found[parent] = found.get(parent, Amounts()) + one.used
            parent = parents.get(parent)
    return found


def terminals(nodes: Sequence[Node]) -> dict[str, str]:
    """Whose answer is that of each session, by id: all that was used at it and below is the price of that answer."""
    found = {one.id: one.name for one in nodes if one.kind == "session"}
    for one in reversed(nodes):  # those below before those above
        if one.kind == "session" and one.trigger in _ANSWERS and one.parent in found:
            found[one.parent] = found[one.id]
    return found


def stretched(made: Sequence[Node]) -> Iterator[Node]:
    """What was made up lasts as long as what belongs to it. An agent whose advisors are heard first, or that others
    answer for, takes as long as they do: as with the cost. Who is asked again has rested meanwhile. What belongs to a
    node comes behind it, and before it in what is made of them."""
    below: dict[str | None, list[Node]] = defaultdict(list)
    for node in reversed(made):
        own = below[node.id]
        told = [node, *(one for one in own if one.trigger in _IN_ITS_PLACE)] if node.state else own
        ends = [one.ended_at for one in told if one.ended_at]
        is_over = len(ends) == len(told)
        whole = replace(
            node,
            started_at=min(one.started_at for one in told),
            ended_at=max(ends) if is_over else None,
            state=node.state or ("done" if is_over else "started"),
        )
        below[node.parent].append(whole)
        yield whole
