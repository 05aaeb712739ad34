"""The form of steps and of state in a workflow file, with the words that editors show. Read only; see `reading`."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue

from moot.engine.definition import OnError
from moot.engine.field_type import FieldType
from moot.engine.state.operations import Operation

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
TaskName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_:-]+$", max_length=200)]
Steps = list[JsonValue]
Restored = Literal["workflow_metadata", "computed_field_definitions", "current raw state", "pending tasks"]
LeftOut = Literal["historical data", "completed task details"]


class Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class StepShape(Shape):
    """What every step may say."""

    type: str = Field(description="What kind of step it is")
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_:-]+$", max_length=200)] | None = Field(
        default=None, description="Its name, by which it is known in traces and to agents"
    )
    description: str = Field(default="", description="What it is for")


class WriteShape(Shape):
    """A place in the state and what to write there."""

    path: str = Field(min_length=1, description="raw.NAME or state.NAME, and keys in it")
    value: JsonValue = Field(default=None, description="What to write")
    operation: Operation = Field(default="set", description="set, append, increment or merge")


class ComputedShape(Shape):
    source: str | list[str] = Field(validation_alias="from", description="What it is computed from")
    transform: str = Field(min_length=1, description="JavaScript: `input` is what it is computed from")
    on_error: Literal["use_fallback", "propagate", "ignore"] = Field(
        default="propagate", description="What to do if it fails"
    )
    fallback: JsonValue = Field(default=None, description="What stands in for it")
    validate_: str = Field(default="", validation_alias="validate", description="JavaScript: whether `output` will do")


class StateShape(Shape):
    raw: Mapping[Name, JsonValue] = Field(default_factory=dict[str, JsonValue], description="Fields and their types")
    state: Mapping[Name, JsonValue] = Field(default_factory=dict[str, JsonValue], description="Fields and their types")
    computed: Mapping[Name, ComputedShape] = Field(
        default_factory=dict[str, ComputedShape], description="Fields that follow from others"
    )


class DefaultsShape(Shape):
    raw: Mapping[Name, JsonValue] = Field(default_factory=dict[str, JsonValue], description="Values at the beginning")
    state: Mapping[Name, JsonValue] = Field(default_factory=dict[str, JsonValue], description="Values at the beginning")


class InputShape(Shape):
    type: FieldType = Field(default="string", description="string, number, boolean, array or object")
    required: bool = Field(default=False, description="Whether it cannot be left out")
    default: JsonValue = Field(default=None, description="What it is when it is not given")
    description: str = Field(default="", description="What to write there")
    options: list[str | int | float | bool] | None = Field(
        default=None, validation_alias=AliasChoices("options", "enum"), description="The only values it may have"
    )


class TaskErrorsShape(Shape):
    return_on_error: bool = Field(default=True, description="Whether the one who gave the task is told of an error")
    cleanup_on_error: Steps = Field(default_factory=list[JsonValue], description="Steps before that")


class TaskShape(Shape):
    """What a sub-agent does."""

    description: str = Field(default="", description="What it is for")
    inputs: Mapping[Name, JsonValue] = Field(
        default_factory=dict[str, JsonValue], description="What it is given: a type each, or what stands in for it"
    )
    steps: Annotated[Steps, Field(min_length=1)] = Field(description="What is done, one after the other")
    error_handling: TaskErrorsShape = Field(default_factory=TaskErrorsShape, description="What happens when one fails")
    prompt: str = Field(default="", description="What the sub-agent is told, in place of the standard words")


class CollectionShape(Shape):
    enabled: bool = Field(default=True, description="Whether errors are kept in the state")
    state_path: str = Field(default="raw.workflow_errors", min_length=1, description="Where, as in raw.NAME")
    include_stack_traces: bool = Field(default=False, description="With all that is known of how each came about")


class ErrorsShape(Shape):
    on_error: OnError = Field(
        default="checkpoint_and_fail", description="checkpoint_and_fail, continue or retry_workflow"
    )
    max_retries: Annotated[int, Field(ge=0, le=1000)] = Field(default=1, description="How often it begins again")
    error_collection: CollectionShape | None = Field(default=None, description="Errors in the state")
    on_failure: Steps = Field(default_factory=list[JsonValue], description="Steps before it ends; `error` is why")


class ResumeShape(Shape):
    retry_failed_steps: bool = Field(default=True, description="Whether a step that has failed is taken again")
    skip_completed_steps: bool = Field(default=True, description="Whether what is done stays done")
    reset_error_counts: bool = Field(default=False, description="Whether tries are counted anew")
    load_from_checkpoint: list[Restored] = Field(
        default_factory=list[Restored], description="What is known again then; all of this is, also if it is not said"
    )
    exclude: list[LeftOut] = Field(
        default_factory=list[LeftOut], description="What whoever goes on is not told; nor is it if that is not said"
    )


class FlowShape(Shape):
    """The sections of a workflow file that the engine reads."""

    name: str | None = Field(default=None, description="The file's name if not given")
    description: str = Field(default="", description="What it is for")
    version: str = Field(default="", description="Which one it is, as in 1.0.0")
    imports: list[Annotated[str, Field(min_length=1, max_length=1000)]] = Field(
        default_factory=list[str],
        max_length=100,
        description="Files, seen from this one, whose workflows and tasks of sub-agents are known here",
    )
    inputs: Mapping[str, InputShape | None] = Field(
        default_factory=dict[str, InputShape | None], description="What is asked for"
    )
    default_state: DefaultsShape = Field(default_factory=DefaultsShape, description="What is in them at the beginning")
    state_schema: StateShape = Field(default_factory=StateShape, description="The fields of the state")
    steps: Annotated[Steps, Field(min_length=1)] | None = Field(
        default=None, description="What is done, one after the other"
    )
    sub_agent_tasks: Mapping[TaskName, JsonValue] = Field(
        default_factory=dict[str, JsonValue], description="What sub-agents do, by name"
    )
    error_handling: ErrorsShape = Field(default_factory=ErrorsShape, description="What happens when a step has failed")
    on_resume: ResumeShape | None = Field(default=None, description="How it goes on after that")
    result: str | None = Field(default=None, description="What it comes to; {{ }} may stand in it")
