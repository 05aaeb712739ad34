"""Definitions as pictures: steps to the right of those before them, fields to the right of what they follow from."""

from xml.etree import ElementTree as xml

from moot.engine import drawing, explaining
from moot.engine.explaining import Plan
from moot.engine.files import compiling

FLOW = """
default_state: {raw: {a: 1}}
state_schema:
  computed:
    b: {from: raw.a, transform: "input < 2"}
    c: {from: [computed.b, raw.a], transform: "input[0] && d"}
    d: {from: raw.a, transform: input}
steps:
  - {id: first, type: state_update, path: raw.a, value: 2}
  - id: choice
    type: conditional
    condition: "{{ b }}"
    then: [{id: yes, type: exit}]
    else: [{id: no, type: exit}]
  - id: loop
    type: while
    condition: "{{ b && '<script>' }}"
    body: [{id: one, type: shell_command, command: ls}, {id: two, type: continue}]
  - {id: each, type: parallel_foreach, items: [1], sub_agent_task: fix}
  - {id: again, type: parallel_foreach, items: [1], sub_agent_task: fix}
  - {id: last, type: exit}
sub_agent_tasks:
  fix: {steps: [{id: nest, type: parallel_foreach, items: [1], sub_agent_task: fix}]}
"""


def plan(text: str = FLOW) -> Plan:
    return explaining.explain(compiling.compiled((("flow.yaml", text),)))


def places(picture: str) -> dict[str, int]:
    """The column of each box, by its name."""
    boxes = xml.fromstring(picture).findall("{*}g")
    found = ((box.findtext("{*}text"), box.find("{*}rect")) for box in boxes)
    return {str(name): int(rect.get("x", "0")) // 240 for name, rect in found if rect is not None}


def test_steps_stand_to_the_right_of_those_before_them() -> None:
    picture = drawing.steps(plan())
    columns = places(picture)
    assert columns == {
        "first": 0,
        "choice": 1,
        "yes": 2,
        "no": 2,
        "loop": 3,
        "one": 4,
        "two": 5,
        "each": 4,
        "nest": 7,  # of `again`; that of `each` stands before it
        "again": 6,
        "last": 8,
    }
    dashed = [one for one in xml.fromstring(picture).findall("{*}path") if one.get("stroke-dasharray")]
    assert len(dashed) == 1  # from the end of the body back to the loop
    assert picture.count("<rect") == 12
    assert "<script>" not in picture


def test_fields_stand_to_the_right_of_what_they_are_computed_from() -> None:
    picture = drawing.state(plan())
    assert places(picture) == {"a": 0, "b": 1, "d": 1, "c": 2}
    assert picture.count("marker-end") == 5


def test_without_state_the_picture_is_empty() -> None:
    assert places(drawing.state(plan("steps: [{type: exit}]"))) == {}
