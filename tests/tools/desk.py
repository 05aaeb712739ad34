"""Callers at a desk where tools are called, for tests of the tools."""

from dataclasses import dataclass
from typing import Any, cast

from moot.bus import mailbox
from moot.core.caller import Caller, Role
from moot.core.ids import AttemptId, InstanceName, JobId, TokenId
from moot.core.json import Json
from moot.core.tool import ToolAnswer
from moot.core.tx import Tx
from moot.ledger.operations import Key
from moot.registry import attempts
from moot.registry.agents import Agent
from moot.store.store import Store
from moot.tools import dispatch
from moot.tools.toolbox import AttemptToolbox
from tests.registry.house import House, build

DEFAULT = InstanceName("default")
OPERATOR = Caller("human", "operator", DEFAULT, token=TokenId("to_1"))


@dataclass(frozen=True)
class Desk:
    house: House

    async def call(
        self, caller: Caller, tool: str, arguments: dict[str, Json] | None = None, key: str | None = None
    ) -> ToolAnswer:
        used = Key("here", key) if key else None
        return await dispatch.perform(self.house.store, caller, tool, arguments or {}, used)

    async def done(self, caller: Caller, tool: str, **arguments: Json) -> dict[str, Any]:
        """The result of a call that must succeed."""
        answer = await self.call(caller, tool, arguments)
        assert not answer.is_error, answer.text
        return dict(answer.structured)

    async def refused(self, caller: Caller, tool: str, **arguments: Json) -> str:
        """The code of a call that must be refused, in words and with a remedy or a reason."""
        answer = await self.call(caller, tool, arguments)
        assert answer.is_error, answer.text
        error = cast(dict[str, str], answer.structured["error"])
        assert answer.text.startswith(f"{error['code']}: {error['message']}")
        assert "Traceback" not in answer.text
        assert len(answer.text) < 1000
        return error["code"]

    async def said(self) -> list[str]:
        """`sender: body` of the whole channel."""
        read = await self.done(OPERATOR, "channel_read", limit=1000)
        return [f"{entry['from']}: {entry['message']}" for entry in read["entries"]]

    async def attempt(self, agent: Agent, job: str = "jb_1", fence: int = 1) -> "Trial":
        """A new attempt at a delivery."""
        id = await self.house.start(agent, job, fence)
        caller = member(agent, attempt=id, fence=fence)
        return Trial(id, agent, AttemptToolbox(self.house.store, caller, JobId(job)))

    async def lose(self, trial: "Trial") -> None:
        """The attempt ends without success, and its mail waits again."""

        def change(tx: Tx) -> None:
            attempts.end(tx, trial.id, "lost")
            mailbox.take_back(tx, trial.agent.id, trial.id)

        await self.house.write(change)


@dataclass(frozen=True)
class Trial:
    """An attempt and its tools."""

    id: AttemptId
    agent: Agent
    toolbox: AttemptToolbox

    async def call(self, tool: str, **arguments: Json) -> ToolAnswer:
        return await self.toolbox.call(tool, arguments)

    async def refused(self, tool: str, **arguments: Json) -> str:
        """The code of a call that must be refused."""
        answer = await self.call(tool, **arguments)
        assert answer.is_error, answer.text
        return cast(dict[str, str], answer.structured["error"])["code"]


async def open_desk(store: Store) -> Desk:
    return Desk(await build(store))


def member(agent: Agent, role: Role = "member", attempt: AttemptId | None = None, fence: int = 0) -> Caller:
    return Caller(agent.name, role, DEFAULT, agent.id, TokenId(f"to_{agent.name}"), attempt, fence)
