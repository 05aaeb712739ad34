"""How steps are called: by their ids, or by their places, on the way that leads to them."""

import pytest

from moot.engine.frames import Frame, Frames
from tests.engine.definitions import found

TEXT = """
steps:
  - {id: detect_files, type: shell_command, command: git diff --name-only}
  - id: fix_errors
    type: conditional
    condition: has_errors
    then:
      - {type: user_message, message: hello}
      - {type: state_update, path: raw.status, value: fixed}
      - {id: named, type: exit}
    else: [{type: exit}]
  - type: while
    condition: n < 3
    body:
      - id: each
        type: foreach
        items: [1, 2]
        steps: [{type: state_update, path: raw.n, operation: increment}]
error_handling: {on_failure: [{type: user_message, message: sorry}]}
sub_agent_tasks: {mend: {steps: [{id: look, type: sequential, steps: [{type: exit}]}]}}
"""


@pytest.mark.parametrize(
    ("frames", "id"),
    [
        ((Frame("", 0),), "detect_files.shell_command"),
        ((Frame("", 1),), "fix_errors.conditional"),
        ((Frame("", 1), Frame("then", 1)), "fix_errors.then.1.state_update"),
        ((Frame("", 1), Frame("then", 2)), "fix_errors.then.named.exit"),
        ((Frame("", 1), Frame("else", 0)), "fix_errors.else.0.exit"),
        ((Frame("", 2),), "2.while"),
        ((Frame("", 2, 1), Frame("body", 0, 0), Frame("steps")), "2.body[2].each.steps[1].0.state_update"),
        ((Frame("failure"),), "failure.0.user_message"),
        ((Frame("task/mend@3"), Frame("steps")), "look.steps.0.exit"),
    ],
)
def test_a_step_is_called_by_the_way_to_it_and_by_its_kind(frames: Frames, id: str) -> None:
    definition, problems = found(TEXT)
    assert problems == []
    assert definition.step_id(frames) == id
