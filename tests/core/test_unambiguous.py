"""What says two things at once is refused; what says one is read as everywhere."""

import pytest

from moot.core import json, unambiguous
from moot.core.errors import InvalidInput


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": ":", "c": [], "a": 2}}]', '{"a": 1, "\\u0061": 2}'])
def test_a_key_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="The key 'a' stands twice in one object"):
        unambiguous.loads(text)


@pytest.mark.parametrize("text", ['{"a": {"a": ["a:a"]}, "b": ":"}', '[{"a": 1}, {"a": 1}]', '"a:b"', "7"])
def test_what_says_one_thing_is_read_as_everywhere(text: str) -> None:
    assert unambiguous.loads(text) == json.loads(text)
