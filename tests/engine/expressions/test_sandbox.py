"""What people write cannot harm: limits hold, nothing is reached, and the next evaluation is right."""

import asyncio
from typing import Any

import pytest

from moot.core import json
from moot.core.json import Json
from moot.engine.expressions import sandbox as module
from moot.engine.expressions.evaluation import Absent, Evaluation, Fault, Outcome, Value
from moot.engine.expressions.sandbox import Sandbox, SandboxBroken


async def outcome(sandbox: Sandbox, code: str, **more: Any) -> Outcome:
    return (await sandbox.evaluate({}, [Evaluation(code, **more)]))[0]


async def value(sandbox: Sandbox, code: str, **more: Any) -> Json:
    found = await outcome(sandbox, code, **more)
    assert isinstance(found, Value), found
    return json.loads(found.text)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("1 + 1", 2),
        ("{a: 1, ...{b: [2]}}", {"a": 1, "b": [2]}),
        ("[...new Set([1, 1, 2])]", [1, 2]),
        ("const x = 2;\nreturn x * x", 4),
        ("try { return JSON.parse('{') } catch (e) { return {error: 'no'} }", {"error": "no"}),
        ("[3, 1, 2].sort()", [1, 2, 3]),
        ("`${'a'.toUpperCase()}${null ?? 'b'}`", "Ab"),
        ("/^a(?<rest>.*)$/.exec('abc')?.groups.rest", "bc"),
        ("'a' // a comment", "a"),
        ("({toJSON: () => 5, get x() { return 1 }})", 5),
        ("null", None),
        ("'\\\\u0000'", "\\u0000"),
    ],
)
async def test_expressions_and_bodies_have_their_value(sandbox: Sandbox, code: str, wanted: Json) -> None:
    assert await value(sandbox, code) == wanted


async def test_what_is_used_is_given_and_what_is_made_is_found_by_the_next(sandbox: Sandbox) -> None:
    found = await sandbox.evaluate(
        {"raw.files": '["b","a"]', "raw.unused": "1"},
        [
            Evaluation("input.sort()", inputs=("raw.files",), target="computed.sorted"),
            Evaluation("[input, files, other]", (("files", "raw.files"), ("other", "raw.no")), ("computed.sorted",)),
            Evaluation("input", inputs=("raw.files",), lists_inputs=True),
            Evaluation("input", inputs=("raw.files", "raw.no")),
            Evaluation("typeof unused"),
        ],
    )
    texts = [one.text if isinstance(one, Value) else one.__class__ for one in found]
    # Each has its own copy: that one sorts its input changes nothing for the others.
    assert texts == ['["a","b"]', '[["a","b"],["b","a"],null]', '[["b","a"]]', Absent, '"undefined"']


async def test_filters_are_applied_in_their_order(sandbox: Sandbox) -> None:
    assert await value(sandbox, "' src/a.ts '", filters=("trim", "upper", "path_to_key")) == "SRC/A.TS"
    assert await value(sandbox, "[1, 2]", filters=("last",)) == 2


@pytest.mark.parametrize(
    ("code", "message", "line"),
    [
        ("missing.x", "ReferenceError: missing is not defined", 1),
        ("1 +", "SyntaxError: ", 1),
        ("[1,\n2].map(x =>\n x.y.z)", "TypeError: ", 3),
        ("1;\n2", "SyntaxError: ", 1),
        ("0 / 0", "The result is NaN", 1),
        ("{a: Infinity}", "a is Infinity", 1),
        ("new Map([[1, 2]])", "use Object.fromEntries", 1),
        ("{a: new Set()}", "use [...set]", 1),
        ("() => 1", "A function cannot be stored", 1),
        ("10n", "BigInt", 1),
        ("Promise.resolve(1)", "nothing is waited for", 1),
        ("const a = {}; a.a = a; return a", "circular", 1),
        ("'a\\0b'", "NUL", 0),
        ("'\\ud800'", "surrogate", 0),
        ("new Proxy({}, {ownKeys() { throw new Error('no') }})", "Error: no", 1),
    ],
)
async def test_what_fails_says_so_in_the_words_of_javascript(
    sandbox: Sandbox, code: str, message: str, line: int
) -> None:
    found = await outcome(sandbox, code)
    assert isinstance(found, Fault), found
    assert message in found.message
    assert found.line == line


async def test_something_stands_in_for_what_fails_and_for_what_does_not_satisfy(sandbox: Sandbox) -> None:
    evaluations = [
        Evaluation("JSON.parse('{')", target="a", fallback="{}"),
        Evaluation("a", (("a", "a"),)),
        Evaluation("0", validate="output > 0", target="b", fallback="1"),
        Evaluation("0", validate="output > 0"),
    ]
    first, second, third, fourth = await sandbox.evaluate({}, evaluations)
    assert isinstance(first, Value)
    assert first.fault is not None
    assert isinstance(second, Value)
    assert second.text == "{}"
    assert isinstance(third, Value)
    assert third.text == "1"
    assert isinstance(fourth, Fault)
    assert "does not satisfy output > 0" in fourth.message


@pytest.mark.parametrize(
    "code",
    [
        "(() => { for (;;); })()",
        "(function again() { return again() })()",
        "'x'.repeat(2 ** 29)",
        "new Array(2 ** 30).fill(7)",
        "/^(a+)+$/.test('a'.repeat(50) + 'b')",
        "'x'.repeat(17 << 20)",
        pytest.param("Array.prototype.join.call({length: 2 ** 32 - 1}, '')", id="what no limit of the engine ends"),
    ],
)
async def test_limits_hold_and_the_next_is_right(sandbox: Sandbox, code: str) -> None:
    found = await sandbox.evaluate({}, [Evaluation("1", target="a"), Evaluation(code), Evaluation("a", (("a", "a"),))])
    assert [isinstance(one, Value) for one in found] == [True, False, True]
    assert found[2] == Value("1", millis=found[2].millis)


@pytest.mark.parametrize(
    "code",
    [
        "require('fs')",
        "process.env",
        "Deno.readTextFile",
        "std.open('/etc/passwd')",
        "os.getenv('HOME')",
        "fetch('http://127.0.0.1')",
        "import('fs')",
        "Function('return process')()",
        "[].constructor.constructor('return std')()",
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    ],
)
async def test_nothing_outside_is_reached(sandbox: Sandbox, code: str) -> None:
    assert isinstance(await outcome(sandbox, code), Fault)


@pytest.mark.parametrize(
    "code",
    [
        "globalThis.left = 1",
        "Array.prototype.left = 1",
        "JSON.parse = () => 1",
        "Object.prototype.toJSON = () => 1",
        "[][Symbol.iterator]().__proto__.next = null",
        "(function* () {})().__proto__.__proto__.left = 1",
        "Math.max = () => 1",
    ],
)
async def test_nothing_is_handed_on_to_another_evaluation(sandbox: Sandbox, code: str) -> None:
    probe = "[typeof left, [].left, JSON.parse('2'), {}.toJSON, [...[3]], Math.max(4, 5)]"
    found = await sandbox.evaluate({}, [Evaluation(code), Evaluation(probe)])
    assert isinstance(found[1], Value)
    assert json.loads(found[1].text) == ["undefined", None, 2, None, [3], 5]


async def test_time_and_chance_are_one_within_a_request_and_ids_are_new(sandbox: Sandbox) -> None:
    found = await value(sandbox, "[now(), new Date().toISOString(), Date.now() === +new Date(), uuid() !== uuid()]")
    assert isinstance(found, list)
    assert (found[0] == found[1], found[2:]) == (True, [True, True])
    assert await value(sandbox, "uuid()") != await value(sandbox, "uuid()")
    assert await value(sandbox, "new Date(0).getTime() + Date.UTC(1970, 0, 2)") == 86_400_000


async def test_many_ask_at_once_and_each_has_its_own_answer(sandbox: Sandbox) -> None:
    found = await asyncio.gather(*(value(sandbox, f"{number} * 2") for number in range(20)))
    assert found == [number * 2 for number in range(20)]


async def test_the_longest_result_comes_through_whole(sandbox: Sandbox) -> None:
    assert await value(sandbox, "'é'.repeat((4 << 20) - 2)") == "é" * ((4 << 20) - 2)


async def test_who_waits_when_it_is_closed_is_told() -> None:
    async with Sandbox().open() as closing:
        waiting = asyncio.ensure_future(outcome(closing, "(() => { for (;;); })()"))
        await asyncio.sleep(0)  # it is asked
    with pytest.raises(SandboxBroken):
        await waiting


async def test_a_worker_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WORKER", module._WORKER.with_name("no.py"))  # pyright: ignore[reportPrivateUsage]
    async with Sandbox().open() as broken:
        with pytest.raises(SandboxBroken, match=r"no\.py"):
            await outcome(broken, "1")
    with pytest.raises(SandboxBroken):
        await outcome(broken, "1")
