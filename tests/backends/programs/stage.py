"""A moot server on loopback, and attempts built by hand for a program to be started as."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from moot.backends.backend import (
    Access,
    Assignment,
    Backend,
    Briefing,
    Conversation,
    Ended,
    Letter,
    Manner,
    Progress,
)
from moot.core.caller import SYSTEM, Caller
from moot.core.ids import AttemptId, HostId, InstanceName, JobId
from moot.core.json import Json
from moot.core.permissions import PRESETS
from moot.core.tool import ToolAnswer
from moot.core.tx import Tx
from moot.mcp import server
from moot.mcp.server import Endpoints, Options
from moot.registry import agents, attempts, instances, tokens
from moot.registry.agents import NewAgent
from moot.registry.attempts import NewAttempt
from moot.registry.tokens import Grant
from moot.requests import requests
from moot.store.store import Store
from moot.tools import dispatch, talk
from moot.tools.groups import APPROVE, NAMES
from moot.tools.talk import Words
from tests.mcp.people import Meeting

FULL = Manner(permissions=PRESETS["full"])


async def nothing_more() -> tuple[Letter, ...]:
    """Mail that never comes."""
    await asyncio.Event().wait()
    return ()


class NoTools:
    """A program comes over the network; nobody calls in process."""

    async def call(self, name: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        raise AssertionError(f"{name} was called in process")


@dataclass
class Stage:
    """Where attempts take place."""

    meeting: Meeting
    url: str
    root: Path
    met: set[AttemptId] = field(default_factory=set[AttemptId])

    async def say(self, body: str) -> None:
        """As the person, to whom it mentions."""

        def change(tx: Tx) -> None:
            instance = instances.ensure(tx, InstanceName("default"))
            talk.say(tx, instance, agents.person(tx, instance), Words(body))

        await self.meeting.store.write(change, caller=SYSTEM)

    async def assignment(
        self,
        name: str = "ann",
        *,
        prompt: str = "Deal with your inbox.",
        system_prompt: str = "",
        manner: Manner = FULL,
        conversation: Conversation | None = None,
        more: Callable[[], Awaitable[tuple[Letter, ...]]] = nothing_more,
        url: str | None = None,
    ) -> Assignment:
        attempt, token = await self._begun(name, manner)

        async def brief() -> Briefing:
            return Briefing(prompt, system_prompt)

        return Assignment(
            agent=name,
            instance="default",
            attempt=attempt,
            settings={},
            manner=manner,
            inbox=(),
            number=1,
            toolbox=NoTools(),
            brief=brief,
            more=more,
            access=Access(url or self.url, token, lambda: attempt in self.met),
            workspace=self._made("workspace"),
            folder=self._made(f"attempts/{attempt}"),
            conversation=conversation,
        )

    async def _begun(self, name: str, manner: Manner) -> tuple[AttemptId, str]:
        """An attempt as the runner begins one, with the tools of its agent and the permission prompt."""
        token = tokens.new_text()
        said: dict[str, Json] = {
            "edit": manner.permissions.edit,
            "shell": manner.permissions.shell,
            "network": manner.permissions.network,
        }

        def change(tx: Tx) -> AttemptId:
            opened = instances.ensure(tx, InstanceName("default"))
            agent = agents.ensure(tx, opened, NewAgent(name, backend="scripted", settings={"permissions": said}))
            job = JobId(tx.new_id("jo"))
            begun = attempts.start(tx, NewAttempt(agent.id, opened.stream, job, 1, 1, HostId("ho_1")))
            groups = (*NAMES, APPROVE)
            tokens.mint(tx, token, Grant("attempt", opened.name, "member", agent.id, groups, begun))
            return begun

        return await self.meeting.store.write(change, caller=SYSTEM), token

    async def respond(self, approve: bool) -> None:
        """As the person, to the first request that is open, once there is one."""
        store = self.meeting.store
        stream = (await store.read(lambda tx: instances.get(tx, InstanceName("default")))).stream
        with store.listen() as signal:
            while not (found := await store.read(lambda tx: requests.open_of(tx, stream))):
                await signal.wait()
                signal.clear()
        operator = Caller("human", "operator", InstanceName("default"))
        arguments: dict[str, Json] = {"request_id": found[0].id, "approve": approve}
        answer = await dispatch.perform(store, operator, "request_respond", arguments, None)
        assert not answer.is_error, answer.text

    def _made(self, name: str) -> Path:
        place = self.root / name
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place


@asynccontextmanager
async def stage(store: Store, root: Path) -> AsyncGenerator[Stage]:
    met: set[AttemptId] = set()

    def meet(caller: Caller) -> None:
        if caller.attempt is not None:
            met.add(caller.attempt)

    async with server.serving(store, Endpoints(), Options(met=meet)) as address:
        assert address.url is not None
        yield Stage(Meeting(store), address.url, root, met)


async def play(backend: Backend, assignment: Assignment, seconds: float = 60.0) -> tuple[list[Progress], Ended]:
    """All that a backend tells, and how it ended."""
    async with asyncio.timeout(seconds):
        told = [progress async for progress in backend.run(assignment)]
    ended = told[-1]
    assert isinstance(ended, Ended)
    assert not any(isinstance(one, Ended) for one in told[:-1])
    return told[:-1], ended


def words(told: Sequence[Progress], kind: type[Progress]) -> list[Progress]:
    return [one for one in told if isinstance(one, kind)]
