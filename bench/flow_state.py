"""What does one update of a state with 1,000 computed fields cost? Does it evaluate exactly what depends on it, and
write exactly what has changed?

The measure is an engine that computes everything anew, in the same sandbox and one request, and keeps no notes. CPU
counts, moot's and that of the process that evaluates: the disk is not the question.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import apsw
import psutil

from bench import flowing, loops
from bench.flowing import Stage
from bench.harness import Figure, Rounds, Scale, interleaved, micros
from moot.core import json
from moot.core.caller import SYSTEM
from moot.core.ids import FlowId
from moot.core.tx import Tx
from moot.engine.expressions.evaluation import Evaluation, Evaluator, Outcome, Scope, Value
from moot.engine.files import compiling
from moot.engine.flow import delta
from moot.engine.flow.delta import Delta, Live
from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import Strand
from moot.engine.state import paths, reactive
from moot.engine.state.operations import Update
from moot.engine.state.reactive import Change

FIELDS, SOME = 1_000, 10
DEPENDANTS = {"all": FIELDS, "some": SOME, "one": 1}
_REPEATS, _QUICK_REPEATS = 20, 5


def definition(fields: int = FIELDS) -> str:
    """All fields are made from `raw.all`; the first ten also from `raw.some`, and the first from `raw.one`, too."""
    lines = ["name: bench", "default_state: {raw: {all: 0, some: 0, one: 0}}", "state_schema:", "  computed:"]
    for at in range(fields):
        sources = ["raw.all", *(["raw.some"] if at < SOME else []), *(["raw.one"] if at == 0 else [])]
        lines.append(f'    c{at}: {{from: {json.dumps(sources)}, transform: "input.reduce((a, b) => a + b) + {at}"}}')
    return "\n".join([*lines, "steps: [{type: user_message, message: hello}]", ""])


@dataclass(slots=True)
class Counting:
    """An `Evaluator` that counts what it is asked."""

    evaluator: Evaluator
    count: int = 0

    async def evaluate(self, scope: Scope, evaluations: Sequence[Evaluation]) -> list[Outcome]:
        self.count += len(evaluations)
        return await self.evaluator.evaluate(scope, evaluations)


class State:
    """The state of a flow that stands still, so that nobody else changes it."""

    def __init__(self, stage: Stage, live: Live) -> None:
        self._stage, self._live = stage, live
        self._counting = Counting(stage.sandbox)
        self._number = 0

    @property
    def flow(self) -> FlowId:
        return self._live.flow.id

    async def update(self, field: str) -> int:
        """As one who advances the flow computes it; how much was evaluated."""
        before = self._counting.count
        change = await self._changed(field)
        self._live = self._live.after(Delta(change.fields, traces=change.traces))
        return self._counting.count - before

    async def compute_all(self) -> int:
        """Every field in its order, whatever has changed; what is different then is kept."""
        schema, known = self._live.definition.schema, {**self._live.fields, "raw.all": self._next()}
        asked = [reactive.evaluation(one, known, schema) for one in schema.order]
        outcomes = await self._stage.sandbox.evaluate(known, asked)
        changed: dict[str, str | None] = {}
        for one, outcome in zip(schema.order, outcomes, strict=True):
            assert isinstance(outcome, Value), outcome
            if known.get(one.key) != outcome.text:
                changed[one.key] = outcome.text
        self._live = self._live.after(Delta(changed))
        return len(changed)

    async def write(self, field: str) -> int:
        """The version of the state that one update of it has on the disk."""
        self._live = await self._stage.store.read(lambda tx: delta.load(tx, self.flow, self._live.definition))
        change, before = await self._changed(field), self._live
        commit = Delta(change.fields, traces=change.traces)
        after = await self._stage.store.write(lambda tx: delta.commit(tx, before, commit, _stays), caller=SYSTEM)
        assert after is not None
        return after.flow.version

    async def _changed(self, field: str) -> Change:
        update = Update(paths.parse(f"raw.{field}"), "set", json.loads(self._next()))
        return await reactive.update(self._counting, self._live.definition.schema, self._live.fields, (update,))

    def _next(self) -> str:
        self._number += 1
        return str(self._number)


def _stays(tx: Tx, flow: Flow, strand: Strand) -> Strand:
    return strand


def measure(scale: Scale, folder: Path) -> list[Figure]:
    repeats = _QUICK_REPEATS if scale.is_quick else _REPEATS
    with loops.runner() as runner:
        opened = AsyncExitStack()
        stage = runner.run(opened.enter_async_context(flowing.staged(folder)))
        state = runner.run(begun(stage))
        evaluated = {field: runner.run(state.update(field)) for field in DEPENDANTS}
        written = {field: rows(folder, state.flow, runner.run(state.write(field))) for field in DEPENDANTS}

        def cpu(work: Callable[[], Awaitable[int]]) -> Callable[[], float]:
            return lambda: runner.run(_cpu_of(work, repeats))

        rounds = interleaved(
            scale,
            everything=cpu(state.compute_all),
            all=cpu(lambda: state.update("all")),
            some=cpu(lambda: state.update("some")),
            one=cpu(lambda: state.update("one")),
        )
        runner.run(opened.aclose())
    return [_all(rounds), *(_exact(field, evaluated, written, rounds) for field in DEPENDANTS)]


def _all(rounds: Rounds) -> Figure:
    fact = f"{micros(rounds.middle('all'))} against {micros(rounds.middle('everything'))} of CPU; {rounds.count} rounds"
    ratio = rounds.ratio("all", "everything")
    return Figure(f"an update on which all {FIELDS:,} fields depend, times all anew", ratio, 1.2, "at most", (fact,))


def _exact(field: str, evaluated: Mapping[str, int], written: Mapping[str, int], rounds: Rounds) -> Figure:
    """The worse of both: what was evaluated, and what was written besides the field itself; too few is as bad."""
    wanted = DEPENDANTS[field]
    facts = (
        f"{evaluated[field]:,} evaluated, {written[field]:,} fields written with the raw one",
        f"{micros(rounds.middle(field))} of CPU; all anew takes {rounds.ratio('everything', field):.1f} times as long",
    )
    ratio = max(max(found / wanted, wanted / found) for found in (evaluated[field], written[field] - 1))
    question = f"an update on which {wanted:,} of {FIELDS:,} fields depend, times exactly these"
    return Figure(question, ratio, 1.0, "at most", facts)


async def begun(stage: Stage, fields: int = FIELDS) -> State:
    text = definition(fields)
    flow = await stage.start(text, credits=0)
    found = compiling.compiled((("bench.yaml", text),))
    return State(stage, await stage.store.read(lambda tx: delta.load(tx, flow.id, found)))


def rows(folder: Path, flow: FlowId, version: int) -> int:
    """How many fields were written with a version."""
    connection = apsw.Connection(str(folder / "moot.db"))
    query = "select count(*) from flow_fields where flow = ? and version = ?"
    ((count,),) = connection.execute(query, (flow, version)).fetchall()
    connection.close()
    assert isinstance(count, int)
    return count


async def _cpu_of(work: Callable[[], Awaitable[int]], repeats: int) -> float:
    """Of this process and those it has started."""
    before = _cpu()
    for _ in range(repeats):
        assert await work()
    return (_cpu() - before) / repeats


def _cpu() -> float:
    times = [child.cpu_times() for child in psutil.Process().children()]
    return time.process_time() + sum(one.user + one.system for one in times)
