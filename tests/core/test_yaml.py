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


def test_what_is_deep_or_long_but_not_too_much_is_read() -> None:
    assert str(yaml.load("[" * 100 + "]" * 100, "f")) == "[" * 100 + "]" * 100
    assert yaml.load("9" * 300, "f") == int("9" * 300)
    assert yaml.load('"' + "9" * 5000 + '"', "f") == "9" * 5000


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
        ("é: 1\né: b\0c", "f:2:5 is not YAML: control characters are not allowed."),
        ("[" * 20_000, "f:1:101: this is more than 100 levels deep"),
        ("a:\n  " + "- " * 20_000 + "b", "f:2:201: this is more than 100 levels deep"),
        ("{a: " * 101 + "}" * 101, "f:1:401: this is more than 100 levels deep"),
        ("a: 1\nb: " + "9" * 5000, "f:2:4: this number has more than 300 digits. Put it in quotes."),
        ("a: 1\n" + "9" * 900 + ": b", "f:2:1: this number has more than 300 digits"),
        ("a: 1\n---\nb: 2", "is not YAML"),
        ('a: 1\nb: ["x\\0y"]', "f:2:5: this text holds a NUL character. Leave it out."),
        ('"x\\0y": 1', "f:1:1: this text holds a NUL character."),
        (
            "a0: &a0 [1, 2, 3]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 3}]\n" for n in range(1, 16)),
            "1,000,000 values",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(YamlInvalid) as caught:
        yaml.load(text, "f")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ("a:\n  say: @human hi", "f:2:8", 'A value cannot begin with @; put it in quotes: "@…".'),
        ("a: [@human]", "f:1:5", "put it in quotes"),
        ("a: `x`", "f:1:4", "A value cannot begin with `"),
        ("é: @x", "f:1:4", "A value cannot begin with @"),
        ("a:\n\tb: 1", "f:2:1", "Indent with spaces, not with tabs."),
        ("a: note: this", "f:1:8", "put the whole value in quotes"),
        ("a: *everyone", "f:1:4", "If the * belongs to the text"),
    ],
)
def test_what_is_often_forgotten_is_named(text: str, place: str, remedy: str) -> None:
    for written in (text, text.encode()):
        with pytest.raises(YamlInvalid) as caught:
            yaml.load(written, "f")
        assert caught.value.fact.startswith(place)
        assert remedy in caught.value.remedy


PLACED = """\
agents:
  coder: &shared
    script:
      - say: hello
      - {on: hi, takes: 5s}
  helper: *shared
  1: one
merged:
  <<: {here: 1, there: 2}
  here: 3
"""


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ((), (1, 1), (1, 1)),
        (("agents",), (1, 1), (2, 3)),
        (("agents", "coder", "script"), (3, 5), (4, 7)),
        (("agents", "coder", "script", 1), (5, 9), (5, 9)),
        (("agents", "coder", "script", 1, "takes"), (5, 18), (5, 25)),
        (("agents", "helper"), (6, 3), (2, 10)),
        (("agents", "helper", "script", 0, "say"), (4, 9), (4, 14)),
        (("agents", 1), (7, 3), (7, 6)),
        (("merged", "there"), (9, 17), (9, 24)),
        (("merged", "here"), (10, 3), (10, 9)),
        (("agents", "coder", "missing"), (2, 3), (2, 10)),
        (("agents", "coder", "missing", "deeper"), (2, 3), (2, 10)),
        (("agents", "coder", "script", 7), (3, 5), (4, 7)),
    ],
)
def test_every_key_and_value_has_its_place(path: yaml.Path, key: tuple[int, int], value: tuple[int, int]) -> None:
    document = yaml.read(PLACED, "f")
    assert document.place(path, key=True) == key
    assert document.place(path) == value


@pytest.mark.parametrize(("word", "place"), [("one", (4, 5)), ("two", (4, 9)), ("three", (6, 7)), ("four", (7, 6))])
def test_a_word_in_a_block_of_text_has_its_place(word: str, place: tuple[int, int]) -> None:
    text = "a:\n  b: |\n\n    one two\n\n      three\n  c: >-\n    four\n  d: x"
    document = yaml.read(text, "f")
    path = ("a", "c" if word == "four" else "b")
    at = document.data["a"][path[1]].index(word)
    assert document.place((*path, at)) == place  # of folded lines only where they begin


def test_an_empty_text_has_one_place() -> None:
    assert yaml.read("", "f").place(("agents",)) == (1, 1)
