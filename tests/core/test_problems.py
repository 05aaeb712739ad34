"""What is wrong with a file is told in our words, once, with the place and a remedy."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, JsonValue, Tag, ValidationError

from moot.core import durations, problems, yaml
from moot.core.errors import InvalidInput, MootError
from moot.core.problems import Problem


def _duration(text: str) -> str:
    try:
        durations.parse(text)
    except MootError as error:
        raise ValueError(error.fact) from error
    return text


def _even(number: int) -> int:
    if number % 2:
        raise ValueError("must be even.")
    return number


class Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Shell(Shape):
    type: Literal["shell", "shell_command"]
    command: str
    timeout: Annotated[str, AfterValidator(_duration)] = "1s"


class Choice(Shape):
    type: Literal["conditional"]
    then: "list[Step]" = Field(default_factory=list["Step"])


Step = Annotated[Shell | Choice, Field(discriminator="type")]
Choice.model_rebuild()


class Check(Shape):
    shell: str


class File(Shape):
    name: Annotated[str, Field(min_length=1, max_length=1)] = "x"
    steps: list[Step] = Field(default_factory=list[Step])
    checks: str | list[Check] | Check | None = None
    limits: Mapping[str, Annotated[int, Field(ge=1, le=9)]] = Field(default_factory=dict[str, int])
    any: JsonValue = None
    pair: tuple[int, bool] | None = Field(default=None, strict=False)
    even: Annotated[int, AfterValidator(_even)] = 0
    max_turns: float = Field(default=1, validation_alias=AliasChoices("max_turns", "maxTurns"))
    sender: str = Field(default="", alias="from")


def found(text: str) -> list[Problem]:
    data: object = yaml.load(text, "f")
    with pytest.raises(ValidationError) as caught:
        File.model_validate(data)
    return problems.found(caught.value, File, data)


def told(text: str) -> str:
    document = yaml.read(text, "f")
    return "\n".join(str(one) for one in problems.errors(found(text), document, InvalidInput))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nam: x", "f:1:1: `nam` is no key of this file. Did you mean `name`?"),
        (
            "sender: x",
            (
                "f:1:1: `sender` is no key of this file. Known are: any, checks, even, from, limits, "
                "max_turns, name, pair, steps."
            ),
        ),
        (
            "steps:\n- {type: shell, comand: x, command: y}",
            "f:2:17: `comand` is no key of `steps item 1`. Did you mean `command`?",
        ),
        (
            "steps:\n- type: conditional\n  then: [{type: shell}]",
            "f:3:10: `command` is missing in `steps item 1, then item 1`. Add it.",
        ),
        (
            "steps:\n- type: shel\n  command: x",
            "f:2:9: `steps item 1, type` must be one of shell, shell_command, conditional. Did you mean shell?",
        ),
        ("steps:\n- command: x", "f:2:3: `type` is missing in `steps item 1`. Add it."),
        (
            "steps: [x]",
            ("f:1:9: `steps item 1` must be keys and values, not text. Write `key: value` lines below it, indented."),
        ),
        (
            "steps: 5",
            (
                "f:1:8: `steps` must be a list, not a number. "
                "Begin each item on its own line with `- `, or write [one, two]."
            ),
        ),
        (
            "steps:\n- {type: shell, command: x, timeout: soon}",
            (
                "f:2:38: `steps item 1, timeout`: 'soon' is not a "
                "duration. Write a number and a unit: 500ms, 30s, 5m, 2h, 1d."
            ),
        ),
        (
            "steps:\n- {type: shell, command: }",
            "f:2:26: `steps item 1, command` must be text, and is empty. Fill it in, or leave it out.",
        ),
        ("checks: 5", "f:1:9: `checks` must be text or a list or keys and values, not a number. Put it in quotes."),
        (
            "checks: {shel: x}",
            (
                "f:1:1: `shell` is missing in `checks`. Add it.\n"
                "f:1:10: `shel` is no key of `checks`. Did you mean `shell`?"
            ),
        ),
        (
            "checks: [{shell: x}, {shell: true}]",
            "f:1:30: `checks item 2, shell` must be text, not true. Put it in quotes.",
        ),
        ("limits: {cost: 0}", "f:1:16: `limits.cost` must be at least 1. Choose another number."),
        ("limits: {cost: 10}", "f:1:16: `limits.cost` must be at most 9. Choose another number."),
        (
            "limits: {cost: '5'}",
            ("f:1:16: `limits.cost` must be a whole number, not text. Write digits, without quotes."),
        ),
        ("limits: {1: 5}", "f:1:10: the key `1` in `limits` must be text. Put it in quotes."),
        ("any: {a: {1: 2}}", "f:1:11: the key `1` in `any.a` must be text. Put it in quotes."),
        (
            "any: {a: !!binary eA==}",
            ("f:1:10: `any.a` cannot be this. Write text, a number, true or false, a list, or keys and values."),
        ),
        ("1: 2", "f:1:1: the key `1` in this file must be text. Put it in quotes."),
        (
            "pair: [1, yes]",
            ("f:1:11: `pair item 2` must be true or false, not text. Write true, without quotes."),
        ),
        ("even: 3", "f:1:7: `even`: must be even. Mend it."),
        ("maxTurns: x", "f:1:11: `maxTurns` must be a number, not text. Write digits, without quotes."),
        ("from: [x]", "f:1:7: `from` must be text, not a list. Write it as one text."),
        ("name: ''", "f:1:7: `name` must not be empty. Add to it."),
        ("name: xy", "f:1:7: `name` must not have more than 1 character. Shorten it."),
        ("- x", "f:1:1: this file must be keys and values, not a list. Write `key: value` lines."),
    ],
)
def test_each_problem_has_place_fact_and_remedy(text: str, said: str) -> None:
    assert told(text) == said


def test_the_form_that_a_tag_names_is_the_one_whose_keys_are_known() -> None:
    class Red(Shape):
        wavelength: int = 0

    class Blue(Shape):
        depth: int = 0

    class Paint(Shape):
        colour: Annotated[Red, Tag("red")] | Annotated[Blue, Tag("blue")]

    data = {"colour": {"deph": 1}}
    with pytest.raises(ValidationError) as caught:
        Paint.model_validate(data)
    assert "Did you mean `depth`?" in [one.remedy for one in problems.found(caught.value, Paint, data)]


def test_several_problems_are_told_together_in_the_order_of_the_file() -> None:
    text = "limits: {a: x}\nnam: 1\nsteps: 5\n"
    document = yaml.read(text, "f")
    error = problems.together(problems.errors(found(text), document, InvalidInput), "f")
    first, *lines = error.fact.splitlines()
    assert first == "f has 3 problems:"
    assert [line.split(" ")[2] for line in lines] == ["f:1:13:", "f:2:1:", "f:3:8:"]
    many = [InvalidInput(f"f:{line}:1: wrong.") for line in range(25)]
    assert problems.together(many, "f").fact.splitlines()[-1] == "  and 5 more"
    assert problems.together(many[:1], "f") is many[0]


def test_a_refusal_by_other_rules_joins_the_rest() -> None:
    document = yaml.read("agents:\n  a b: {}", "f")
    one = problems.of_error(("agents", "a b"), InvalidInput("It cannot be.", "Choose another."), is_key=True)
    (error,) = problems.errors([one], document, InvalidInput)
    assert str(error) == "f:2:3: `agents.a b`: It cannot be. Choose another."


PYDANTIC = re.compile(r"Input|should|permitted|Field required|dictionary|validation|instance|Extra", re.IGNORECASE)
_keys = st.sampled_from(["name", "steps", "checks", "limits", "any", "pair", "type", "then", "shell", "dict", "x"])
_leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=2)
_values = st.recursive(
    _leaves | st.sampled_from(["shell", "conditional"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys | st.integers(0, 3), inner, max_size=4),
    max_leaves=12,
)


@given(_values)
def test_no_data_brings_out_pydantics_words(data: object) -> None:
    try:
        File.model_validate(data)
    except ValidationError as error:
        told = problems.found(error, File, data)
        assert told
        for one in told:
            assert one.remedy
            assert not PYDANTIC.search(one.fact.partition("`")[2].rpartition("`")[2] + one.remedy), one
