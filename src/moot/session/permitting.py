"""Leave for one call of a tool, from somebody who decides."""

from collections.abc import Mapping
from typing import Protocol

from moot.core.json import Json


class Permitting(Protocol):
    """Asks, and waits for the answer. It stands for exactly these arguments, and for one call."""

    async def denial(self, tool: str, arguments: Mapping[str, Json]) -> str | None:
        """Why it may not be done, in words for the agent; None if it may."""
        ...


async def refusal(permitting: Permitting, tool: str, arguments: Mapping[str, Json]) -> str | None:
    """The same as the result of the call that is not made."""
    denial = await permitting.denial(tool, arguments)
    return None if denial is None else f"NOT_ALLOWED: {denial} (executed: false)"


class Nobody:
    """Where nobody is there to be asked."""

    async def denial(self, tool: str, arguments: Mapping[str, Json]) -> str | None:
        return f"Nobody is there to permit {tool}."
