"""The steps of a tree of sessions as nodes, each with the one it belongs to: session, turn, model and tool call, and
whoever was called, asked or followed from there.

Only the paths say what belongs where. A turn has no record of its own, and neither has an agent whose advisors are
still heard: they are made up here.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from moot.core import json
from moot.core.errors import MootError
from moot.core.ids import AttemptId
from moot.core.json import Json
from moot.ledger.traces import Step, ToolCall

_NAMED = frozenset(("adv", "team"))  # in a path they stand before a name, which may be any word
_TRIGGERS = {"s": "subagent", "h": "handoff", "r": "router", "adv": "advisor", "team": "member", "boss": "supervisor"}
_ENDING = frozenset(("final_report", "handoff_to"))  # a session ends with them, or they were refused
_WITHIN = _ENDING | {"team_broadcast", "ask_clarification", "result_read"}  # calls that are made without a record
_NOT_TAKEN, _NOT_MADE = "it was not taken", "nothing was done"
_IN_ITS_PLACE = frozenset(("advisor", "handoff", "router"))
_TURN = re.compile(r"t\d+")
_AGAIN = re.compile(r"q\d+")
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Used:
    """Of one model call, or of all below a node."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: int = 0
    is_estimated: bool = False

    def __add__(self, other: "Used") -> "Used":
        summed = {one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)}
        return Used(**(summed | {"is_estimated": self.is_estimated or other.is_estimated}))


@dataclass(frozen=True, slots=True)
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
    path: str = ""
    root: str = ""
    attempt: AttemptId | None = None
    used: Used = field(default_factory=Used)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the nodes of a tree hang."""

    parent: str | None
    prefix: str  # of their ids
    agent: str  # whose tree it is
    model: str  # of that agent, where a step names none
    within: AttemptId | None = None  # only what was begun in this attempt, and what leads there
    since: datetime | None = None  # when that attempt began, before which nothing is shown of what leads there
    until: datetime | None = None  # and ended


def parts(path: str) -> list[str]:
    """`team/adv/t1/m` is `team/adv`, `t1`, `m`: a name is no part by itself."""
    words = iter(path.split("/") if path else ())
    return [f"{one}/{next(words, '')}" if one in _NAMED else one for one in words]


def above(path: str) -> str | None:
    """The path of what something belongs to; None for the root."""
    found = parts(path)
    return "/".join(found[:-1]) if found else None


def _all_above(path: str) -> Iterator[str]:
    found = parts(path)
    return ("/".join(found[:length]) for length in range(len(found)))


def nodes(steps: Sequence[Step], place: Place) -> list[Node]:
    """Of one tree, those above before those below, in the order of their beginnings."""
    wanted = [one for one in steps if place.within in (None, one.attempt)]
    return _Growth(steps, place).grown(wanted)


class _Growth:
    """One tree while it is put together."""

    def __init__(self, steps: Sequence[Step], place: Place) -> None:
        self._place = place
        self._root = steps[0].root if steps else ""
        self._sessions = {one.path: one for one in steps if one.kind == "session"}
        self._calls = {one.path: one for one in steps if one.kind == "tool"}
        self._resumed = {over for one in steps for over in _all_above(one.path) if self._is_resumed(over, one)}
        self._first: dict[str, Step] = {}  # of each turn
        for one in steps:
            if one.kind != "session":
                self._first.setdefault(above(one.path) or "", one)
        self._made: dict[str, Node] = {}

    def _is_resumed(self, path: str, below: Step) -> bool:
        """A session whose attempt was lost has gone on since, in another one."""
        session = self._sessions.get(path)
        return session is not None and session.state == "unknown" and below.attempt != session.attempt

    def grown(self, wanted: Iterable[Step]) -> list[Node]:
        for one in wanted:
            self._add(one)
            for number, name in enumerate(one.calls, 1):
                self._call(one, f"{above(one.path)}/c{number}", name)
        return sorted(self._stretched(), key=_order)

    def _add(self, step: Step) -> str:
        id = self._id(step.path, step.number)
        if id not in self._made:
            self._made[id] = Node(
                id,
                self._parent(step),
                step.kind,
                step.name or (self._place.model if step.kind == "model" else step.agent),
                step.started_at,
                step.ended_at,
                self._state(step),
                "" if step.trigger == "turn" else step.trigger,
                step.agent,
                step.stop,
                step.error or (_words(step.refusal) if step.refusal else ""),
                number=step.number,
                path=step.path,
                root=step.root,
                attempt=step.attempt,
                used=_used(step) if step.kind == "model" else Used(),
            )
        return id

    def _call(self, answer: Step, path: str, name: str) -> None:
        """A call that is on record only in the answer which asks for it: it ends or steers the session, or was never
        made. What it led to, if anything, stands for itself."""
        if path in self._calls or f"{path}/s" in self._sessions or self._is_to_come(answer):
            return
        error = _NOT_MADE if name not in _WITHIN else _NOT_TAKEN if name in _ENDING and self._goes_on(answer) else ""
        moment = answer.ended_at or answer.started_at
        id = self._id(path)
        self._made[id] = Node(
            id,
            self._turn(above(path) or "", answer),
            "tool",
            name,
            moment,
            moment,
            "failed" if error else "done",
            "answer",
            answer.agent,
            error=error,
            path=path,
            root=self._root,
            attempt=answer.attempt,
        )

    def _is_to_come(self, answer: Step) -> bool:
        """Whether nobody has got to its calls yet."""
        session = self._sessions.get(above(above(answer.path) or "") or "")
        is_open = session is not None and session.state in ("started", "unknown")
        return is_open and self._next_turn(answer) is None

    def _goes_on(self, answer: Step) -> bool:
        """Whether a session has another turn before it is asked again."""
        turn = above(answer.path) or ""
        session, following = above(turn) or "", self._next_turn(answer)
        return following is not None and self._asked(session, answer) == self._asked(session, following)

    def _next_turn(self, answer: Step) -> Step | None:
        *over, turn = parts(above(answer.path) or "")
        return self._first.get("/".join([*over, f"t{int(turn[1:]) + 1}"]))

    def _state(self, step: Step) -> str:
        """Empty: that is for those below to tell."""
        if step.path in self._resumed and step.kind == "session" and step.attempt != self._place.within:
            return ""
        return "failed" if step.refusal else step.state

    def _id(self, path: str, number: int = 1) -> str:
        return f"{self._place.prefix}:{path}" + (f"#{number}" if number > 1 else "")

    def _parent(self, step: Step) -> str | None:
        over = above(step.path)
        return self._place.parent if over is None else self._over(over, step)

    def _over(self, path: str, below: Step) -> str:
        """The node of what something belongs to, made if there is none yet."""
        last = (parts(path) or [""])[-1]
        if path in self._sessions:
            return self._add(self._sessions[path])
        if path in self._calls:
            return self._add(self._calls[path])
        if _TURN.fullmatch(last):
            return self._turn(path, below)
        if last.startswith("c"):  # a call that has no record beside that of the session it led to
            return self._turn(above(path) or "", below)
        return self._unseen(path, below)

    def _turn(self, path: str, below: Step) -> str:
        id = self._id(path)
        if id not in self._made:
            first = self._first.get(path, below)
            session = self._asked(above(path) or "", first)
            name = f"turn {parts(path)[-1][1:]}"
            self._made[id] = self._made_up(id, session, "turn", name, first, path)
        return id

    def _asked(self, path: str, first: Step) -> str:
        """A session goes on with its turns when it is asked again: which of the questions a turn belongs to."""
        again = [
            one
            for one in self._sessions.values()
            if above(one.path) == path and _AGAIN.fullmatch(parts(one.path)[-1]) and one.started_at <= first.started_at
        ]
        if again:
            return self._add(max(again, key=lambda one: (one.started_at, _natural(one.path))))
        return self._over(path, first)

    def _unseen(self, path: str, below: Step) -> str:
        """A session that has not begun yet."""
        id = self._id(path)
        if id not in self._made:
            over = above(path)
            parent = self._place.parent if over is None else self._over(over, below)
            name = self._place.agent if over is None else _name_of(path, below)
            made = self._made_up(id, parent, "session", name, below, path)
            self._made[id] = replace(made, trigger=_TRIGGERS.get(path and parts(path)[-1].partition("/")[0], ""))
        return id

    def _made_up(self, id: str, parent: str | None, kind: str, name: str, below: Step, path: str) -> Node:
        agent = below.agent if kind == "turn" else name
        moment, attempt = below.started_at, self._place.within or below.attempt
        return Node(id, parent, kind, name, moment, None, "", "", agent, path=path, root=self._root, attempt=attempt)

    def _stretched(self) -> list[Node]:
        """What was made up lasts as long as what belongs to it. What is below comes first, longest paths first."""
        children: dict[str | None, list[Node]] = {}
        found: list[Node] = []
        for node in sorted(self._made.values(), key=lambda one: -_depth(one.id, self._made)):
            below = children.get(node.id, [])
            whole = _led_on(node, below) if node.state else _spanning(node, below)
            children.setdefault(node.parent, []).append(whole)
            found.append(self._within(whole) if node.kind in ("session", "turn") else whole)
        return found

    def _within(self, node: Node) -> Node:
        """What several attempts worked on lasted in each as long as that one did."""
        since, until = self._place.since or node.started_at, self._place.until
        ended_at = node.ended_at if until is None else min(node.ended_at or until, until)
        return replace(node, started_at=max(node.started_at, since), ended_at=ended_at and max(ended_at, since))


def _name_of(path: str, below: Step) -> str:
    """Of a session that is not on record: as its path names it, or what is below it."""
    return parts(path)[-1].partition("/")[2] or below.agent


def _depth(id: str | None, made: dict[str, Node]) -> int:
    depth = 0
    while id in made:
        depth, id = depth + 1, made[id].parent
    return depth


def _led_on(node: Node, below: Sequence[Node]) -> Node:
    """An agent whose advisors are heard first, or that others answer for, takes as long as they do: as with the cost.
    Who is asked again has rested meanwhile."""
    others = [one for one in below if one.trigger in _IN_ITS_PLACE]
    if node.kind != "session" or not others:
        return node
    ends = [one.ended_at for one in (node, *others)]
    return replace(
        node,
        started_at=min(one.started_at for one in (node, *others)),
        ended_at=max((one for one in ends if one), default=None) if all(ends) else None,
    )


def _spanning(node: Node, below: Sequence[Node]) -> Node:
    is_over = all(one.ended_at for one in below)
    return replace(
        node,
        started_at=min((one.started_at for one in below), default=node.started_at),
        ended_at=max((one.ended_at for one in below if one.ended_at), default=None) if is_over else None,
        state="done" if is_over else "started",
    )


def _order(node: Node) -> tuple[datetime, list[int | str], int]:
    """At one moment, an answer comes before the calls that it asks for."""
    path = node.path.removesuffix("m") if node.kind == "model" else node.path
    return node.started_at, _natural(path), node.number


def _natural(path: str) -> list[int | str]:
    """So that turn 10 comes after turn 9: numbers and words take turns, beginning with a word."""
    found: list[int | str] = []
    at = 0
    for number in _NUMBERS.finditer(path):
        found += [path[at : number.start()], int(number[0])]
        at = number.end()
    return [*found, path[at:]]


def _used(step: Step) -> Used:
    return Used(1, **{one.name: getattr(step, one.name) for one in fields(Used) if one.name != "calls"})


def _words(refusal: str) -> str:
    """What a tool said, of the record of it, which may be cut off."""
    try:
        found: Json = json.loads(refusal)
        return str(found["text"]) if isinstance(found, dict) else refusal
    except MootError:
        return refusal.removeprefix('{"text":"')


def of_tool_calls(tool_calls: Iterable[ToolCall], place: Place) -> list[Node]:
    """What an attempt did by tools, where no tree tells more."""
    return [
        Node(
            one.id,
            place.parent,
            "tool",
            one.name,
            one.started_at,
            one.ended_at,
            one.state,
            agent=place.agent,
            error=one.error or "",
            attempt=place.within,
        )
        for one in tool_calls
    ]


def totals(nodes: Sequence[Node]) -> dict[str, Used]:
    """What was used at each node and below it, by id."""
    found = {one.id: one.used for one in nodes}
    parents = {one.id: one.parent for one in nodes}
    for one in nodes:
        parent = one.parent
        while parent is not None and one.used.calls:
            found[parent] = found.get(parent, Used()) + one.used
            parent = parents.get(parent)
    return found
