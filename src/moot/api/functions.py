"""`@moot.tool`: gives the agents of a run a Python function."""

from collections.abc import Callable, Iterable, Mapping
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar, overload

from moot.core.tool import Tool
from moot.tools.functions import FunctionRefused, tool_of

P = ParamSpec("P")
R = TypeVar("R")


class Function(Generic[P, R]):
    """A function that can be called as before, and that agents can be offered: `moot.run(…, tools=[it])`."""

    def __init__(self, function: Callable[P, R], tool: Tool) -> None:
        self._function = function
        self.tool = tool
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)


@overload
def tool(function: Callable[P, R], /) -> Function[P, R]: ...


@overload
def tool(*, name: str | None = None, idempotent: bool = False) -> Callable[[Callable[P, R]], Function[P, R]]: ...


def tool(
    function: Callable[P, R] | None = None, /, *, name: str | None = None, idempotent: bool = False
) -> Function[P, R] | Callable[[Callable[P, R]], Function[P, R]]:
    """Make a function, plain or async, a tool: agents are told its name, its docstring and the types of its
    arguments. With `idempotent` a call whose outcome was lost in a crash is made again; otherwise it is refused."""

    def made(one: Callable[P, R]) -> Function[P, R]:
        return Function(one, tool_of(one, name, is_idempotent=idempotent))

    return made if function is None else made(function)


def by_name(functions: Iterable[Function[..., object]]) -> Mapping[str, Tool]:
    """FunctionRefused, if two have one name, or one is called like a tool that sessions have by themselves."""
    from moot.app.session_references import is_own_tool  # noqa: PLC0415  # sessions are heavy

    found: dict[str, Tool] = {}
    for one in functions:
        given = one.tool.name
        if given in found or is_own_tool(given):
            whose = "two functions" if given in found else "a tool that models have anyway"
            raise FunctionRefused(f"{given} is the name of {whose}.", "Give it another: tool(name=…).")
        found[given] = one.tool
    return found
