"""Places in the state that steps write to: a list is made where one is meant, however the path came about."""

import pytest

from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import handing
from moot.engine.state.operations import UpdateRefused
from moot.engine.state.paths import PathInvalid
from moot.engine.step import Outcome
from tests.engine.steps.taking import defined, finished, taken, work, written

ASK = "type: agent_prompt\nprompt: x\nstate_update: {path: 'raw.rows[0].{{ key }}[0]'}"


@pytest.mark.parametrize("path", ["raw.rows[0].name", "raw.{{ field }}[0].name", "raw.rows[0].{{ key }}"])
async def test_a_place_in_brackets_makes_a_list(sandbox: Sandbox, path: str) -> None:
    made = defined(f"type: state_update\npath: '{path}'\nvalue: Bea")
    assert written(await taken(sandbox, made, field="rows", key="name"))["rows"] == [{"name": "Bea"}]


async def test_a_number_in_braces_is_a_key(sandbox: Sandbox) -> None:
    made = defined("type: state_update\npath: 'raw.rows.{{ number }}'\nvalue: Bea")
    assert written(await taken(sandbox, made, number=0)) == {"rows": {"0": "Bea"}}


async def test_a_list_that_is_not_there_has_no_second_place(sandbox: Sandbox) -> None:
    made = defined("type: state_update\npath: 'raw.rows[1]'\nvalue: Bea")
    with pytest.raises(UpdateRefused, match=r"raw.rows\[1\] has no place '1' in a list of 0"):
        await taken(sandbox, made)


@pytest.mark.parametrize("path", ['raw.{{ "" }}', 'raw.{{ "" }}.x'])
async def test_a_field_without_a_name_is_not_written(sandbox: Sandbox, path: str) -> None:
    made = defined(f"type: state_update\npath: '{path}'\nvalue: 1")
    with pytest.raises(PathInvalid, match="names no field"):
        await taken(sandbox, made)


async def test_who_does_a_step_is_told_of_the_same_place(sandbox: Sandbox) -> None:
    made = defined(ASK)
    told = (await work(sandbox, made, key="a.b")).definition["state_update"]
    assert told == {"path": 'raw.rows[0]["a.b"][0]', "value": "{{ result }}"}
    assert written(await finished(sandbox, made, Outcome(result=1), key="a.b")) == {"rows": [{"a.b": [1]}]}
    update = handing.read({"path": 'raw.rows[0]["a.b"][0]', "value": 1})
    assert handing.read(handing.written(update)) == update
    assert handing.written(update)["path"] == 'raw.rows[0]["a.b"][0]'
