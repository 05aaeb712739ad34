"""The agent that a step names, for steps that an agent does."""

from typing import Annotated

from pydantic import Field

from moot.core.json import Json
from moot.engine.resolving import text_of
from moot.engine.step import Visit

AgentName = Annotated[str, Field(description="The name of the agent; without it, whoever works on the flow")]


async def shown(visit: Visit, agent: str) -> dict[str, Json]:
    """The part of a definition that says who is asked."""
    found = text_of(await visit.resolved(agent))
    return {"agent": found} if found else {}
