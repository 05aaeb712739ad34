"""What a flow asks for is read in every form in which people say it."""

import pytest

from moot.engine.definition import InputField
from tests.engine.definitions import found


def test_everything_that_can_be_said_is_read() -> None:
    text = """
inputs:
  free:
  branch: {type: string, default: main, required: true, description: Where to look.}
  level: {enum: [low, high]}
"""
    definition, problems = found(text)
    assert problems == []
    assert definition.inputs == (
        InputField("free"),
        InputField("branch", "string", True, "main", "Where to look."),
        InputField("level", options=("low", "high")),
    )


def test_a_task_may_say_types_alone_or_what_stands_in_for_them() -> None:
    text = """
sub_agent_tasks:
  fix:
    inputs: {free: , limits: object, files: array, most: 3, is_fast: false, words: [a, b], greeting: hello}
    steps: [{type: exit}]
"""
    definition, problems = found(text)
    assert problems == []
    assert definition.tasks["fix"].inputs == (
        InputField("free"),
        InputField("limits", "object"),
        InputField("files", "array"),
        InputField("most", "number", default=3),
        InputField("is_fast", "boolean", default=False),
        InputField("words", "array", default=["a", "b"]),
        InputField("greeting", "string", default="hello"),
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "inputs:\n  n: {type: int}",
            ("2:13: `inputs.n.type` must be one of string, number, boolean, array, object. Choose one of them."),
        ),
        ("inputs:\n  n: {type: number, default: x}", "2:30: `inputs.n.default` must be a number. Write it like that."),
        ("inputs:\n  n: {requird: true}", "2:7: `requird` is no key of `inputs.n`. Did you mean `required`?"),
        (
            "inputs: [a]",
            "1:9: `inputs` must be keys and values, not a list.",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place_and_a_remedy(text: str, told: str) -> None:
    (problem,) = found(text)[1]
    assert problem.startswith(told)
