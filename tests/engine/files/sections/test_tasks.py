"""Tasks of sub-agents have inputs, steps and a way to fail of their own."""

import pytest

from moot.engine.definition import InputField
from tests.engine.definitions import found

TASKS = """
sub_agent_tasks:
  process_batch:
    description: Mends the files of one batch.
    inputs: {batch_id: string, files: {type: array, required: true}}
    prompt: "Work on {{ batch_id }}."
    steps:
      - id: look
        type: foreach
        items: "{{ files }}"
        steps: [{type: state_update, path: "raw.seen.{{ item }}", value: true}]
    error_handling:
      return_on_error: false
      cleanup_on_error:
        - {type: state_update, path: "raw.status.{{ batch_id }}", value: failed}
  plain: {steps: [{type: exit}]}
"""


def test_everything_that_can_be_said_is_read() -> None:
    definition, problems = found(TASKS)
    assert problems == []
    batch, plain = definition.tasks["process_batch"], definition.tasks["plain"]
    assert (batch.name, batch.prompt, batch.returns_on_error) == ("process_batch", "Work on {{ batch_id }}.", False)
    assert batch.inputs == (InputField("batch_id"), InputField("files", "array", True))
    assert [one.type for one in batch.steps[0].blocks["steps"]] == ["state_update"]
    assert batch.steps[0].place == ("sub_agent_tasks", "process_batch", "steps", 0)
    assert [one.type for one in batch.cleanup] == ["state_update"]
    assert definition.root("cleanup/process_batch") == batch.cleanup
    assert (plain.returns_on_error, plain.cleanup, plain.prompt) == (True, (), "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sub_agent_tasks:\n  a: {}", "2:3: `steps` is missing in `sub_agent_tasks.a`. Add it."),
        ("sub_agent_tasks:\n  a: {steps: []}", "2:14: `sub_agent_tasks.a.steps` must not be empty. Add to it."),
        (
            "sub_agent_tasks:\n  a: {steps: [{type: exi}]}",
            "2:22: there is no kind of step `exi`. Did you mean `exit`?",
        ),
        (
            "sub_agent_tasks:\n  a: {steps: [{type: exit}], error_handling: {cleanup: []}}",
            ("2:47: `cleanup` is no key of `sub_agent_tasks.a.error_handling`. Did you mean `cleanup_on_error`?"),
        ),
        (
            "sub_agent_tasks:\n  a: {steps: [{type: exit}], error_handling: {cleanup_on_error: [{type: break}]}}",
            "2:66: `break` stands in no loop. Put it into a while or a foreach.",
        ),
        (
            "sub_agent_tasks:\n  a: {steps: [{type: exit}], prompt: '${{ x }}'}",
            "2:38: `${{ }}` is for what is known before a run. Write {{ }}, such as {{ inputs.x }}.",
        ),
        (
            "sub_agent_tasks:\n  'a b': {steps: [{type: exit}]}",
            "2:3: the key `a b` in `sub_agent_tasks` does not have the form",
        ),
        (
            "sub_agent_tasks:\n  a: {steps: [{type: exit}], inputs: {n: {typ: string}}}",
            "2:43: `typ` is no key of `sub_agent_tasks.a.inputs.n`. Did you mean `type`?",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place_and_a_remedy(text: str, told: str) -> None:
    (problem,) = found(text)[1]
    assert problem.startswith(told)
