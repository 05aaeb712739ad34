"""What a flow does about errors, and how it goes on after them."""

import pytest

from moot.engine.definition import ErrorHandling, Resumption
from tests.engine.definitions import found


def test_everything_that_can_be_said_is_read() -> None:
    text = """
error_handling:
  on_error: retry_workflow
  max_retries: 3
  error_collection: {state_path: raw.errors, include_stack_traces: true}
  on_failure: [{type: state_update, path: raw.status, value: "failed: {{ error.message }}"}]
on_resume: {retry_failed_steps: false, skip_completed_steps: false, reset_error_counts: true}
"""
    definition, problems = found(text)
    assert problems == []
    errors = definition.errors
    assert (errors.on_error, errors.most_retries) == ("retry_workflow", 3)
    assert (errors.collected_at, errors.has_traces) == ("raw.errors", True)
    assert [one.type for one in definition.root("failure")] == ["state_update"]
    assert definition.resumption == Resumption(False, False, True)


def test_what_is_not_said_is_as_it_always_is() -> None:
    definition, _ = found("steps: [{type: exit}]")
    assert (definition.errors, definition.resumption) == (ErrorHandling(), None)


def test_what_a_resumed_flow_knows_anyway_may_be_said() -> None:
    text = """
on_resume:
  load_from_checkpoint: [workflow_metadata, computed_field_definitions, current raw state, pending tasks]
  exclude: [historical data, completed task details]
"""
    definition, problems = found(text)
    assert (definition.resumption, problems) == (Resumption(), [])
    (problem,) = found("on_resume: {exclude: [current raw state]}")[1]
    assert problem.startswith("1:23: `on_resume.exclude item 1` must be one of historical data, completed task details")


@pytest.mark.parametrize(
    ("said", "place"), [("{}", "raw.workflow_errors"), ("{enabled: false, state_path: raw.e}", "")]
)
def test_errors_are_collected_where_it_is_said(said: str, place: str) -> None:
    assert found(f"error_handling: {{error_collection: {said}}}")[0].errors.collected_at == place


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "error_handling: {on_error: retry}",
            "1:28: `error_handling.on_error` must be one of checkpoint_and_fail, continue, retry_workflow.",
        ),
        (
            "error_handling: {error_collection: {state_path: computed.e}}",
            "1:49: `error_handling.error_collection.state_path`: computed.e is computed and cannot be written.",
        ),
        ("error_handling: {on_failure: [{type: exi}]}", "1:38: there is no kind of step `exi`."),
        (
            "on_resume: {retry: true}",
            "1:13: `retry` is no key of `on_resume`. Known are: exclude, load_from_checkpoint,",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place_and_a_remedy(text: str, told: str) -> None:
    (problem,) = found(text)[1]
    assert problem.startswith(told)
