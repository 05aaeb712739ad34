"""An instance with people and programs who ask one another."""

from dataclasses import dataclass, replace
from datetime import timedelta

from moot.core.ids import RequestId
from moot.registry.agents import Agent
from moot.requests import requests
from moot.requests.requests import Answerer, NewRequest, Party, Request, Verdict
from moot.store.store import Store
from tests.registry.house import House, build


@dataclass(frozen=True)
class Desk:
    house: House
    ann: Agent  # asks
    bob: Agent  # is asked
    ana: Agent  # a person

    def new(self, to: Agent | None = None) -> NewRequest:
        """A question of ann to bob, unless somebody else is named."""
        asked = to or self.bob
        return NewRequest(
            self.house.stream, self.house.instance.name, "question", party(self.ann), party(asked), "which colour?"
        )

    def permission(self, to: Agent | None = None) -> NewRequest:
        return replace(
            self.new(to), kind="permission", title="run it?", body="rm -rf build", lasts=timedelta(minutes=1)
        )

    async def ask(self, new: NewRequest) -> Request:
        return (await self.house.write(lambda tx: requests.ask(tx, new))).request

    async def answer(
        self, id: RequestId, verdict: Verdict, text: str, by: Agent, *, is_operator: bool = False
    ) -> Request:
        return await self.house.write(lambda tx: requests.answer(tx, id, verdict, text, answerer(by, is_operator)))

    async def kinds(self) -> list[str]:
        """Of the events about requests."""
        return [event.kind for event in await self.house.events() if event.kind.startswith("request_")]


async def open_desk(store: Store) -> Desk:
    house = await build(store)
    return Desk(house, await house.join("ann"), await house.join("bob"), await house.join("ana", "human"))


def party(agent: Agent) -> Party:
    return Party(agent.name, agent.id, agent.backend == "human")


def answerer(agent: Agent, is_operator: bool = False) -> Answerer:
    return Answerer(agent.name, agent.id, is_operator)
