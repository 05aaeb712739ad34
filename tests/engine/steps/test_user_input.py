"""Questions to the user: a wrong answer is asked for again, and no pattern holds the flow up."""

import time

import pytest

from moot.core.json import Json
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.step import Outcome, StepFailed
from tests.engine.steps.taking import defined, finished, taken, told, work, written

ASK = r"""
type: user_input
prompt: Which files of {{ project }}?
validation:
  pattern: "^(branch .+|commit [a-f0-9]{7,40}|HEAD)$"
  error_message: "{{ result }} will not do in {{ project }}"
state_update: {path: raw.choice}
"""
PICK = "type: user_input\nprompt: Pick\nstate_update: {path: raw.choice}\n"


async def test_a_question_is_asked_with_all_that_belongs_to_it(sandbox: Sandbox) -> None:
    found = await work(sandbox, defined(ASK), project="moot")
    assert found.type == "user_input"
    assert found.definition == {
        "prompt": "Which files of moot?",
        "validation": {
            "pattern": "^(branch .+|commit [a-f0-9]{7,40}|HEAD)$",
            "error_message": "{{ result }} will not do in {{ project }}",
        },
        "state_update": {"path": "raw.choice", "value": "{{ result }}"},
    }
    offered = await work(sandbox, defined(PICK + "options: '{{ all }}'\ndefault: '{{ all[0] }}'"), all=["x", 2])
    assert (offered.definition["options"], offered.definition["default"]) == (["x", 2], "x")


@pytest.mark.parametrize("answer", ["HEAD", "branch main", "commit abcdef0\n"])
async def test_an_answer_that_fits_is_written(sandbox: Sandbox, answer: str) -> None:
    found = await finished(sandbox, defined(ASK), Outcome(result=answer), project="moot")
    assert written(found) == {"choice": answer.rstrip("\n")}


@pytest.mark.parametrize("answer", ["head", "branch", "x HEAD", ""])
async def test_one_that_does_not_is_asked_for_again_three_times(sandbox: Sandbox, answer: str) -> None:
    made = defined(ASK)
    for tries in range(3):
        found = await finished(sandbox, made, Outcome(result=answer), tries, project="moot")
        assert (found.error, found.after.tries) == (f"{answer} will not do in moot", tries + 1)
        assert found.again is not None
        assert written(found) == {}
    with pytest.raises(StepFailed, match=r"it was not answered: .* will not do in moot"):
        await finished(sandbox, made, Outcome(result=answer), 3, project="moot")


async def test_how_often_may_be_said_and_without_words_the_form_is_told(sandbox: Sandbox) -> None:
    made = defined(PICK + "validation: {pattern: '^[0-9]+$'}\nmax_retries: 1")
    assert (await finished(sandbox, made, Outcome(result="x"))).error == "The answer must have the form ^[0-9]+$."
    with pytest.raises(StepFailed):
        await finished(sandbox, made, Outcome(result="x"), 1)
    assert written(await finished(sandbox, made, Outcome(result=12), 1)) == {"choice": "12"}


@pytest.mark.parametrize(("answer", "chosen"), [("x", "x"), ("2", 2), (3, 3), ("true", True)])
async def test_a_choice_is_one_of_the_options_as_it_stands_there(sandbox: Sandbox, answer: Json, chosen: Json) -> None:
    made = defined(PICK + "options: [x, 2, 3, true]")
    assert written(await finished(sandbox, made, Outcome(result=answer))) == {"choice": chosen}
    assert (await finished(sandbox, made, Outcome(result="y"))).error == "Choose one of: x, 2, 3, true."


async def test_an_empty_answer_is_the_default_if_there_is_one(sandbox: Sandbox) -> None:
    made = defined(PICK + "validation: {pattern: x}\ndefault: {n: '{{ 1 + 1 }}'}")
    for empty in ("", None, "\n"):
        assert written(await finished(sandbox, made, Outcome(result=empty))) == {"choice": {"n": 2}}
    assert written(await finished(sandbox, made, Outcome(result="xy"))) == {"choice": "xy"}
    assert (await finished(sandbox, defined(PICK), Outcome())).error == "There is no answer."
    assert written(await finished(sandbox, defined(PICK), Outcome(result=""))) == {"choice": ""}


async def test_who_cannot_be_asked_fails_the_step(sandbox: Sandbox) -> None:
    with pytest.raises(StepFailed, match="it failed: there is no terminal"):
        await finished(sandbox, defined(PICK + "default: 1"), Outcome("failed", error="there is no terminal"))
    with pytest.raises(StepFailed, match="The options of it are no list of answers"):
        await taken(sandbox, defined(PICK + "options: '{{ all }}'"), all=[{}])


async def test_a_pattern_that_would_take_years_is_given_up(sandbox: Sandbox) -> None:
    made = defined(PICK + "validation: {pattern: '^(a|aa)+$'}")
    began = time.monotonic()
    found = await finished(sandbox, made, Outcome(result="a" * 80 + "b"))
    assert "takes longer than" in found.error
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("validation: {pattern: '(a'}", "not a regular expression: missing )"),
        ("validation: {error_message: x}", "`pattern` is missing in"),
        ("options: []", "must not be empty"),
        ("max_retries: -1", "must be at least 0"),
    ],
)
def test_what_is_wrong_is_told_before_anybody_is_asked(said: str, why: str) -> None:
    assert why in told(f"type: user_input\nprompt: x\n{said}")
