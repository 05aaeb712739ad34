"""Whether a piece of JavaScript can be read at all. Nothing of it is carried out."""

import re
from functools import cache
from typing import Any

import quickjs as untyped  # pyright: ignore[reportMissingTypeStubs]

from moot.core import json

quickjs: Any = untyped
_MEMORY = 64 << 20
_STACK = 512 << 10
_BODY = re.compile(r"\breturn\b")


@cache
def fault(code: str) -> str | None:
    """What JavaScript says is wrong with it: an expression, or else a body with `return`."""
    found = _refused(f"return (\n{code}\n)")
    return _refused(code) if found is not None and _BODY.search(code) else found


def _refused(body: str) -> str | None:
    try:
        # A function that is made and never called; its text cannot end it, and go on behind it.
        _context().eval(f"new Function({json.dumps(body)}), 0")
    except quickjs.JSException as error:
        return str(error).splitlines()[0]
    return None


@cache
def _context() -> Any:
    context = quickjs.Context()
    context.set_memory_limit(_MEMORY)
    context.set_max_stack_size(_STACK)
    return context
