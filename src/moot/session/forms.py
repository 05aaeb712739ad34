"""What the tools of a session itself are called with. They decide what becomes of it, so that a call which is only half
understood is not made at all."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from moot.core import problems
from moot.core.expectations import JSON
from moot.core.json import Json


class Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


F = TypeVar("F", bound=Form)


def read(form: type[F], arguments: Mapping[str, Json]) -> F | str:
    """The arguments, or what is wrong with them."""
    try:
        return form.model_validate(arguments)
    except ValidationError as error:
        return problems.found(error, form, arguments, writing=JSON)[0].fact
