"""Questions to agents: an answer that does not fit its schema is sent back with what is wrong."""

import pytest

from moot.core.json import Json
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.step import Outcome, StepFailed
from tests.engine.steps.taking import defined, finished, taken, told, work, written

SCHEMA: dict[str, Json] = {"type": "object", "required": ["risk"], "properties": {"risk": {"enum": ["low", "high"]}}}
ASK = """
type: agent_prompt
agent: reviewer
prompt: How risky is {{ file }}?
schema: {type: object, required: [risk], properties: {risk: {enum: [low, high]}}}
state_update: {path: raw.risk, value: "{{ result.risk }}"}
"""


async def test_an_agent_is_asked_with_the_form_of_the_answer(sandbox: Sandbox) -> None:
    found = await work(sandbox, defined(ASK), file="a.py")
    assert found.type == "agent_prompt"
    assert found.definition == {
        "prompt": "How risky is a.py?",
        "agent": "reviewer",
        "schema": SCHEMA,
        "state_update": {"path": "raw.risk", "value": "{{ result.risk }}"},
    }
    assert "fits the schema" in found.instructions
    plain = await work(sandbox, defined("type: agent_prompt\nprompt: Say something"))
    assert plain.definition == {"prompt": "Say something"}


@pytest.mark.parametrize("answer", [{"risk": "low"}, '{"risk": "low"}', ' ```json\n{"risk": "low"}\n```\n'])
async def test_an_answer_may_be_json_or_a_text_of_it(sandbox: Sandbox, answer: Json) -> None:
    assert written(await finished(sandbox, defined(ASK), Outcome(result=answer))) == {"risk": "low"}


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        (Outcome(result={}), "'risk' is a required property"),
        (Outcome(result='{"risk": "some"}'), "'some' is not one of ['low', 'high'] (at risk)"),
        (Outcome(result="none at all"), "it is no JSON (This is not JSON"),
        (Outcome("failed", error="out of words"), "out of words"),
        (Outcome(), "None is not of type 'object'"),
    ],
)
async def test_one_that_does_not_fit_is_sent_back_twice(sandbox: Sandbox, outcome: Outcome, why: str) -> None:
    made = defined(ASK)
    for tries in range(2):
        found = await finished(sandbox, made, outcome, tries)
        assert found.error.startswith(why)
        assert found.after.tries == tries + 1
    with pytest.raises(StepFailed, match="it was not answered: "):
        await finished(sandbox, made, outcome, 2)


async def test_without_a_schema_the_answer_is_what_was_said(sandbox: Sandbox) -> None:
    made = defined("type: agent_prompt\nprompt: x\nmax_retries: 1\nstate_update: {path: raw.a}")
    assert written(await finished(sandbox, made, Outcome(result='{"a": 1}'))) == {"a": '{"a": 1}'}
    assert (await finished(sandbox, made, Outcome())).error == "there is no answer"
    words = defined("type: agent_prompt\nprompt: x\noutput: {type: string}\nstate_update: {path: raw.a}")
    assert written(await finished(sandbox, words, Outcome(result="5"))) == {"a": "5"}


async def test_a_schema_may_be_made_from_the_state(sandbox: Sandbox) -> None:
    made = defined("type: agent_prompt\nprompt: x\nschema: {enum: '{{ names }}'}\nstate_update: {path: raw.a}")
    assert (await work(sandbox, made, names=["x"])).definition["schema"] == {"enum": ["x"]}
    assert written(await finished(sandbox, made, Outcome(result="x"), names=["x"])) == {"a": "x"}
    assert (await finished(sandbox, made, Outcome(result='"y"'), names=["x"])).error == "'y' is not one of ['x']"
    with pytest.raises(StepFailed, match="it: This is no JSON Schema: 5 is not of type 'array'"):
        await taken(sandbox, made, names=5)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("schema: {type: objekt}", "This is no JSON Schema: 'objekt' is not valid"),
        ("schema: {}\noutput: {}", "An agent_prompt has one schema. Write schema or output"),
        ("schema: 5", "must be keys and values"),
        ("max_retries: -1", "must be at least 0"),
    ],
)
def test_what_is_wrong_is_told_before_anybody_is_asked(said: str, why: str) -> None:
    assert why in told(f"type: agent_prompt\nprompt: x\n{said}")
