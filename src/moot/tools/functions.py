"""Python functions as tools: what an agent is told of one is read from its name, its annotations and its docstring."""

import asyncio
import inspect
import logging
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError

from moot.core import json, workspace_tools
from moot.core.caller import Caller
from moot.core.errors import InvalidInput, MootError
from moot.core.records import record
from moot.core.tool import Call, Tool
from moot.tools import groups, table
from moot.tools.shapes import Result

_log = logging.getLogger("moot.functions")
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,63}")
_TAKEN = {*groups.NAMES, *workspace_tools.GROUPS, *workspace_tools.NAMES}
_LONGEST_FAILURE = 2000


class FunctionRefused(InvalidInput):
    """A Python function that no agent could be told of."""

    code = "FUNCTION_REFUSED"


class FunctionFailed(MootError):
    """A Python function that was called by an agent and did not answer."""

    code = "FUNCTION_FAILED"


class _Given(BaseModel):
    """What a caller sends; fields are called by their aliases, because a parameter may be called like a method here."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, arbitrary_types_allowed=False)


@record
class _Parameter:
    name: str
    field: str  # in the model
    form: Any
    default: object


def tool_of(function: Callable[..., Any], name: str | None = None, *, is_idempotent: bool = False) -> Tool:
    """FunctionRefused, if something is missing that an agent has to know."""
    called = name or getattr(function, "__name__", "")
    _check_name(called)
    words = inspect.getdoc(function)
    if not words:
        raise FunctionRefused(f"{called} has no docstring.", "Say in it what the function is for: agents read that.")
    hints = _hints(function, called)
    parameters = _parameters(function, called, hints)
    about_caller = [one for one, form in hints.items() if form is Caller and one != "return"]
    given, answered = _models(called, parameters, _returned(called, hints))

    async def answer(call: Call, arguments: BaseModel) -> BaseModel:
        values = {one.name: getattr(arguments, one.field) for one in parameters}
        values |= dict.fromkeys(about_caller, call.caller)
        return await call.outside(lambda: _made(function, called, values, answered))

    return Tool(
        name=called,
        group=groups.FUNCTIONS,
        words=words,
        effect="outside",
        arguments=given,
        result=answered,
        function=answer,
        text=_text,
        is_fresh=is_idempotent,
    )


async def _made(
    function: Callable[..., Any], name: str, values: Mapping[str, Any], answered: type[BaseModel]
) -> BaseModel:
    try:
        if inspect.iscoroutinefunction(function):
            found = await function(**values)
        else:
            found = await asyncio.to_thread(function, **values)
    except MootError:
        raise
    except Exception as error:  # the boundary to somebody else's code
        _log.warning("the function %s failed", name, exc_info=True)
        fact = f"{name} failed: {type(error).__name__}: {error}"[:_LONGEST_FAILURE]
        raise FunctionFailed(f"{fact.rstrip('.')}.", "Call it with other arguments, or go on without it.") from error
    try:
        return answered(result=found)
    except ValidationError as error:
        raise FunctionFailed(
            f"{name} answered {type(found).__name__}, which is not what it says it returns.",
            "Go on without it, and tell the person.",
        ) from error


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise FunctionRefused(
            f"{name[:80]!r} is no name for a tool.", "Use letters, digits and _, up to 64; tool(name=…) gives another."
        )
    if name in table.TOOLS or name in _TAKEN:
        raise FunctionRefused(f"{name} is a tool of moot itself.", "Give the function another name: tool(name=…).")


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise FunctionRefused(f"The annotations of {name} cannot be read: {error}.", "Mend them.") from error


def _parameters(function: Callable[..., Any], name: str, hints: Mapping[str, Any]) -> list[_Parameter]:
    found: list[_Parameter] = []
    for number, one in enumerate(inspect.signature(function).parameters.values()):
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            raise FunctionRefused(
                f"{name} takes `{one}`, which has no name that an agent could use.", "Name every argument."
            )
        if one.name not in hints:
            raise FunctionRefused(f"{name}: `{one.name}` has no type.", f"Write {one.name}: str, for example.")
        form = hints[one.name]
        if form is not Caller:
            default = ... if one.default is one.empty else one.default
            found.append(_Parameter(one.name, f"argument_{number}", form, default))
    return found


def _returned(name: str, hints: Mapping[str, Any]) -> Any:
    if "return" not in hints:
        raise FunctionRefused(f"{name} does not say what it returns.", "Write -> str, for example, or -> None.")
    return hints["return"]


def _models(name: str, parameters: list[_Parameter], returned: Any) -> tuple[type[BaseModel], type[BaseModel]]:
    given_fields: dict[str, Any] = {
        one.field: (one.form, Field(one.default, alias=one.name, description=_description(one.form)))
        for one in parameters
    }
    no_answer = None if returned in (Any, object, None, type(None)) else ...  # what is null is left out of answers
    answer_fields: dict[str, Any] = {"result": (returned, no_answer)}
    try:
        given = create_model(f"{name}_arguments", __base__=_Given, **given_fields)
        answered = create_model(f"{name}_result", __base__=Result, **answer_fields)
        given.model_json_schema()
        answered.model_json_schema(mode="serialization")
    except PydanticUserError as error:
        fact = error.message.splitlines()[0].rstrip(".")
        raise FunctionRefused(
            f"{name} has a type that cannot be told as JSON: {fact}.",
            "Use plain types, Literal, lists, dicts, dataclasses or pydantic models.",
        ) from error
    return given, answered


def _description(form: Any) -> str | None:
    """`Annotated[str, "what it is"]`."""
    if get_origin(form) is not Annotated:
        return None
    said = [one for one in get_args(form)[1:] if isinstance(one, str)]
    return said[0] if said else None


def _text(answered: BaseModel) -> str:
    plain: Any = answered.model_dump(mode="json").get("result")
    return plain if isinstance(plain, str) else json.dumps(plain)
