"""Messages to the user are words, whatever stands in them."""

import pytest

from moot.engine.expressions.sandbox import Sandbox
from moot.engine.step import Outcome, StepFailed
from tests.engine.steps.taking import defined, finished, work, written


@pytest.mark.parametrize(
    ("message", "shown"), [("{{ n }} of {{ list }}", "3 of [1]"), ("{{ n }}", "3"), ("done", "done")]
)
async def test_a_message_is_shown_with_its_values(sandbox: Sandbox, message: str, shown: str) -> None:
    found = await work(sandbox, defined(f"type: user_message\nmessage: '{message}'"), n=3, list=[1])
    assert (found.type, found.definition) == ("user_message", {"message": shown})


async def test_the_flow_goes_on_when_it_was_shown(sandbox: Sandbox) -> None:
    made = defined("type: user_message\nmessage: hello")
    found = await finished(sandbox, made, Outcome(result="whatever"))
    assert (written(found), found.after.frames[-1].at) == ({}, 1)
    with pytest.raises(StepFailed, match="it failed: nobody is there"):
        await finished(sandbox, made, Outcome("failed", error="nobody is there"))
