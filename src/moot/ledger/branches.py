"""The steps of a tree of sessions as nodes, each with the one it belongs to: session, turn, model and tool call, and
whoever was called, asked or followed from there.

Only the paths say what belongs where. A turn has no record of its own, and neither has an agent whose advisors are
still heard: they are made up here, and last as long as what belongs to them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from datetime import datetime

from moot.core import json
from moot.core.errors import MootError
from moot.core.ids import AttemptId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tree_path import ROOT, TreePath
from moot.ledger.nodes import Amounts, Node, stretched
from moot.ledger.traces import Step, ToolCall

_ENDING = frozenset(("final_report", "handoff_to"))  # a session ends with them, or they were refused
_WITHIN = _ENDING | {"team_broadcast", "ask_clarification", "result_read"}  # calls that are made without a record
_NOT_TAKEN, _NOT_MADE = "it was not taken", "nothing was done"


@record
class Place:
    """Where the nodes of a tree hang."""

    parent: str | None
    prefix: str  # of their ids
    agent: str  # whose tree it is
    model: str  # of that agent, where a step names none
    within: AttemptId | None = None  # only what was begun in this attempt, and what leads there
    since: datetime | None = None  # when that attempt began, before which nothing is shown of what leads there
    until: datetime | None = None  # and ended


def nodes(steps: Sequence[Step], place: Place) -> list[Node]:
    """Of one tree, those above before those below, in the order of their beginnings."""
    growth = _Growth(steps, place)
    for one in steps:
        if place.within in (None, one.attempt):
            growth.add(one)
    whole = stretched(list(growth.made.values()))
    return sorted((_cut(one, place) for one in whole), key=_order)


class _Growth:
    """One tree while it is put together: what something belongs to is made before it."""

    def __init__(self, steps: Sequence[Step], place: Place) -> None:
        self.made: dict[str, Node] = {}  # by id
        self._place = place
        self._root = steps[0].root if steps else ""
        self._steps = {one.path: one for one in steps}  # the last try of each
        self._first: dict[TreePath, Step] = {}  # of each turn
        self._again: dict[TreePath, list[Step]] = defaultdict(list)  # what each session was asked when it had reported
        for one in steps:
            if one.kind != "session":
                self._first.setdefault(one.path.above or ROOT, one)
            elif one.path.kind == "q":
                self._again[one.path.above or ROOT].append(one)
        self._resumed = {over for one in steps for over in one.path.all_above if self._is_resumed(over, one)}

    def _is_resumed(self, path: TreePath, below: Step) -> bool:
        """A session whose attempt was lost has gone on since, in another one."""
        known = self._steps.get(path)
        return known is not None and known.state == "unknown" and below.attempt != known.attempt

    def add(self, step: Step) -> None:
        """With the calls that are on record only in the answer which asks for them."""
        self._make(step)
        for number, name in enumerate(step.calls, 1):
            self._make_call(step, (step.path.above or ROOT).call(number), name)

    def _make(self, step: Step) -> str:
        id = self._id(step.path, step.number)
        if id not in self.made:
            self.made[id] = Node(
                id,
                self._over(step.path, step),
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
                used=_used(step) if step.kind == "model" else Amounts(),
            )
        return id

    def _make_call(self, answer: Step, path: TreePath, name: str) -> None:
        """It ends or steers the session, or was never made. What it led to, if anything, stands for itself."""
        if path in self._steps or path.branch("subagent") in self._steps or self._is_to_come(answer):
            return
        error = _NOT_MADE if name not in _WITHIN else _NOT_TAKEN if name in _ENDING and self._goes_on(answer) else ""
        moment, state = answer.ended_at or answer.started_at, "failed" if error else "done"
        node = self._unrecorded(path, answer, "tool", name)
        self.made[node.id] = replace(
            node, started_at=moment, ended_at=moment, state=state, trigger="answer", error=error
        )

    def _make_up(self, path: TreePath, below: Step) -> str:
        """A turn, or a session that has not begun yet."""
        id = self._id(path)
        if id not in self.made:
            if path.kind == "t":
                self.made[id] = self._unrecorded(path, below, "turn", f"turn {path.number}")
            else:
                name = path.name or below.agent if path else self._place.agent
                self.made[id] = replace(self._unrecorded(path, below, "session", name), agent=name)
        return id

    def _unrecorded(self, path: TreePath, near: Step, kind: str, name: str) -> Node:
        """What is known only from something that is near it."""
        parent, attempt = self._over(path, near), self._place.within or near.attempt
        return Node(
            self._id(path),
            parent,
            kind,
            name,
            near.started_at,
            state="",
            trigger=path.trigger or "",
            agent=near.agent,
            path=path,
            root=self._root,
            attempt=attempt,
        )

    def _id(self, path: TreePath, number: int = 1) -> str:
        return f"{self._place.prefix}:{path}" + (f"#{number}" if number > 1 else "")

    def _state(self, step: Step) -> str:
        """Empty: that is for those below to tell."""
        if step.path in self._resumed and step.attempt != self._place.within:
            return ""
        return "failed" if step.refusal else step.state

    def _over(self, path: TreePath, below: Step) -> str | None:
        """The node of what something belongs to, made if there is none yet."""
        over = path.above
        if over is None:
            return self._place.parent
        if path.kind == "t":
            over = self._asked(over, below)
        elif over.kind == "c" and over not in self._steps:  # on record only as the session it led to
            over = over.above or ROOT
        if over in self._steps:
            return self._make(self._steps[over])
        return self._make_up(over, self._first.get(over, below))

    def _asked(self, session: TreePath, first: Step) -> TreePath:
        """A session goes on with its turns when it is asked again: which of the questions a turn belongs to."""
        again = [one for one in self._again[session] if one.started_at <= first.started_at]
        return max(again, key=lambda one: (one.started_at, one.path.number)).path if again else session

    def _is_to_come(self, answer: Step) -> bool:
        """Whether nobody has got to its calls yet."""
        session = self._steps.get(answer.path.session)
        is_open = session is not None and session.state in ("started", "unknown")
        return is_open and self._next_turn(answer) is None

    def _goes_on(self, answer: Step) -> bool:
        """Whether a session has another turn before it is asked again."""
        session, following = answer.path.session, self._next_turn(answer)
        return following is not None and self._asked(session, answer) == self._asked(session, following)

    def _next_turn(self, answer: Step) -> Step | None:
        turn = answer.path.above or ROOT
        return self._first.get(answer.path.session.turn(turn.number + 1))


def _used(step: Step) -> Amounts:
    return Amounts(1, **{one.name: getattr(step, one.name) for one in fields(Amounts) if one.name != "calls"})


def _words(refusal: str) -> str:
    """What a tool said, of the record of it, which may be cut off."""
    try:
        found: Json = json.loads(refusal)
        return str(found["text"]) if isinstance(found, dict) else refusal
    except MootError:
        return refusal.removeprefix('{"text":"')


def _cut(node: Node, place: Place) -> Node:
    """What several attempts worked on lasted in each as long as that one did."""
    if node.kind not in ("session", "turn"):
        return node
    since, until = place.since or node.started_at, place.until
    ended_at = node.ended_at if until is None else min(node.ended_at or until, until)
    return replace(node, started_at=max(node.started_at, since), ended_at=ended_at and max(ended_at, since))


def _order(node: Node) -> tuple[datetime, list[int | str], int]:
    """At one moment, an answer comes before the calls that it asks for."""
    path = node.path.removesuffix("m") if node.kind == "model" else node.path
    return node.started_at, TreePath(path).in_order, node.number


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
