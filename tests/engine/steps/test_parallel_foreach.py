"""Tasks for sub-agents: one for each item, with all that it needs, and an end as the step says."""

import pytest

from moot.core.json import Json
from moot.engine.definition import InputField, SubTask
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.flow import advance as advancing
from moot.engine.step import Outcome, StepFailed
from tests.engine.steps.taking import OWN, defined, finished, footing, taken, told, work, written

FIX = "type: parallel_foreach\nitems: '{{ batches }}'\nsub_agent_task: fix\n"
TASK = SubTask("fix", (InputField("batch_id"), InputField("files", "array")))


async def test_every_item_is_a_task_with_its_context(sandbox: Sandbox) -> None:
    batches: Json = [{"id": "batch_0", "files": ["a", "b"]}, {"id": 7, "files": [], "task_id": "mine"}]
    found = await work(sandbox, defined(FIX, TASK), batches=batches)
    assert found.type == "parallel_tasks"
    assert found.original == "{{ batches }}"
    assert found.definition == {
        "tasks": [
            {
                "task_id": "batch_0",
                "context": {
                    "task_id": "batch_0",
                    "batch_id": "batch_0",
                    "workflow_id": "wf_1",
                    "id": "batch_0",
                    "files": ["a", "b"],
                    "item": {"id": "batch_0", "files": ["a", "b"]},
                    "index": 0,
                },
            },
            {
                "task_id": "7",
                "context": {
                    "task_id": "7",
                    "batch_id": "7",
                    "workflow_id": "wf_1",
                    "id": 7,
                    "files": [],
                    "item": {"id": 7, "files": [], "task_id": "mine"},
                    "index": 1,
                },
            },
        ],
        "max_parallel": 10,
        "sub_agent_task": "fix",
        "wait_for_all": True,
        "strategy": "fail_all",
    }
    assert "each of the 2 tasks, at most 10 at once" in found.instructions


async def test_items_without_an_id_are_numbered_and_inputs_may_be_made_from_them(sandbox: Sandbox) -> None:
    task = SubTask("fix", (InputField("file", default="{{ item }}!"), InputField("n", default=3), InputField("note")))
    found = await work(sandbox, defined(FIX, task), batches=["a.py", {"id": True, "n": 4}])
    tasks = found.definition["tasks"]
    assert isinstance(tasks, list)
    assert tasks == [
        {
            "task_id": "it_0",
            "context": {
                "file": "a.py!",
                "n": 3,
                "item": "a.py",
                "index": 0,
                "task_id": "it_0",
                "batch_id": "it_0",
                "workflow_id": "wf_1",
            },
        },
        {
            "task_id": "it_1",
            "context": {
                "file": '{"id":true,"n":4}!',
                "n": 4,
                "id": True,
                "item": {"id": True, "n": 4},
                "index": 1,
                "task_id": "it_1",
                "batch_id": "it_1",
                "workflow_id": "wf_1",
            },
        },
    ]


async def test_all_that_is_said_is_handed_over(sandbox: Sandbox) -> None:
    said = FIX + (
        "max_parallel: '{{ inputs.branch.length }}'\nwait_for_all: false\nagent: coder\n"
        "sub_agent_prompt_override: Work on {{ inputs.branch }}.\nstate_update: {path: raw.done}\n"
        "on_sub_agent_error: {strategy: retry_failed, max_retries: 5}"
    )
    found = await work(sandbox, defined(said, TASK), batches=[1])
    assert {key: value for key, value in found.definition.items() if key != "tasks"} == {
        "max_parallel": 4,
        "sub_agent_task": "fix",
        "wait_for_all": False,
        "strategy": "retry_failed",
        "max_retries": 5,
        "sub_agent_prompt": "Work on main.",
        "agent": "coder",
        "state_update": {"path": "raw.done", "value": "{{ result }}"},
    }
    assert "need not wait" in found.instructions


async def test_without_items_there_is_nothing_to_do(sandbox: Sandbox) -> None:
    found = await taken(sandbox, defined(FIX, TASK), batches=[])
    assert (found.work, found.after.frames[-1].at) == (None, 1)


async def test_without_items_what_came_of_them_is_written_all_the_same(sandbox: Sandbox) -> None:
    said = FIX + "state_update: {path: raw.ended}\non_sub_agent_error: {error_state_path: raw.errors}"
    assert written(await taken(sandbox, defined(said, TASK), batches=[])) == {"ended": {}, "errors": []}


@pytest.mark.parametrize(
    ("batches", "why"),
    [
        ("abc", "The items of it are no list"),
        ({}, "The items of it are no list"),
        ([{"id": "1"}, {"id": 1}], "Two items of it have the id '1'"),
        (["x", {"id": "it_0"}], "Two items of it have the id 'it_0'"),
        ([0] * 10_001, "it has 10,001 items; at most 10,000"),
    ],
)
async def test_items_that_are_no_tasks_are_refused(sandbox: Sandbox, batches: Json, why: str) -> None:
    with pytest.raises(StepFailed, match=why):
        await taken(sandbox, defined(FIX, TASK), batches=batches)


async def test_what_cannot_be_handed_over_is_told(sandbox: Sandbox) -> None:
    with pytest.raises(StepFailed, match="There is no task `fix` for sub-agents"):
        await taken(sandbox, defined(FIX), batches=[1])
    for most in (0, 1.5, True, "x"):
        with pytest.raises(StepFailed, match="max_parallel of it is no number"):
            await taken(sandbox, defined(FIX + "max_parallel: '{{ most }}'", TASK), batches=[1], most=most)


MIXED = Outcome(result={"results": {"a": 1}, "failed": {"b": "no", "c": "never."}})
COLLECTING = "on_sub_agent_error: {error_state_path: raw.lost, strategy: "


async def test_results_are_written_by_task(sandbox: Sandbox) -> None:
    made = defined(FIX + COLLECTING + "retry_failed}\nstate_update: {path: raw.done}", TASK)
    found = await finished(sandbox, made, Outcome(result={"results": {"a": 1}}))
    assert written(found) == {"done": {"a": 1}, "lost": []}
    assert found.warning == ""


async def test_the_flow_goes_on_without_those_that_failed_if_the_step_says_so(sandbox: Sandbox) -> None:
    update = "\nstate_update: {path: raw.done, value: '{{ [result, errors.length] }}'}"
    found = await finished(sandbox, defined(FIX + COLLECTING + "continue}" + update, TASK), MIXED)
    lost = [{"task_id": "b", "error": "no"}, {"task_id": "c", "error": "never."}]
    assert written(found) == {"done": [{"a": 1}, 2], "lost": lost}
    assert found.warning == "2 sub-agents of it failed: b: no; c: never. The flow goes on without them."


@pytest.mark.parametrize("strategy", ["fail_all", "retry_failed"])
async def test_else_the_step_fails_and_what_was_collected_is_still_written(sandbox: Sandbox, strategy: str) -> None:
    made = defined(f"{FIX}{COLLECTING}{strategy}}}", TASK)
    with pytest.raises(StepFailed, match=r"2 sub-agents of it failed: b: no; c: never\.") as error:
        await finished(sandbox, made, MIXED)
    after = await advancing.failed(sandbox, made, footing({}), error.value, OWN)
    assert [one["task_id"] for one in written(after)["lost"]] == ["b", "c"]
    silent = defined(FIX + "on_sub_agent_error: {error_state_path: raw.lost, collect_errors: false}", TASK)
    with pytest.raises(StepFailed) as error:
        await finished(sandbox, silent, MIXED)
    assert error.value.updates == ()


async def test_many_failures_are_told_in_short_and_no_report_is_a_failure(sandbox: Sandbox) -> None:
    many: Json = {"failed": {f"t{number}": "no" for number in range(7)}}
    with pytest.raises(StepFailed, match=r"7 sub-agents of it failed: .*t4: no; and 2 more\."):
        await finished(sandbox, defined(FIX, TASK), Outcome(result=many))
    with pytest.raises(StepFailed, match="it failed: nobody could be started"):
        await finished(sandbox, defined(FIX, TASK), Outcome("failed", error="nobody could be started"))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("max_parallel: 0", "must be at least 1"),
        ("max_parallel: many", "max_parallel is no number. Write digits"),
        ("on_sub_agent_error: {collect_errors: true}", "Nobody knows where collected errors go. Add error_state_path"),
        ("on_sub_agent_error: {error_state_path: computed.x}", "computed.x is computed and cannot be written"),
        ("on_sub_agent_error: {strategy: retry_faild}", "fail_all. Did you mean retry_failed?"),
    ],
)
def test_what_is_wrong_is_told_before_it_begins(said: str, why: str) -> None:
    assert why in told(FIX + said)
