"""The table of kinds: whatever can be written in a step is explained, and whatever is handed out can be finished."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from moot.engine import kinds
from moot.engine.definition import Definition
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow.advance import Footing, advance, finish
from moot.engine.step import Outcome, Step, StepFailed
from tests.engine.steps.taking import defined, told, work


def unexplained(schema: Mapping[str, Any], place: str) -> Iterator[str]:
    for name, one in cast(Mapping[str, Mapping[str, Any]], schema.get("properties", {})).items():
        if not one.get("description"):
            yield f"{place}.{name}"
    for name, one in cast(Mapping[str, Mapping[str, Any]], schema.get("$defs", {})).items():
        yield from unexplained(one, name)


@pytest.mark.parametrize("type_", kinds.KINDS)
def test_every_key_of_a_step_is_explained(type_: str) -> None:
    assert list(unexplained(kinds.KINDS[type_].said.model_json_schema(), type_)) == []


async def test_a_step_that_has_nothing_done_cannot_be_finished(sandbox: Sandbox) -> None:
    definition = Definition("test", (Step("it", "sequential"),))
    with pytest.raises(StepFailed, match="it has nothing done"):
        await finish(sandbox, definition, Footing({}), Outcome())


async def test_three_braces_mean_something_in_commands_alone(sandbox: Sandbox) -> None:
    found = await work(sandbox, defined("type: shell_command\ncommand: 'echo {{{ words }}} {{ words }}'"), words="a b")
    assert found.definition["command"] == "echo a b 'a b'"
    assert "three braces mean nothing here" in told("type: mcp_call\nmethod: '{{{ x }}}'")


async def test_work_in_a_loop_sees_its_item(sandbox: Sandbox) -> None:
    outer = defined(
        "type: foreach\nitems: [1, 2]\nsteps:\n- {type: user_message, message: '{{ item }} at {{ index }}'}"
    )
    shown: list[Any] = []
    footing = Footing({})
    while not footing.is_over:
        found = await advance(sandbox, outer, footing)
        if found.work is not None:
            shown.append(found.work.definition["message"])
            found = await finish(sandbox, outer, footing, Outcome())
        footing = found.after
    assert shown == ["1 at 0", "2 at 1"]
