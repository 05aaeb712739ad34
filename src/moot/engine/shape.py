"""The form of steps and of state in a workflow file, with the words that editors show. Read only; see `reading`."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from moot.engine.state.operations import Operation

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
Steps = list[JsonValue]


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


class FlowShape(Shape):
    """The sections of a workflow file that the engine reads."""

    steps: Annotated[Steps, Field(min_length=1)] | None = Field(
        default=None, description="What is done, one after the other"
    )
    state_schema: StateShape = Field(default_factory=StateShape, description="The fields of the state")
    default_state: DefaultsShape = Field(default_factory=DefaultsShape, description="What is in them at the beginning")
