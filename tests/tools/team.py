"""A team at the desk where tools are called: a lead, a reviewer and two workers."""

from dataclasses import dataclass

from moot.core.caller import Caller
from moot.core.tx import Tx
from moot.registry import agents, tokens
from moot.registry.agents import Agent, NewAgent
from moot.registry.tokens import Grant
from moot.store.store import Store
from moot.teams import teams
from moot.teams.teams import NewTeam, Part, Team
from moot.tools import attendance
from tests.tools.desk import Desk, member, open_desk

MEMBERS: dict[str, Part] = {"lead": "lead", "reviewer-1": "reviewer", "worker-1": "worker", "worker-2": "worker"}
EDIT = {"edit": "allow", "shell": "ask", "network": "ask"}
READ_ONLY = {"edit": "deny", "shell": "deny", "network": "deny"}


@dataclass(frozen=True)
class TeamDesk:
    desk: Desk
    team: Team
    members: dict[str, Agent]

    def __getitem__(self, name: str) -> Caller:
        return member(self.members[name])

    async def join(self, name: str) -> str:
        """Somebody has a token for an agent from outside; its id."""

        def change(tx: Tx) -> str:
            id = tokens.mint(
                tx, tokens.new_text(), Grant("member", self.team.instance, "member", self.members[name].id)
            )
            attendance.settle(tx, self.team.instance)
            return id

        return await self.desk.house.write(change)

    async def permissions(self, name: str) -> object:
        return (await self.desk.house.read(lambda tx: agents.get(tx, self.members[name].id))).settings["permissions"]


async def open_team(store: Store, lead: str = "external") -> TeamDesk:
    """`lead` is the backend of the lead; reviewer and workers are started by moot."""
    desk = await open_desk(store)
    house = desk.house

    def change(tx: Tx) -> tuple[Team, dict[str, Agent]]:
        found = {
            name: agents.ensure(
                tx,
                house.instance,
                NewAgent(
                    name,
                    backend=lead if part == "lead" else "scripted",
                    settings={"permissions": EDIT if part == "worker" else READ_ONLY},
                ),
            )
            for name, part in MEMBERS.items()
        }
        return teams.form(tx, NewTeam(house.instance.name, house.stream, "a goal", MEMBERS)), found

    team, found = await house.write(change)
    return TeamDesk(desk, team, found)
