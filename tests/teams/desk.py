"""A team in an instance, and short ways to take it further."""

from dataclasses import dataclass

from moot.core.ids import RunId
from moot.store.store import Store
from moot.teams import reviews, teams
from moot.teams.reviews import Issue, Verdict
from moot.teams.stages import Stage
from moot.teams.teams import NewTeam, Part, Team
from tests.registry.house import House, build

MEMBERS: dict[str, Part] = {"lead": "lead", "reviewer-1": "reviewer", "worker-1": "worker", "worker-2": "worker"}
RUN = RunId("wf_1")


@dataclass(frozen=True)
class Desk:
    house: House

    @property
    def name(self) -> str:
        return self.house.instance.name

    def new(self, goal: str = "a goal") -> NewTeam:
        return NewTeam(self.house.instance.name, self.house.stream, goal, MEMBERS)

    async def form(self, goal: str = "a goal") -> Team:
        return await self.house.write(lambda tx: teams.form(tx, self.new(goal)))

    async def begin(self) -> Team:
        team = await self.form()
        return await self.house.write(lambda tx: teams.begin(tx, team, RUN))

    async def team(self) -> Team:
        return await self.house.read(lambda tx: teams.get(tx, self.name))

    async def go(self, *stages: Stage, reason: str = "") -> Team:
        for stage in stages:
            team = await self.team()
            assert await self.house.write(lambda tx, team=team, stage=stage: teams.move(tx, team, stage, reason))
        return await self.team()

    async def ask(self, *names: str) -> None:
        team = await self.team()
        for name in names:
            await self.house.write(lambda tx, name=name: reviews.ask(tx, team, name))

    async def give(self, name: str, verdict: Verdict, *issues: Issue) -> bool:
        team = await self.team()
        return await self.house.write(lambda tx: reviews.give(tx, team, name, verdict, issues))

    async def told(self) -> list[str]:
        """`from>to` of every stage that the team has come to."""
        found = [one for one in await self.house.events() if one.kind == teams.STAGE]
        return [f"{one.data['from']}>{one.data['to']}" for one in found]


async def open_desk(store: Store) -> Desk:
    return Desk(await build(store))
