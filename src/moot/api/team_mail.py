"""Mailboxes and control requests of a team, as its scripts show them: from the store, or from the files of the team,
which are brought up to date first."""

from collections.abc import Sequence
from typing import Literal

from moot.api.connection import Connection
from moot.api.export import ViewsBlocked
from moot.api.plain import Plain
from moot.bus import mailbox
from moot.core import json
from moot.core.errors import MootError
from moot.core.ids import InstanceName, RequestId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import names
from moot.registry.errors import AgentNotFound
from moot.requests import requests
from moot.requests.requests import Request
from moot.teams import teams
from moot.teams.errors import TeamNotFound
from moot.views.team import files
from moot.views.team import picture as pictures
from moot.views.team.keeper import TeamViews
from moot.views.team.picture import Standing
from moot.views.team.writing import TeamFolder

Mode = Literal["fs", "db"]
_MOST_BYTES = 1 << 30  # of a file that was just written


class TeamUnclear(MootError):
    """Several teams could be meant."""

    code = "TEAM_UNCLEAR"
    exit_code = 2


class NoTeamFiles(MootError):
    """The team does without files."""

    code = "NO_TEAM_FILES"


@record
class Post:
    """The mail and the control requests of one team."""

    connection: Connection
    mode: Mode
    standing: Standing

    async def inbox(self, agent: str) -> list[Plain]:
        """All that lies in a mailbox, oldest first."""
        name = self.named(agent)
        if self.mode == "fs":
            return await self._read(files.inbox_path(name))
        picture = await pictures.take(self.connection.store, self.standing)
        return [json.an_object(one) for one in files.inbox(picture, name)]

    async def control(self) -> list[Plain]:
        """What was asked, and what came of it."""
        if self.mode == "fs":
            return await self._read("control.json", "requests")
        picture = await pictures.take(self.connection.store, self.standing)
        return [json.an_object(one) for one in files.control(picture)]

    async def pending(self, agent: str) -> list[Plain]:
        """What waits for an agent's answer."""
        name = self.named(agent)
        return [one for one in await self.control() if one["to"] == name and one["status"] == "pending"]

    async def request(self, id: RequestId) -> Request:
        """RequestNotFound if nobody has asked it in this team."""
        return await self.connection.store.read(lambda tx: requests.get(tx, id, self.standing.team.stream))

    def members(self) -> list[Plain]:
        return [
            {"name": one.name, "role": one.part, "agent_id": one.id, "presence": one.said or "offline"}
            for one in self.standing.members
        ]

    async def unread(self, agent: str, seqs: Sequence[int] | None) -> list[mailbox.Mail]:
        """What an agent has not read: these messages, or everything."""
        self.connection.check_own(self.named(agent))
        found = await self.connection.inbox(limit=pictures.MOST)
        return [one for one in found if seqs is None or one.seq in seqs]

    def named(self, agent: str) -> str:
        """As the team spells it; AgentNotFound if it has no such member."""
        known = {names.fold(one.name): one.name for one in self.standing.members}
        found = known.get(names.fold(agent))
        if found is None:
            here = ", ".join(known.values())
            raise AgentNotFound(f"There is no {agent[:80]!r} in {self.standing.team.instance}.", f"Here are: {here}.")
        return found

    async def _read(self, path: str, key: str | None = None) -> list[Plain]:
        folder, session = TeamFolder(self.connection.project.root), self.standing.team.instance
        found = json.loads(folder.read(session, path, _MOST_BYTES))
        listed = found if key is None else json.an_object(found)[key]
        return [json.an_object(one) for one in listed] if isinstance(listed, list) else []


async def find(connection: Connection, session: str | None) -> Connection:
    """The same connection in the instance of a team: the one that is named, else the only one."""

    def look(tx: ReadTx) -> InstanceName:
        known = teams.all_of(tx)
        if session is not None:
            return teams.get(tx, session).instance
        if not known:
            raise TeamNotFound("There is no team here.", "Start one with moot team up.")
        if len(known) > 1:
            raise TeamUnclear("There are several teams.", f"Name one: {', '.join(one.instance for one in known)}.")
        return known[0].instance

    name = await connection.store.read(look)
    if connection.caller.agent is not None and connection.caller.instance != name:
        raise TeamNotFound(f"The token in MOOT_TOKEN is not for {name}.", "Unset it, or stay there.")
    return connection if connection.caller.instance == name else connection.within(name)


async def post(connection: Connection, mode: Mode) -> Post:
    """Of the team in the connection's instance. Its files are up to date from now on, if it has any; what is in their
    way is a reason to refuse only for who wants to read them."""
    name = connection.caller.instance
    standing = await connection.store.read(lambda tx: pictures.standing(tx, teams.get(tx, name)))
    if standing.team.has_views:
        problems = await _brought(connection, name)
        if problems and mode == "fs":
            raise ViewsBlocked(" ".join(problems), "Move away what is there, then do it again.")
    elif mode == "fs":
        raise NoTeamFiles(f"The team {name} keeps no files.", "Ask with --mode db.")
    return Post(connection, mode, standing)


async def _brought(connection: Connection, name: InstanceName) -> list[str]:
    """What is in the way of the files, of which a person is warned."""
    views = TeamViews(connection.store, connection.project.root)
    await views.settle(name)
    return views.problems
