"""What a flow was given, and what it has come to, is compared with its recording."""

from moot.core.records import replace
from moot.taping.flow_lines import Stood
from moot.taping.replaying import flow_likeness

ENDED = Stood("wf_0", "completed", "", '"fine"', {"raw.a": "1", "raw.id": '"ms_01k9z3aaaaaaaaaaaaaa"', "inputs": "{}"})


def plain(text: str) -> str:
    return text


def ends(old: Stood, new: Stood) -> list[str]:
    return list(flow_likeness.compare_ends("w", old, new, plain))


def test_a_state_that_differs_in_ids_alone_is_the_same() -> None:
    other = {**ENDED.fields, "raw.id": '"ms_01k9z3bbbbbbbbbbbbbb"'}
    assert ends(ENDED, replace(ENDED, flow="wf_1", fields=other)) == []


def test_how_a_flow_has_ended_is_told_field_by_field() -> None:
    other = Stood("wf_1", "failed", "It broke.", None, {"raw.a": "2", "raw.b": "3", "inputs": "{}"})
    assert ends(ENDED, other) == [
        "w is failed instead of completed",
        "the error of w differs: 'It broke.' instead of ''",
        "the result of w differs: '' instead of '\"fine\"'",
        "the state of w differs: raw.a: '2' instead of '1'",
        "the state of w differs: raw.b: '3' instead of ''",
        "the state of w differs: raw.id: '' instead of '\"…\"'",
    ]


def test_of_many_fields_the_first_are_told_and_the_others_counted() -> None:
    other = {f"raw.{number}": "1" for number in range(9)}
    told = ends(replace(ENDED, fields={}), replace(ENDED, fields=other))
    assert len(told) == 6
    assert told[-1] == "the state of w differs in 4 more fields"


def test_what_was_given_is_compared_by_name() -> None:
    found = flow_likeness.compare_given({"a": 1, "b": [1]}, {"b": [2], "c": 3, "a": 1}, plain)
    assert list(found) == [
        "the input b differs: '[2]' instead of '[1]'",
        "the input c differs: '3' instead of 'null'",
    ]
