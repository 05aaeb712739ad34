"""What commands print, read in the form that a step asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.json import Json
from moot.engine.steps import outputs
from moot.engine.steps.outputs import OutputFormat, OutputUnreadable


@pytest.mark.parametrize(
    ("form", "printed", "wanted"),
    [
        ("text", "one\ntwo\n\n", "one\ntwo"),
        ("text", "  indented \r\n", "  indented "),
        ("text", "", ""),
        ("lines", "a.ts\nb c.ts\n", ["a.ts", "b c.ts"]),
        ("lines", "a\r\n\r\nb", ["a", "", "b"]),
        ("lines", "a\u2028b\x0bc\n", ["a\u2028b\x0bc"]),
        ("lines", "\n\n", []),
        ("json", ' {"a": [1, null]}\n', {"a": [1, None]}),
        ("key_value", "NAME=moot\nurl: http://x:1/?a=b\n\n# no\n  k = \"a b\" \nempty=\n",
            {"NAME": "moot", "url": "http://x:1/?a=b", "k": "a b", "empty": ""}),
        ("key_value", "a=1\na='2'\nb=\"\nc='x\"", {"a": "2", "b": '"', "c": "'x\""}),
        ("key_value", "", {}),
    ],
)  # fmt: skip
def test_it_is_read_as_it_should_be(form: OutputFormat, printed: str, wanted: Json) -> None:
    assert outputs.read(printed, form) == wanted


@pytest.mark.parametrize(
    ("form", "printed", "why"),
    [
        ("json", "not {json", r"What it printed is no JSON: 'not \{json'"),
        ("json", "", "What it printed is no JSON: ''"),
        ("json", '{"a": NaN}', "no JSON"),
        ("key_value", "a=1\n\nword\n", "Line 3 of what it printed has no key and value: 'word'"),
        ("key_value", "=x", "Line 1"),
    ],
)
def test_what_is_not_of_that_form_is_told(form: OutputFormat, printed: str, why: str) -> None:
    with pytest.raises(OutputUnreadable, match=why):
        outputs.read(printed, form)


KEYS = st.text(st.characters(exclude_characters="=:\n\r#", exclude_categories=("Cs",)), min_size=1).filter(
    lambda key: key == key.strip()
)
VALUES = st.text(st.characters(exclude_characters="\n\r", exclude_categories=("Cs",))).filter(
    lambda value: value == value.strip()
)


@given(pairs=st.dictionaries(KEYS, VALUES), separator=st.sampled_from(["=", ": ", " = "]), quote=st.sampled_from("'\""))
def test_keys_and_values_come_back_as_they_were_printed(pairs: dict[str, str], separator: str, quote: str) -> None:
    printed = "".join(f"{key}{separator}{quote}{value}{quote}\n" for key, value in pairs.items())
    assert outputs.read(printed, "key_value") == pairs
