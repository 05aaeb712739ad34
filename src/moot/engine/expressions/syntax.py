"""Whether pieces of JavaScript can be read at all. Nothing of them is carried out."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from moot.core import json

_MEMORY = 64 << 20
_STACK = 512 << 10
_BODY = re.compile(r"\breturn\b")


def faults(codes: Iterable[str]) -> Iterator[str | None]:
    """Of each what JavaScript says is wrong with it: an expression, or else a body with `return`."""
    quickjs = _quickjs()
    context = quickjs.Context()  # not kept: it belongs to the thread that made it
    context.set_memory_limit(_MEMORY)
    context.set_max_stack_size(_STACK)
    for code in codes:
        found = _refused(quickjs, context, f"return (\n{code}\n)")
        yield _refused(quickjs, context, code) if found is not None and _BODY.search(code) else found


def _quickjs() -> Any:
    """Its import starts a thread, which no command needs that reads no steps."""
    import quickjs  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]

    return quickjs


def _refused(quickjs: Any, context: Any, body: str) -> str | None:
    try:
        # A function that is made and never called; its text cannot end it, and go on behind it.
        context.eval(f"new Function({json.dumps(body)}), 0")
    except quickjs.JSException as error:
        return str(error).splitlines()[0]
    return None
