"""Waiting: for one thing, which is said as plain data, and no longer than the step allows."""

import pytest

from moot.core.json import Json
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.step import Outcome, StepFailed
from tests.engine.steps.taking import defined, finished, taken, told, work, written


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("seconds: 30", {"wait_for": "time", "seconds": 30.0}),
        ("seconds: '{{ n / 4 }}'", {"wait_for": "time", "seconds": 0.5}),
        ("for: 2h", {"wait_for": "time", "seconds": 7200.0}),
        ("for: '{{ n }}m'", {"wait_for": "time", "seconds": 120.0}),
        ("until: 2026-01-31T12:00:00+02:00", {"wait_for": "time", "until": "2026-01-31T10:00:00+00:00"}),
        ("until: '{{ at }}'", {"wait_for": "time", "until": "2026-01-31T12:00:00.500000+00:00"}),
        ("vote: '{{ id }}'", {"wait_for": "vote", "id": "p_1"}),
        ("approval: rq_{{ n }}", {"wait_for": "approval", "id": "rq_2"}),
        ("task: build", {"wait_for": "task", "id": "build"}),
        (
            "task: build\ntimeout: 90s\non_timeout: continue\nstate_update: {path: raw.t}",
            {
                "wait_for": "task",
                "id": "build",
                "timeout": 90_000,
                "on_timeout": "continue",
                "state_update": {"path": "raw.t", "value": "{{ result }}"},
            },
        ),
    ],
)
async def test_what_is_waited_for_is_said_as_data(sandbox: Sandbox, said: str, wanted: dict[str, Json]) -> None:
    found = await work(sandbox, defined(f"type: wait\n{said}"), n=2, id="p_1", at="2026-01-31T12:00:00.500Z")
    assert (found.type, found.definition) == ("wait", wanted)
    assert found.instructions.startswith("There is nothing to do: moot waits for ")


async def test_what_came_of_it_is_written(sandbox: Sandbox) -> None:
    made = defined("type: wait\nvote: p_1\nstate_update: {path: raw.won, value: '{{ result.winner }}'}")
    assert written(await finished(sandbox, made, Outcome(result={"winner": "a"}))) == {"won": "a"}
    with pytest.raises(StepFailed, match="it failed: there is no proposal p_1"):
        await finished(sandbox, made, Outcome("failed", error="there is no proposal p_1"))


async def test_who_has_waited_in_vain_fails_or_goes_on(sandbox: Sandbox) -> None:
    late = Outcome("failed", {"timed_out": True})
    said = "type: wait\ntask: x\ntimeout: 1s\nstate_update: {path: raw.t}\non_timeout: "
    with pytest.raises(StepFailed, match="it has waited in vain: its time is up"):
        await finished(sandbox, defined(said + "fail"), late)
    found = await finished(sandbox, defined(said + "continue"), late)
    assert written(found) == {"t": {"timed_out": True}}
    assert "waited in vain" in found.warning
    with pytest.raises(StepFailed, match="it failed: gone"):
        await finished(sandbox, defined(said + "continue"), Outcome("failed", error="gone"))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("seconds: '{{ x }}'", "it: 'true' is no number of seconds"),
        ("for: '{{ x }}'", "it: 'true' is not a duration"),
        ("until: '{{ x }}'", "it: 'true' is no time with its zone"),
        ("vote: '{{ y }}'", "it: There is no vote to wait for"),
    ],
)
async def test_what_can_only_be_known_then_is_told_then(sandbox: Sandbox, said: str, why: str) -> None:
    with pytest.raises(StepFailed, match=why):
        await taken(sandbox, defined(f"type: wait\n{said}"), x=True, y=None)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("description: x", "A wait is for one thing. Write one of seconds, for, until, vote, approval, task."),
        ("seconds: 1\ntask: x", "A wait is for one thing."),
        ("seconds: 1\ntimeout: 5s", "Who waits for a while needs no timeout. Leave it out."),
        ("seconds: -1", "is not a duration"),
        ("seconds: '5'", "'5' is no number of seconds. Write a number, or for: 30s."),
        ("for: 30", "must be text, not a number"),
        ("for: soon", "'soon' is not a duration. Write a number and a unit"),
        ("until: 2026-01-31T12:00:00", "'2026-01-31T12:00:00' is no time with its zone. Write it like"),
        ("until: '0001-01-01T00:00:00+23:00'", "is no time with its zone"),
    ],
)
def test_what_is_wrong_is_told_before_it_begins(said: str, why: str) -> None:
    assert why in told(f"type: wait\n{said}")
