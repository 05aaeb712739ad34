"""Control flow: whatever the nesting, a flow goes the way that a plain interpreter of the same program goes."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.engine import frames, kinds
from moot.engine.definition import Definition
from moot.engine.expressions import template
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow.advance import Footing, advance
from moot.engine.resolving import ExpressionFailed
from moot.engine.state import fields
from moot.engine.state.paths import PathInvalid
from moot.engine.step import Exit, Step, StepFailed
from moot.engine.steps.conditional import Conditional
from moot.engine.steps.foreach import Foreach
from moot.engine.steps.leaving import Stop
from moot.engine.steps.looping import While
from moot.engine.steps.updating import Change, StateUpdate, keys

Said = Mapping[str, Any]


def step(name: str, type: str, detail: Any = None, **blocks: tuple[Step, ...]) -> Step:
    inside = {key.rstrip("_"): steps for key, steps in blocks.items()}
    return Step(name, type, detail, inside, is_loop=kinds.KINDS[type].is_loop)


def block(*said: Said) -> tuple[Step, ...]:
    return tuple(made(str(at), one) for at, one in enumerate(said))


def made(place: str, said: Said) -> Step:
    name = said.get("id", place)
    match said:
        case {"if": condition}:
            detail = Conditional(template.condition(condition))
            return step(name, "conditional", detail, then=block(*said["then"]), else_=block(*said.get("else", ())))
        case {"while": condition}:
            detail = While(template.condition(condition), said.get("most"), said.get("on_most", "leave"))
            return step(name, "while", detail, body=block(*said["body"]))
        case {"each": items}:
            return step(name, "foreach", Foreach(items), steps=block(*said["steps"]))
        case {"steps": steps}:
            return step(name, "sequential", None, steps=block(*steps))
        case {"exit": status}:
            return step(name, "exit", Stop(status, said.get("reason", "")))
        case {"leave": word}:
            return step(name, word)
        case _:
            changes = [Change(keys(path), operation, value) for path, operation, value in said["set"]]
            return step(name, "state_update", StateUpdate(tuple(changes)))


async def play(sandbox: Sandbox, *said: Said, **given: Any) -> tuple[dict[str, Any], list[str], Footing]:
    """The state at the end, the steps that were taken, and how it stands then. Everything is kept as JSON meanwhile."""
    definition = Definition("test", block(*said))
    own = {"inputs": json.dumps(given)}
    footing, taken = Footing({}), list[str]()
    while not footing.is_over:
        assert len(taken) < 2000
        kept = frames.from_json(json.loads(json.dumps(frames.to_json(footing.frames))))
        done = await advance(sandbox, definition, Footing(footing.fields, kept), own)
        taken += [done.step_id] if done.step_id else []
        assert done.change.over(footing.fields) == dict(done.after.fields)
        footing = done.after
    return fields.flat(footing.fields), taken, footing


def put(path: str, value: Any = None, operation: str = "set") -> Said:
    return {"set": [(path, operation, value)]}


async def test_every_step_has_the_path_to_it_as_its_name(sandbox: Sandbox) -> None:
    state, taken, _ = await play(
        sandbox,
        {"id": "begin", **put("raw.n", 0)},
        {"id": "fix", "if": "{{ n === 0 }}", "then": [put("raw.a", 1), {"id": "named", **put("raw.b", "{{ a + 1 }}")}]},
        {"id": "again", "while": "n < 2", "body": [put("raw.n", 1, "increment")]},
    )
    assert state == {"n": 2, "a": 1, "b": 2}
    assert taken == [
        "begin.state_update",
        "fix.conditional",
        "fix.then.0.state_update",
        "fix.then.named.state_update",
        "fix.conditional",
        "again.while",
        "again.body[1].0.state_update",
        "again.while",
        "again.body[2].0.state_update",
        "again.while",
    ]


async def test_a_loop_sees_its_item_and_its_place_and_the_list_is_taken_once(sandbox: Sandbox) -> None:
    state, _, _ = await play(
        sandbox,
        put("raw.files", ["src/a.ts", "b"]),
        put("raw.pairs", []),
        {
            "each": "{{ files }}",
            "steps": [
                put("raw.results.{{ item }}", "{{ index }}"),
                put("raw.results.{{ item | path_to_key }}x.y", "{{ item }} is {{ index }}"),
                put("raw.files", [], "set"),
                {"each": [1, "{{ item }}"], "steps": [put("raw.pairs", "{{ [item, index] }}", "append")]},
            ],
        },
    )
    assert state["results"] == {"src/a.ts": 0, "src/a.tsx": {"y": "src/a.ts is 0"}, "b": 1, "bx": {"y": "b is 1"}}
    assert state["pairs"] == [[1, 0], ["src/a.ts", 1], [1, 0], ["b", 1]]


async def test_a_value_is_never_expanded_a_second_time(sandbox: Sandbox) -> None:
    state, _, _ = await play(sandbox, put("raw.a", "{{ inputs.text }}"), put("raw.b", "<{{ a }}>"), text="{{ 1 + 1 }}")
    assert state == {"a": "{{ 1 + 1 }}", "b": "<{{ 1 + 1 }}>"}


async def test_a_loop_without_end_is_left_with_a_warning_or_fails(sandbox: Sandbox) -> None:
    endless: Said = {"id": "spin", "while": "true", "body": [put("raw.n", 1, "increment")]}
    state, _, _ = await play(sandbox, {**endless, "most": 3})
    assert state == {"n": 3}
    for said in ({**endless, "most": 3, "on_most": "fail"}, endless):
        with pytest.raises(StepFailed, match="spin has gone through"):
            await play(sandbox, said)


async def test_a_loop_is_left_or_gone_on_with_from_any_depth(sandbox: Sandbox) -> None:
    def loop(way: str) -> Said:
        out: Said = {"if": "item === 2", "then": [{"steps": [{"leave": way}]}]}
        return {"each": [1, 2, 3], "steps": [out, put(f"raw.{way}", "{{ item }}", "append")]}

    state, _, _ = await play(sandbox, loop("break"), loop("continue"))
    assert state == {"break": [1], "continue": [1, 3]}


async def test_an_exit_ends_everything_with_its_reason(sandbox: Sandbox) -> None:
    inner: Said = {"while": "true", "body": [{"exit": "failed", "reason": "{{ n }} left"}]}
    _, taken, footing = await play(sandbox, put("raw.n", 3), {"each": [1, 2], "steps": [inner]}, put("raw.n", 0))
    assert footing.exit == Exit("failed", "3 left")
    assert taken[-1] == "1.steps[1].0.body[1].0.exit"


@pytest.mark.parametrize("key", ["null", "undefined", "[1]", "({a: 1})"])
async def test_what_is_no_key_leads_nowhere(sandbox: Sandbox, key: str) -> None:
    with pytest.raises(PathInvalid, match="no key"):
        await play(sandbox, put(f"raw.status.{{{{ {key} }}}}", "done"))


async def test_what_cannot_be_taken_says_why(sandbox: Sandbox) -> None:
    with pytest.raises(StepFailed, match="in no loop"):
        await play(sandbox, {"leave": "break"})
    with pytest.raises(StepFailed, match="no list"):
        await play(sandbox, {"each": "{{ 5 }}", "steps": []})
    with pytest.raises(ExpressionFailed, match=r"\{\{ nope \}\} failed: ReferenceError"):
        await play(sandbox, put("raw.a", "{{ nope }}"))


LEAVES = st.sampled_from(
    [put("raw.a", 1, "increment"), put("raw.b", 2, "increment"), put("raw.trace", "{{ [a, b] }}", "append")]
)
CONDITIONS = st.sampled_from(["a % 2 === 0", "b > 4", "a < b", "a + b < 7", "true"])
WAYS_OUT: st.SearchStrategy[Said] = st.sampled_from([{"leave": "break"}, {"leave": "continue"}])


def _programs(inner: st.SearchStrategy[Said]) -> st.SearchStrategy[Said]:
    way_out: st.SearchStrategy[Said] = st.fixed_dictionaries({"if": CONDITIONS, "then": st.lists(WAYS_OUT, min_size=1)})
    body, in_loop = st.lists(inner, max_size=3), st.lists(inner | way_out, max_size=3)
    return (
        st.fixed_dictionaries({"if": CONDITIONS, "then": body, "else": body})
        | st.fixed_dictionaries({"while": CONDITIONS, "most": st.integers(0, 3), "body": in_loop})
        | st.fixed_dictionaries({"each": st.lists(st.just(1), max_size=3), "steps": in_loop})
        | st.fixed_dictionaries({"steps": body})
    )


class Left(Exception):
    """`break` or `continue`, on its way to its loop."""


def interpret(said: Said, state: dict[str, Any]) -> None:
    """The same by the means of Python."""
    match said:
        case {"if": condition}:
            for one in said["then"] if _holds(condition, state) else said.get("else", ()):
                interpret(one, state)
        case {"while": condition}:
            for _ in range(said["most"]):
                if not _holds(condition, state) or _is_left(said["body"], state):
                    break
        case {"each": items}:
            for _ in items:
                if _is_left(said["steps"], state):
                    break
        case {"steps": steps}:
            for one in steps:
                interpret(one, state)
        case {"leave": word}:
            raise Left(word)
        case _:
            ((path, operation, value),) = said["set"]
            name = path.removeprefix("raw.")
            state[name] = state[name] + value if operation == "increment" else [*state[name], [state["a"], state["b"]]]


def _is_left(body: list[Said], state: dict[str, Any]) -> bool:
    try:
        for one in body:
            interpret(one, state)
    except Left as left:
        return str(left) == "break"
    return False


def _holds(condition: str, state: dict[str, Any]) -> bool:
    return bool(eval(condition.replace("===", "==").replace("true", "True"), {}, state))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=st.lists(st.recursive(LEAVES, _programs, max_leaves=8), min_size=1, max_size=3))
async def test_random_programs_go_the_way_of_a_plain_interpreter(sandbox: Sandbox, program: list[Said]) -> None:
    wanted: dict[str, Any] = {"a": 0, "b": 0, "trace": []}
    for one in program:
        interpret(one, wanted)
    begin = put("raw.a", 0), put("raw.b", 0), put("raw.trace", [])
    state, _, _ = await play(sandbox, *begin, *program)
    assert state == wanted
