"""Agents and people with their tokens, for tests that come from outside."""

from dataclasses import dataclass
from datetime import timedelta

from moot.bus import messages
from moot.core.caller import SYSTEM, Role
from moot.core.ids import AgentId, AttemptId, HostId, InstanceName, JobId, TokenId
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, attempts, instances, tokens
from moot.registry.agents import NewAgent
from moot.registry.attempts import NewAttempt
from moot.registry.tokens import Grant
from moot.store.store import Store

DEFAULT = InstanceName("default")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a token."""

    name: str
    token: str
    token_id: TokenId
    agent: AgentId
    attempt: AttemptId | None = None


@dataclass(frozen=True, slots=True)
class Meeting:
    """The store as tests populate and inspect it."""

    store: Store

    async def join(
        self,
        name: str,
        *,
        role: Role = "member",
        instance: str = DEFAULT,
        groups: tuple[str, ...] | None = None,
        lasts: timedelta | None = None,
    ) -> Person:
        text = tokens.new_text()

        def change(tx: Tx) -> Person:
            opened = instances.ensure(tx, instance)
            agent = agents.ensure(tx, opened, NewAgent(name=name, role=role))
            grant = Grant("member", opened.name, role, agent.id, groups, lasts=lasts)
            return Person(name, text, tokens.mint(tx, text, grant), agent.id)

        return await self.store.write(change, caller=SYSTEM)

    async def operator(self, instance: str = DEFAULT) -> Person:
        text = tokens.new_text()

        def change(tx: Tx) -> Person:
            opened = instances.ensure(tx, instance)
            person = agents.person(tx, opened)
            return Person(
                person.name, text, tokens.mint(tx, text, Grant("operator", opened.name, "operator")), person.id
            )

        return await self.store.write(change, caller=SYSTEM)

    async def attempt(self, name: str) -> Person:
        """An agent that moot has started."""
        text = tokens.new_text()

        def change(tx: Tx) -> Person:
            opened = instances.ensure(tx, DEFAULT)
            agent = agents.ensure(tx, opened, NewAgent(name=name, backend="scripted"))
            begun = attempts.start(
                tx, NewAttempt(agent.id, opened.stream, JobId(tx.new_id("jo")), fence=1, number=1, host=HostId("ho_1"))
            )
            grant = Grant("attempt", opened.name, "member", agent.id, attempt=begun)
            return Person(name, text, tokens.mint(tx, text, grant), agent.id, begun)

        return await self.store.write(change, caller=SYSTEM)

    async def revoke(self, person: Person) -> None:
        await self.store.write(lambda tx: tokens.revoke(tx, person.token_id), caller=SYSTEM)

    async def said(self, instance: str = DEFAULT) -> list[tuple[str, str]]:
        """Who said what, in order."""

        def look(tx: ReadTx) -> list[tuple[str, str]]:
            opened = instances.get(tx, instance)
            return [(message.sender, message.body) for message in messages.latest(tx, opened.stream, 1000)]

        return await self.store.read(look)
