"""Inputs are typed, and what is wanted is said when something is wrong."""

from pathlib import Path

import pytest

from moot.workflow import inputs
from moot.workflow.inputs import InputInvalid
from moot.workflow.workflow import Input, Value

WANTED = (
    Input("issue", "number", is_required=True, description="Which one to fix."),
    Input("title"),
    Input("fast", "boolean", default=False),
    Input("files", "array", default=("a",)),
    Input("level", options=("low", "high"), default="low"),
    Input("shape", "object"),
)


def parse(*given: str, folder: Path = Path()) -> dict[str, Value]:
    return inputs.parse(WANTED, given, folder)


def test_what_is_not_given_is_what_the_file_says() -> None:
    assert parse("issue=4") == {
        "issue": 4,
        "title": None,
        "fast": False,
        "files": ("a",),
        "level": "low",
        "shape": None,
    }


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ("title=a=b", "title", "a=b"),
        ("title=", "title", ""),
        ("title=42", "title", "42"),
        ("title=@@ana", "title", "@ana"),
        ("issue=-3", "issue", -3),
        ("issue=1e3", "issue", 1000.0),
        ("issue=.5", "issue", 0.5),
        ("fast=true", "fast", True),
        ("files=a, b,,c", "files", ("a", "b", "c")),
        ('files=["a,b", 1]', "files", ("a,b", 1)),
        ("files=", "files", ()),
        ('files=[{"a": [1]}, 2]', "files", ({"a": [1]}, 2)),
        ("level=high", "level", "high"),
        ('shape={"a": [1]}', "shape", {"a": [1]}),
    ],
)
def test_a_value_is_read_as_its_type(given: str, name: str, value: Value) -> None:
    found = parse(*(() if name == "issue" else ("issue=1",)), given)[name]
    assert (found, type(found)) == (value, type(value))


def test_an_array_can_be_given_in_several(tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("c,d\n")
    assert parse("issue=1", "files=a", "files=b", "files=@more.txt", folder=tmp_path)["files"] == ("a", "b", "c", "d")


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "told.txt").write_text("line\n${{ env.HOME }}\n\n")
    assert parse("issue=1", "title=@told.txt", folder=tmp_path)["title"] == "line\n${{ env.HOME }}"


@pytest.mark.parametrize(
    ("given", "fact"),
    [
        ("issue=four", "`issue` must be a number."),
        ("issue=0x10", "`issue` must be a number."),
        ("issue=1e999", "`issue` must be a number."),
        ("issue=nan", "`issue` must be a number."),
        ("fast=yes", "`fast` must be true or false."),
        ("files=[1", "This is not JSON"),
        ("files=[[1]]", "`files` must be a list"),
        ("files=[null]", "`files` must be a list"),
        ("level=medium", "`level` must be one of low, high."),
        ("isue=4", "There is no input `isue`. Did you mean `issue`?"),
        ("title", "'title' is no input. Write name=value, or name=@file."),
        ("=4", "'=4' is no input."),
        ("title=@absent.txt", "`title`: there is no file"),
        ("title=@.", "`title`: there is no file"),
        ("title=a\0b", "The input title contains a NUL character."),
        ("title=\udc80", "The input title is not valid Unicode"),
    ],
)
def test_a_wrong_input_is_refused_with_what_is_wanted(given: str, fact: str, tmp_path: Path) -> None:
    with pytest.raises(InputInvalid) as caught:
        parse(*(() if given.startswith("issue=") else ("issue=1",)), given, folder=tmp_path)
    assert fact in caught.value.fact
    assert "  --input issue=…  a number, required. Which one to fix." in caught.value.fact.splitlines()
    assert '  --input level=…  one of low, high, by default "low"' in caught.value.fact.splitlines()


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InputInvalid) as caught:
        parse("fast=maybe", "titel=x", "title=a", "title=b")
    assert caught.value.fact.splitlines()[:5] == [
        "4 inputs are wrong:",
        "  There is no input `titel`. Did you mean `title`?",
        "  `issue` is missing. Add --input issue=….",
        "  `title` is given 2 times. Keep one.",
        "  `fast` must be true or false. Write it like that.",
    ]


def test_a_workflow_without_inputs_takes_none() -> None:
    with pytest.raises(InputInvalid) as caught:
        inputs.parse((), ["a=1"], Path())
    assert caught.value.remedy == "This workflow takes none."
