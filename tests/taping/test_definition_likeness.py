"""Where the texts of a definition differ from those that were recorded, the step is named."""

from moot.taping.replaying import definition_likeness

TEXT = """
name: w
description: what it is for
state_schema: {computed: {total: {from: raw.a, transform: input.length}}}
steps:
  - {id: one, type: shell_command, command: echo 1, on_error: continue}
  - id: judge
    type: conditional
    condition: "{{ total > 1 }}"
    then:
      - {type: user_message, message: much}
      - {type: user_message, message: very much}
  - {id: each, type: parallel_foreach, items: [a], sub_agent_task: t}
sub_agent_tasks:
  t: {steps: [{id: run, type: shell_command, command: echo t}]}
agents: {ann: {script: []}}
"""


def changes(old: str, new: str, text: str = TEXT) -> list[tuple[str, str]]:
    assert old in text
    found = definition_likeness.compare((("w.yaml", text),), (("elsewhere/w.yaml", text.replace(old, new)),))
    return [(one.step, one.fact) for one in found]


def test_what_changes_nothing_that_is_done_is_no_difference() -> None:
    assert changes("steps:", "# a word\nsteps:") == []
    assert changes("what it is for", "what else") == []
    assert changes("ann: {script: []}", "ben: {script: []}") == []  # is told of elsewhere
    assert changes("{id: one, type: shell_command,", "{type: shell_command, id: one,") == []


def test_a_key_of_a_step_is_told_with_both_values() -> None:
    assert changes("echo 1", "echo 2") == [("one", "one: command was `echo 1` and is `echo 2`")]
    assert changes(", on_error: continue", "") == [("one", "one: on_error was `continue` and is not there")]
    assert changes("total > 1", "total > 2") == [
        ("judge", "judge: condition was `{{ total > 1 }}` and is `{{ total > 2 }}`")
    ]
    assert changes("echo t", "echo u") == [("run", "run: command was `echo t` and is `echo u`")]


def test_of_a_long_value_the_first_line_that_differs_is_told() -> None:
    long = "echo " + "x" * 100
    ((step, fact),) = changes("echo 1", long)
    assert (step, fact) == ("one", f"one: command has changed: '{long[:80]}' instead of 'echo 1'")


def test_steps_without_an_id_are_known_by_their_kind_and_number() -> None:
    assert changes("very much", "little") == [
        ("user_message (2)", "user_message (2): message was `very much` and is `little`")
    ]


def test_steps_that_come_go_or_move_are_told() -> None:
    new = "  - {id: new, type: user_message, message: hi}\n  - id: judge"
    assert changes("  - id: judge", new) == [("new", "the step new is new")]
    assert changes("  - {id: each, type: parallel_foreach, items: [a], sub_agent_task: t}\n", "") == [
        ("each", "the step each is not there any more")
    ]
    first = "  - {id: one, type: shell_command, command: echo 1, on_error: continue}\n"
    assert changes("sub_agent_tasks:", f"{first}sub_agent_tasks:", TEXT.replace(first, "")) == [
        ("one", "the step one is new")
    ]
    moved = TEXT.replace(first, "").replace("sub_agent_tasks:", f"{first}sub_agent_tasks:")
    found = definition_likeness.compare((("w", TEXT),), (("w", moved),))
    assert [one.fact for one in found] == ["the order of steps has changed"]


def test_what_is_computed_is_told_by_its_place() -> None:
    assert changes("input.length", "0") == [("", "state_schema.computed.total.transform was `input.length` and is `0`")]


def test_files_that_are_imported_are_told_by_their_names() -> None:
    both = (("w.yaml", TEXT), ("shared/checks.yaml", "steps: [{id: x, type: shell_command, command: a}]"))
    other = (("w.yaml", TEXT), ("lib/checks.yaml", "result: b\nsteps: [{id: x, type: shell_command, command: b}]"))
    assert [one.fact for one in definition_likeness.compare(both, other)] == [
        "x: command was `a` and is `b`",
        "checks.yaml.result was not there and is `b`",
    ]
    assert [one.fact for one in definition_likeness.compare(both, both[:1])] == [
        "checks.yaml was among its files, and is not any more"
    ]
    assert [one.fact for one in definition_likeness.compare(both[:1], both)] == ["checks.yaml is new among its files"]


def test_a_text_that_cannot_be_read_is_told_as_a_text() -> None:
    found = definition_likeness.compare((("w", "a: [hidden]]"),), (("w", "a: b"),))
    assert [one.fact for one in found] == ["the file has changed: 'a: b' instead of 'a: [hidden]]'"]
