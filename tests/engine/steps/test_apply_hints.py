"""Hints for a file: what an agent reports of them has names, which lead nothing elsewhere."""

import pytest

from moot.engine.expressions.sandbox import Sandbox
from moot.engine.step import Outcome, StepFailed
from tests.engine.steps.taking import defined, finished, taken, work, written

APPLY = """
type: apply_hints
file: "{{ file }}"
hints: "{{ found[file].hints }}"
state_update: {path: "raw.found.{{ file | path_to_key }}.applied", value: "{{ applied_count }}"}
"""


async def test_an_agent_is_given_the_file_and_its_hints(sandbox: Sandbox) -> None:
    found = await work(sandbox, defined(APPLY), file="src/a.ts", found={"src/a.ts": {"hints": ["h"]}})
    assert found.type == "apply_hints"
    assert found.definition == {
        "file": "src/a.ts",
        "hints": ["h"],
        "state_update": {"path": 'raw.found["src/a.ts"].applied', "value": "{{ applied_count }}"},
    }
    with pytest.raises(StepFailed, match="it names no file"):
        await taken(sandbox, defined("type: apply_hints\nfile: '{{ file }}'\nhints: []"), file="")


async def test_the_agent_may_be_named(sandbox: Sandbox) -> None:
    found = await work(sandbox, defined(APPLY + "agent: '{{ who }}'"), file="a", found={"a": {"hints": []}}, who="ann")
    assert found.definition["agent"] == "ann"


async def test_what_it_reports_is_known_by_name(sandbox: Sandbox) -> None:
    reported = Outcome(result={"applied_count": 3, "file": "elsewhere"})
    found = await finished(sandbox, defined(APPLY), reported, file="src/a.ts", found={}, applied_count=9)
    assert written(found) == {"found": {"src/a.ts": {"applied": 3}}}
    first = defined("type: apply_hints\nfile: a\nhints: x\nstate_update: {path: 'raw.r[0]'}")
    assert written(await finished(sandbox, first, Outcome(result=1))) == {"r": [1]}
    whole = defined("type: apply_hints\nfile: a\nhints: x\nstate_update: {path: raw.r}")
    assert written(await finished(sandbox, whole, Outcome(result={"result": 1}))) == {"r": {"result": 1}}
    assert written(await finished(sandbox, whole, Outcome(result="done"))) == {"r": "done"}
    assert written(await finished(sandbox, defined("type: apply_hints\nfile: a\nhints: x"), Outcome(result=1))) == {}


async def test_it_may_fail_as_other_steps_may(sandbox: Sandbox) -> None:
    bad = Outcome("failed", error="read only")
    with pytest.raises(StepFailed, match="it failed: read only"):
        await finished(sandbox, defined(APPLY), bad, file="a", found={})
    lenient = defined("type: apply_hints\nfile: a\nhints: x\non_error: continue\nerror_state_update: {path: raw.e}")
    assert written(await finished(sandbox, lenient, bad)) == {"e": {"message": "read only", "step": "it"}}
