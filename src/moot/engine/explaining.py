"""The plan of a definition: what its steps do, when, with what, and who is needed. Nothing is evaluated."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal, cast

from moot.core.json import Json
from moot.core.records import record
from moot.core.text import counted
from moot.engine import details
from moot.engine.definition import Definition
from moot.engine.expressions import template
from moot.engine.expressions.template import Expression
from moot.engine.kinds import KINDS
from moot.engine.state.schema import Computed
from moot.engine.step import Step

Who = Literal["moot", "agent", "person", "sub-agents"]
ELSE = "else"
_BY_MOOT = frozenset(("mcp_call", "shell_command", "user_message", "wait"))  # though it is done outside
_BY_PERSONS = frozenset(("user_input",))
_ASKED: Mapping[Who, str] = {"agent": "agent step", "person": "question", "sub-agents": "sub-agent step"}
_GIVEN = re.compile(r"inputs\.([A-Za-z_][A-Za-z0-9_]*)")


@record
class Planned:
    """One step. Ids are those of steps that are taken, without the rounds of loops."""

    id: str
    name: str
    type: str
    conditions: tuple[str, ...] = ()  # that must hold, the outermost first; of a loop or a choice also its own
    items: str = ""  # what a loop goes through, or the rounds that it has at most
    reads: tuple[str, ...] = ()  # fields of the state, inputs, and names that other steps leave
    writes: tuple[str, ...] = ()  # fields of the state
    who: Who = "moot"
    named: str = ""  # the agent, tool, workflow or task that it names
    sub_agents: int | None = None  # None: known only when it is taken
    blocks: Mapping[str, tuple["Planned", ...]] = field(default_factory=dict[str, tuple["Planned", ...]])


@record
class Field:
    """A field of the state, and what it is computed from."""

    key: str
    sources: tuple[str, ...] = ()


@record
class Plan:
    definition: Definition
    steps: tuple[Planned, ...]
    tasks: Mapping[str, tuple[Planned, ...]]
    on_failure: tuple[Planned, ...] = ()

    @property
    def everything(self) -> Iterator[Planned]:
        """All steps, each before those inside it; those of sub-agents and after failures last."""
        for steps in (self.steps, *self.tasks.values(), self.on_failure):
            yield from flat(steps)

    @property
    def fields(self) -> list[Field]:
        """Those that are computed behind all that they are computed from."""
        schema = self.definition.schema
        others = {key for one in schema.order for key in one.sources if not key.startswith("computed.")}
        others |= {self.definition.key_of(name) for name in schema.names - schema.computed.keys()}
        computed = (Field(one.key, tuple(sorted(self._sources(one)))) for one in schema.order)
        return [*(Field(key) for key in sorted(others)), *computed]

    def _sources(self, one: Computed) -> set[str]:
        """What it is said to be made from, and the fields that its text names."""
        return {*one.sources, *(self.definition.key_of(name) for name in one.names & self.definition.schema.names)}

    @property
    def tools(self) -> list[str]:
        """Methods that are called, as they are written."""
        return sorted({one.named for one in self.everything if one.type == "mcp_call"})


def explain(definition: Definition, given: Mapping[str, Json] | None = None) -> Plan:
    """`given` are inputs, by which some lists are known beforehand."""
    reader = _Reader(definition, given or {})
    tasks = {
        name: (*reader.block(one.steps, f"{name}."), *reader.block(one.cleanup, f"{name}.cleanup."))
        for name, one in definition.tasks.items()
    }
    return Plan(
        definition,
        reader.block(definition.steps, ""),
        tasks,
        reader.block(definition.errors.on_failure, "failure."),
    )


def to_json(plan: Plan) -> dict[str, Json]:
    """As tools tell it."""
    return {
        "steps": [_told(one) for one in plan.everything],
        "estimated_duration": duration(plan),
        "required_tools": plan.tools,
    }


def duration(plan: Plan) -> str:
    """What it depends on: how long others take, nobody knows."""
    found = list(plan.everything)
    commands = sum(one.type in ("shell_command", "mcp_call") and one.who == "moot" for one in found)
    waits = sum(one.type == "wait" for one in found)
    asked = [(commands, "command"), *((sum(one.who == who for one in found), _ASKED[who]) for who in _ASKED)]
    parts = [counted(count, word) for count, word in (*asked, (waits, "wait")) if count]
    return f"as long as it takes for {', '.join(parts)}" if parts else "moments"


def flat(steps: Sequence[Planned]) -> Iterator[Planned]:
    for one in steps:
        yield one
        for block in one.blocks.values():
            yield from flat(block)


@record
class _Reader:
    definition: Definition
    given: Mapping[str, Json]
    inside: tuple[str, ...] = ()  # conditions around

    def block(self, steps: Sequence[Step], before: str) -> tuple[Planned, ...]:
        return tuple(self._step(one, before) for one in steps)

    def _step(self, step: Step, before: str) -> Planned:
        detail = step.detail
        condition = getattr(detail, "condition", None)
        own = (*self.inside, condition.code) if isinstance(condition, Expression) else self.inside
        return Planned(
            f"{before}{step.name}.{step.type}",
            step.name,
            step.type,
            own,
            _items(detail),
            tuple(self._reads(detail)),
            tuple(dict.fromkeys(".".join(one.path[:2]) for one in details.changes(detail))),
            who(step),
            _named(detail),
            self._sub_agents(step),
            dict(self._blocks(step, f"{before}{step.name}.", condition)),
        )

    def _blocks(self, step: Step, before: str, condition: object) -> Iterator[tuple[str, tuple[Planned, ...]]]:
        included = getattr(step.detail, "definition", None)
        for key, steps in step.blocks.items():
            inside = self.inside
            if isinstance(condition, Expression):
                inside = (*inside, f"!({condition.code})" if key == ELSE else condition.code)
            reader = _Reader(self.definition, self.given, inside)
            if included is not None:
                reader = _Reader(cast(Definition, included), {}, inside)
            if steps:
                yield key, reader.block(steps, f"{before}{key}.")

    def _reads(self, detail: object) -> Iterator[str]:
        """As keys of the state, where a name is a field of it."""
        schema = self.definition.schema
        names = {name for one in details.expressions(detail) for name in one.names}
        inputs = {f"inputs.{name}" for one in details.expressions(detail) for name in _GIVEN.findall(one.code)}
        yield from (self.definition.key_of(name) for name in sorted(names & schema.names))
        yield from sorted(inputs)
        yield from sorted({left for name, left in _left(self.definition.steps) if name in names - schema.names})

    def _sub_agents(self, step: Step) -> int | None:
        items = getattr(step.detail, "items", None)
        if step.type != "parallel_foreach" or items is None:
            return None
        if isinstance(items, str):
            lone = template.parse(items).lone
            asked = _GIVEN.fullmatch(lone.code) if lone is not None else None
            items = self.given.get(asked[1]) if asked else None
        return len(cast(Sequence[Json], items)) if isinstance(items, list | tuple) else None


def _left(steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """Names that steps leave for those behind them, each with the step that does."""
    for step in steps:
        included = getattr(step.detail, "definition", None)
        if isinstance(included, Definition):
            yield from ((name, step.name) for name in (step.name, *included.schema.computed))
        else:
            for block in step.blocks.values():
                yield from _left(block)


def _items(detail: object) -> str:
    items, most = getattr(detail, "items", None), getattr(detail, "most", None)
    if items is not None:
        return items if isinstance(items, str) else counted(len(items), "item")
    return f"at most {counted(most, 'round')}" if isinstance(most, int) else ""


def who(step: Step) -> Who:
    """Who does it. Of a call that moot may turn out not to know, moot."""
    if step.type == "parallel_foreach":
        return "sub-agents"
    if step.type in _BY_PERSONS:
        return "person"
    if KINDS[step.type].finish is None or (step.type in _BY_MOOT and not getattr(step.detail, "is_for_agent", False)):
        return "moot"
    return "agent"


def _named(detail: object) -> str:
    for key in ("method", "workflow", "task", "agent"):
        if isinstance(found := getattr(detail, key, None), str) and found:
            return found
    return ""


def _told(one: Planned) -> dict[str, Json]:
    told: dict[str, Json] = {"step_id": one.id, "type": one.type}
    told |= {"conditions": one.conditions} if one.conditions else {}
    told |= {"estimated_sub_agents": one.sub_agents} if one.sub_agents is not None else {}
    return told | ({"dependencies": one.reads} if one.reads else {})
