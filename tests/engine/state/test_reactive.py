"""Exactly what depends on a change is computed anew, and comes to the same as if everything were."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.core import json
from moot.engine.expressions.evaluation import Evaluation, Outcome, Scope
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.state import fields, paths, reactive
from moot.engine.state.fields import Fields
from moot.engine.state.operations import Operation, Update
from moot.engine.state.reactive import Change, TransformFailed
from moot.engine.state.schema import Computed, Schema


@dataclass
class Counting:
    """The sandbox, and what it was asked for."""

    sandbox: Sandbox
    asked: list[str] = field(default_factory=list[str])

    async def evaluate(self, scope: Scope, evaluations: Sequence[Evaluation]) -> list[Outcome]:
        self.asked += [one.target for one in evaluations]
        return await self.sandbox.evaluate(scope, evaluations)


def update(path: str, value: Any, operation: Operation = "set") -> Update:
    return Update(paths.parse(path), operation, value)


def texts(**values: Any) -> dict[str, str]:
    return {f"raw.{name}": json.dumps(value) for name, value in values.items()}


BATCHES = Schema(
    [
        Computed("kept", ("raw.files",), "input.filter(f => !f.includes('node_modules'))"),
        Computed("ready", ("computed.kept", "raw.status"), "input[0].filter(f => !input[1][f])", lists_inputs=True),
        Computed("left", ("computed.ready",), "input.length"),
        Computed("others", ("raw.other",), "input"),
    ]
)


async def test_what_follows_is_computed_and_nothing_else(sandbox: Sandbox) -> None:
    counting = Counting(sandbox)
    before = texts(files=["a", "node_modules/b", "c"], status={})
    change = await reactive.update(counting, BATCHES, before, [update("raw.status.a", "done")])
    assert counting.asked == ["computed.ready", "computed.left"]
    assert change.fields == {"raw.status": '{"a":"done"}'}  # what it is made from was never computed
    first = await reactive.update(counting, BATCHES, {}, [update("raw.files", ["a", "b"]), update("raw.status", {})])
    second = await reactive.update(counting, BATCHES, first.over({}), [update("raw.status.a", "done")])
    assert second.computed == {"computed.ready": '["b"]', "computed.left": "1"}
    assert [(one.field, one.trigger) for one in second.traces] == [("ready", "raw.status"), ("left", "raw.status")]


async def test_several_updates_are_one_change(sandbox: Sandbox) -> None:
    updates = [update("raw.n", 1), update("raw.n", 1, "increment"), update("raw.list", "x", "append")]
    change = await reactive.update(sandbox, Schema(), {}, updates)
    assert change == Change({"raw.n": "2", "raw.list": '["x"]'})


async def test_what_stays_the_same_is_no_change(sandbox: Sandbox) -> None:
    schema = Schema([Computed("parity", ("raw.n",), "input % 2")])
    before = (await reactive.update(sandbox, schema, {}, [update("raw.n", 1)])).over({})
    assert (await reactive.update(sandbox, schema, before, [update("raw.n", 3)])).fields == {"raw.n": "3"}
    assert (await reactive.update(sandbox, schema, before, [update("raw.n", 1)])).fields == {}


async def test_a_field_is_absent_until_all_that_it_is_made_from_is_there(sandbox: Sandbox) -> None:
    schema = Schema([Computed("sum", ("raw.a", "raw.b"), "input[0] + input[1]", lists_inputs=True)])
    first = await reactive.update(sandbox, schema, {}, [update("raw.a", 1)])
    assert first.fields == {"raw.a": "1"}
    second = await reactive.update(sandbox, schema, first.over({}), [update("raw.b", 2)])
    assert second.fields == {"raw.b": "2", "computed.sum": "3"}


async def test_a_declared_name_is_undefined_until_it_is_there_and_any_other_is_unknown(sandbox: Sandbox) -> None:
    both = Computed("both", ("raw.a",), "[typeof known, typeof JSON, other]", on_error="ignore")
    for name in ("known", "other"):
        change = await reactive.update(sandbox, Schema([both], declared=(name,)), {}, [update("raw.a", 1)])
        error = "" if name == "other" else "ReferenceError: other is not defined"
        assert change.traces[0].error == error
    later = await reactive.update(sandbox, Schema([both]), texts(other=5, known=1), [update("raw.a", 1)])
    assert later.computed == {"computed.both": '["number","object",5]'}


@pytest.mark.parametrize(("on_error", "after"), [("use_fallback", '"none"'), ("ignore", None)])
async def test_what_fails_is_replaced_or_left_out(sandbox: Sandbox, on_error: Any, after: str | None) -> None:
    parsed = Computed("parsed", ("raw.text",), "JSON.parse(input)", on_error=on_error, fallback="none")
    change = await reactive.update(sandbox, Schema([parsed]), {}, [update("raw.text", "{")])
    assert change.over({}).get("computed.parsed") == after
    assert "SyntaxError" in change.traces[0].error


async def test_what_fails_and_is_not_replaced_names_the_field_the_line_and_the_reason(sandbox: Sandbox) -> None:
    parsed = Computed("parsed", ("raw.text",), "input\n  .no()", line=10)
    with pytest.raises(TransformFailed, match=r"computed\.parsed \(line 11\) failed: TypeError"):
        await reactive.update(sandbox, Schema([parsed]), {}, [update("raw.text", "x")])


def test_who_reads_sees_one_space_of_names() -> None:
    known = {"state.a": "1", "raw.a": "2", "raw.b": "3", "computed.b": "4", "state.c": "5"}
    assert fields.flat(known) == {"a": 2, "b": 4, "c": 5}
    assert fields.sections(known)["raw"] == {"a": 2, "b": 3}
    assert fields.read(texts(x={"y": [1, {"z": 2}]}), paths.parse("raw.x.y.1.z")) == 2
    assert [fields.key_of(known, name) for name in "abcd"] == ["raw.a", "computed.b", "state.c", "raw.d"]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Schema, list[list[tuple[int, int]]]]:
    """Fields that add up some of the raw ones and of those before them, and updates of raw ones."""
    count = draw(st.integers(1, 12))
    made: list[Computed] = []
    for at in range(count):
        known = [f"raw.r{number}" for number in range(4)] + [f"computed.c{number}" for number in range(at)]
        sources = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True))
        named = draw(st.sampled_from(["", " + (r0 ?? 0)", *(f" + (c{number} ?? 0)" for number in range(at))]))
        code = f"input.reduce((a, b) => (a + b) % 97, {at}){named}"
        made.append(Computed(f"c{at}", tuple(sources), code, lists_inputs=True))
    change = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=3)
    return Schema(draw(st.permutations(made)), declared=("r0",)), draw(st.lists(change, min_size=1, max_size=4))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs())
async def test_step_by_step_comes_to_the_same_as_all_at_once(
    sandbox: Sandbox, graph: tuple[Schema, list[list[tuple[int, int]]]]
) -> None:
    schema, changes = graph
    state: Fields = {}
    for change in changes:
        updates = [update(f"raw.r{number}", value) for number, value in change]
        state = (await reactive.update(sandbox, schema, state, updates)).over(state)
    raw = {key: text for key, text in state.items() if key.startswith("raw.")}
    assert (await reactive.follow(sandbox, schema, raw, raw)).over(raw) == state
