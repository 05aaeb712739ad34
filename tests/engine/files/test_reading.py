"""Steps and state as people write them, and what is wrong with them, told with its place."""

import re

import pytest

from moot.core import yaml
from moot.engine.definition import Definition
from moot.engine.expressions.template import Expression
from moot.engine.files.section import Notes
from moot.engine.steps.conditional import Conditional
from moot.engine.steps.updating import Change, StateUpdate
from tests.engine import definitions

FLOW = """
default_state:
  raw: {files: [], start: "{{ now() }}", limit: "{{ inputs.limit || 3 }}"}
state_schema:
  raw: {files: array}
  computed:
    kept:
      from: raw.files
      transform: |
        input
          .filter(f => !f.startsWith('.'))
    ready:
      from: [computed.kept]
      transform: "input[0].length > 0"
      on_error: use_fallback
      fallback: false
      validate: typeof output === 'boolean'
steps:
  - id: look
    type: conditional
    condition: "{{ ready }}"
    then:
      - {type: state_update, path: "raw.seen.{{ files[0] }}.at", value: "{{ limit }}"}
    else:
      - {type: exit, status: failed, reason: nothing}
  - type: while
    condition: ready
    max_iterations: 5
    body:
      - {type: foreach, items: "{{ kept }}", steps: [{type: break}]}
      - type: state_update
        updates: [{path: raw.files, value: []}, {path: state.n, operation: increment}]
"""


def found(text: str) -> tuple[Definition, list[str]]:
    """With the lines alone."""
    definition, told = definitions.found(text)
    return definition, [re.sub(r"^([0-9]+):[0-9]+", r"\1", one) for one in told]


def test_everything_that_can_be_said_is_read() -> None:
    definition, problems = found(FLOW)
    assert problems == []
    look, loop = definition.steps
    assert (look.name, look.detail) == ("look", Conditional(Expression("ready", source="{{ ready }}")))
    (update,) = look.blocks["then"]
    path = ("raw", "seen", "{{ files[0] }}", "at")
    assert update.detail == StateUpdate((Change(path, "set", "{{ limit }}"),))
    assert (loop.name, loop.is_loop, [one.type for one in loop.blocks["body"]]) == (
        "1",
        True,
        ["foreach", "state_update"],
    )
    kept, ready = definition.schema.order
    assert (kept.sources, kept.line, kept.lists_inputs) == (("raw.files",), 10, False)
    assert (ready.lists_inputs, ready.on_error, ready.fallback) == (True, "use_fallback", False)
    assert definition.default_state["raw"]["start"] == "{{ now() }}"


def test_a_field_that_is_raw_and_computed_is_warned_of() -> None:
    definition, problems = found(
        "state_schema:\n  raw: {a: string}\n  computed:\n    a: {from: raw.b, transform: input}"
    )
    assert problems == []
    assert definition.warnings == ("flow.yaml:4:5: a is raw and computed at once; who reads it sees what is computed.",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("steps: [{type: conditionl, condition: a}]", "1: there is no kind of step `conditionl`. Did you mean"),
        ("steps:\n  - {id: a}", "2: `type` is missing in `steps item 1`"),
        ("steps: [say]", "1: `steps item 1` must be a step"),
        ("steps:\n  - {type: while, condition: a, body: [], most: 1}", "2: `most` is no key of `steps item 1`"),
        ("steps:\n  - {type: while, condition: a}", "2: `body` is missing in `steps item 1`"),
        ("steps:\n  - {type: break}", "2: `break` stands in no loop"),
        ("steps:\n  - {id: a, type: exit}\n  - {id: a, type: exit}", "3: two steps of this block are called `a`"),
        ("steps:\n  - {type: exit, reason: '{{ a'}", "2: `steps item 1, reason`: '{{ a' is not closed. Close it"),
        ("steps:\n  - {type: exit, reason: '${{ a }}'}", "2: `${{ }}` is for what is known before a run. Write {{ }}"),
        ("steps:\n  - {type: exit, reason: '{{{ a }}}'}", "2: three braces mean nothing here: {{{ a }}}. Write two."),
        ("steps:\n  - {type: exit, reason: '{{ raw.a }}'}", "2: `raw` is no name in {{ raw.a }}. Write the field"),
        ("steps:\n  - {type: state_update, path: computed.a}", "2: `steps item 1`: computed.a is computed and cannot"),
        ("steps:\n  - {type: state_update}", "2: `steps item 1`: A state_update has either a path or updates"),
        ("steps:\n  - {type: state_update, path: raw}", "2: `steps item 1`: 'raw' names no field"),
        ("state_schema: {computed: {a: {from: raw.b}}}", "1: `transform` is missing in `state_schema.computed.a`"),
        ("state_schema: {computed: {a: {from: b, transform: c}}}", "1: `state_schema.computed.a.from`: 'b' does not"),
        ("state_schema: {computed: {a: {from: raw.b.c, transform: c}}}", "1: `raw.b.c` is inside a field. Write raw.b"),
        ("state_schema: {computed: {a: {from: raw.b, transform: \"'\"}}}", "1: `state_schema.computed.a.transform`: "),
        (
            "state_schema:\n  computed: {a: {from: computed.b, transform: input}, b: {from: computed.a, transform: x}}",
            "2: `state_schema.computed`: Computed fields are made from each other: a → b → a",
        ),
        ("steps: 5", "1: `steps` must be a list, not a number"),
        ("", "1: this file is no workflow. Write keys and values, such as steps."),
        ("- type: exit", "1: this file is no workflow. Write keys and values, such as steps."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line_and_the_remedy(text: str, told: str) -> None:
    _, problems = found(text)
    assert len(problems) == 1, problems
    assert problems[0].startswith(told)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    text = "steps:\n- {type: no}\n- type: while\n  condition: '{{ a'\n  body:\n  - {type: exit, status: maybe}\n"
    _, problems = found(text)
    assert [one[:2] for one in problems] == ["2:", "4:", "6:"]


def test_what_is_wrong_in_one_section_hides_nothing_in_another() -> None:
    _, problems = found("state_schema: {raw: 5}\nsteps: [{type: exi}]\non_resume: {retry: 1}")
    assert [one[:2] for one in sorted(problems)] == ["1:", "2:", "3:"]


def test_a_file_has_the_name_that_it_says_or_its_own() -> None:
    named, unnamed = found("name: standards:fix\ndescription: a\nversion: '2'\nsteps: [{type: exit}]"), found("steps:")
    assert (named[0].name, named[0].description, named[0].version) == ("standards:fix", "a", "2")
    assert unnamed[0].name == "flow"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("steps: [{type: exit}]\nresult: '{{ a }} of {{ b }}'", "{{ a }} of {{ b }}"),
        ("steps: [{type: exit}]\nresult: done ${{ instance }}", ""),
        ("steps: [{type: exit}]\nresult: ${{ '{{' }}", ""),
        ("result: '{{ a }}'", ""),
    ],
)
def test_a_result_with_braces_of_steps_is_evaluated_at_the_end(text: str, result: str) -> None:
    definition, problems = found(text)
    assert (definition.result, problems) == (result, [])


def test_three_braces_are_warned_of() -> None:
    notes = Notes(yaml.read("steps: [{command: 'ls {{{ flags }}}'}]", "flow.yaml"))
    notes.check_templates("ls {{{ flags }}}", ("steps", 0, "command"))
    assert notes.found == []
    assert notes.warnings == ["flow.yaml:1:19: {{{ flags }}} is put into the command as it is, without quotes."]
