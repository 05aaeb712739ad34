"""YAML is read in one way only, and refused with the place where it is wrong."""

import pytest

from moot.core import yaml
from moot.core.yaml import YamlInvalid


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("yes", "yes"),
        ("NO", "NO"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("12:30", "12:30"),
        ("010", "010"),
        ("0o10", "0o10"),
        ("0x1f", 31),
        ("-3", -3),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".inf", ".inf"),
        ("2026-01-31", "2026-01-31"),
        ("~", None),
        ("500ms", "500ms"),
    ],
)
def test_values_are_what_people_mean(written: str, read: object) -> None:
    assert yaml.load(f"key: {written}", "f") == {"key": read}


def test_on_is_a_key_like_any_other() -> None:
    assert yaml.load("on: push", "f") == {"on": "push"}


def test_an_empty_text_is_nothing() -> None:
    assert yaml.load("", "f") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: 2\na: 3", "f:3:1: 'a' stands here a second time"),
        ("a: [1", "f:2:1 is not YAML"),
        ("a: !!python/object:os.system x", "is not YAML"),
        ("a: &x [*x]", "f:1:4: this contains itself"),
        ("a: &x [1]\nb: [" + "*x," * 101 + "]", "more than 100 aliases"),
        ("a: b\0c", "is not YAML"),
        ("[" * 5000, "f"),
        ("a: 1\n---\nb: 2", "is not YAML"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(YamlInvalid) as caught:
        yaml.load(text, "f")
    assert words in str(caught.value)
