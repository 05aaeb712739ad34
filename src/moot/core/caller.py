"""Callers: on whose behalf a transaction or a tool call happens."""

from typing import Literal

from moot.core.ids import DEFAULT_INSTANCE, AgentId, AttemptId, InstanceName, TokenId
from moot.core.records import record

Role = Literal["member", "owner", "lead", "reviewer", "observer", "operator", "system"]


@record
class Caller:
    """An identity proven by a token, or moot itself."""

    name: str
    role: Role
    instance: InstanceName
    agent: AgentId | None = None
    token: TokenId | None = None
    attempt: AttemptId | None = None
    fence: int = 0
    groups: tuple[str, ...] | None = None  # the tool groups offered; None: what the role allows


SYSTEM = Caller(name="system", role="system", instance=DEFAULT_INSTANCE)
