"""What the steps of one place in a flow share: whose definition they are of, and which part of the fields is theirs.

An included workflow has a state of its own. It is kept with that of the flow, under the path of the step that includes
it: `in.checks/raw.files`. What a strand of a task keeps for itself has the strand's root before it:
`loop.task/mend@3/each`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from moot.core import json
from moot.core.json import Json
from moot.core.records import record
from moot.engine import frames as positions
from moot.engine.definition import Definition, step_id
from moot.engine.frames import START, Frames
from moot.engine.state.fields import KEPT, Fields

if TYPE_CHECKING:
    from moot.engine.step import Step

LOOP = "loop."  # keys of what loops go through: kept with the state, and seen by nobody else
INPUTS = "inputs"
FAILED = "failed"  # of an included workflow: why, while it does what follows that
RETRIES = "retries"  # of an included workflow: how often it has begun anew
_INSIDE = "in."
_NUMBER = re.compile(r"@(\d+)")
_STEP = r"(?:(?:task|cleanup)/[\w:-]+@\d+|[\w:-]+)"  # on the way of a key: a root, or the name of a step
_WAY = re.compile(rf"(?:{re.escape(LOOP)}|{re.escape(_INSIDE)}){_STEP}(?:\.{_STEP})*(?:/|$)")
_LEFT = re.compile(rf"{re.escape(KEPT)}@(\d+)/")


@record
class Scope:
    outermost: Definition
    definition: Definition
    frames: Frames  # the whole way
    trail: Sequence["Step"]  # the steps on it; at the end of a block the one there is missing
    depth: int  # where in it the steps of this definition begin
    prefix: str  # of the keys of its fields
    fields: Fields  # its own, without the prefix
    given: Mapping[str, str]  # names that it knows besides: JSON text

    @staticmethod
    def at(definition: Definition, frames: Frames, fields: Fields, given: Mapping[str, str]) -> "Scope":
        trail = definition.trail(frames)
        found, depth, prefix = definition, 0, ""
        for at, step in enumerate(trail[: len(frames) - 1]):
            if step.type == "include_workflow":
                prefix, found, depth = f"{_INSIDE}{_path(trail[: at + 1], frames)}/", _included(step), at + 1
        if not prefix:
            return Scope(definition, definition, frames, trail, 0, "", fields, given)
        own = {key.removeprefix(prefix): text for key, text in fields.items() if key.startswith(prefix)}
        is_inside = 0 < depth <= positions.root(frames)  # the strand itself began in there
        known = {name: text for name, text in given.items() if is_inside or name == "workflow_id"}
        return Scope(definition, found, frames, trail, depth, prefix, own, {**known, INPUTS: own.get(INPUTS, "{}")})

    @staticmethod
    def whole(definition: Definition, fields: Fields, given: Mapping[str, str]) -> "Scope":
        """Of what is said of the flow as a whole, at no step of it."""
        return Scope(definition, definition, START, definition.trail(START), 0, "", fields, given)

    @staticmethod
    def around(definition: Definition, frames: Frames, fields: Fields) -> "list[Scope]":
        """Of the included workflows that a strand is in, the innermost first. Those in which it began do not count."""
        trail, own = definition.trail(frames), range(positions.root(frames), len(frames) - 1)
        inside = [at + 2 for at in own if at < len(trail) and trail[at].type == "include_workflow"]
        return [Scope.at(definition, frames[:end], fields, {}) for end in reversed(inside)]

    @property
    def is_after_failure(self) -> bool:
        """Whether an included workflow does what follows its failure."""
        return self.depth > 0 and self.frames[self.depth].block == positions.ON_FAILURE

    @property
    def is_at_end(self) -> bool:
        """Whether the innermost block is gone through."""
        return len(self.trail) < len(self.frames)

    @property
    def step_id(self) -> str:
        return step_id(self.trail, self.frames)

    @property
    def inner(self) -> "Scope":
        """Of the workflow that the step here includes."""
        step = self.trail[-1]
        prefix = f"{_INSIDE}{_path(self.trail, self.frames)}/"
        return Scope(self.outermost, _included(step), self.frames, self.trail, len(self.frames), prefix, {}, {})

    def key(self, kind: str) -> str:
        """Where something is kept for the step that the way leads to."""
        return kind + _path(self.trail, self.frames)

    def kept(self, name: str) -> str:
        """Where a name is kept that a step leaves for those behind it: on its own strand, and on those from there."""
        own = positions.owner(self.frames)
        return f"{self.prefix}{KEPT}{own}/{name}" if own else f"{self.prefix}{KEPT}{name}"

    def own_names(self, everything: Fields) -> dict[str, str]:
        """What is given, what steps have left, and item and place of every loop around, the innermost last."""
        own = {**self._left(KEPT), **self._left(f"{KEPT}{positions.owner(self.frames)}/"), **self.given}
        if self.is_after_failure:
            own["error"] = json.dumps(json.load_object(self.fields[FAILED])["error"])
        for at, step in enumerate(self.trail[:-1]):
            if step.is_loop and at >= self.depth:
                own["index"] = str(self.frames[at].rounds)
                text = everything.get(LOOP + _path(self.trail[: at + 1], self.frames))
                if text is not None:
                    items = cast(Sequence[Json], json.loads(text))
                    own["item"] = json.dumps(items[self.frames[at].rounds])
        return own

    def _left(self, kept: str) -> dict[str, str]:
        found = {key.removeprefix(kept): text for key, text in self.fields.items() if key.startswith(kept)}
        return {name: text for name, text in found.items() if not self._is_field(name)}

    def _is_field(self, name: str) -> bool:
        return name in self.definition.schema.names or any(f"{one}.{name}" in self.fields for one in ("raw", "state"))


def place_of(prefix: str) -> str:
    """How people call where the fields of an included workflow are, before their names: `checks.`."""
    return f"{prefix.removeprefix(_INSIDE).removesuffix('/')}." if prefix else ""


def strands_of(key: str) -> set[int]:
    """The strands for which alone something is kept, by their numbers. What a field is called says nothing of that."""
    if "@" not in key:
        return set()
    way = _WAY.match(key)
    left = _LEFT.match(key, way.end() if way else 0)
    numbers = [*(_NUMBER.findall(way[0]) if way else ()), *(left.groups() if left else ())]
    return {int(number) for number in numbers}


def _path(trail: Sequence["Step"], frames: Frames) -> str:
    """Of names; what strands do beside each other has different ways."""
    parts: list[str] = []
    for step, frame in zip(trail, frames, strict=False):
        parts += [frame.block, step.name] if positions.is_root(frame.block) else [step.name]
    return ".".join(parts)


def _included(step: "Step") -> Definition:
    return cast(Definition, step.detail.definition)
