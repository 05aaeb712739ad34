"""A picture of a team: all that its files show, read from the store in pieces so that no read takes long."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from moot.bus import mailbox, messages
from moot.bus.mailbox import Box, Counts, Mail, State
from moot.bus.messages import Kind as MessageKind
from moot.bus.messages import Message
from moot.core.ids import AgentId, HostId, InstanceName, MessageId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import agents, hosts, names, runs
from moot.registry.agents import Agent
from moot.registry.hosts import Host
from moot.registry.runs import Run
from moot.requests import requests
from moot.requests.requests import Kind, Request
from moot.store import feed
from moot.store.store import Store
from moot.teams import attendance, teams
from moot.teams.attendance import Presence
from moot.teams.teams import Team

MOST = 10_000  # messages that the files go back; what is unread is in them however old it is
_CHUNK = 1000  # messages read at once
# By which messages whoever has asked is told of the end.
ANSWERS: Mapping[Kind, tuple[MessageKind, ...]] = {
    "question": ("answer",),
    "plan_approval": ("plan_approval_response",),
    "permission": ("permission_response",),
    "shutdown": ("shutdown_approved", "shutdown_rejected", "shutdown_response"),
    "mode_set": ("mode_set_response",),
}


@record
class Member:
    """Somebody with an inbox: of the team, the person, or one of moot's own addresses."""

    name: str
    part: str
    agent: Agent | None  # None: not known yet
    said: Presence | None  # None: nobody has said it of this one

    @property
    def id(self) -> AgentId | None:
        return None if self.agent is None else self.agent.id


@record
class Standing:
    """What a picture is taken of besides its messages. As long as it stays the same, so does the picture."""

    team: Team
    members: tuple[Member, ...]
    run: Run | None
    host: Host | None  # that attends the run, if it lives
    counts: Mapping[AgentId, Counts]  # reading is no event
    head: int  # of the events


@record
class Letter:
    """A message, and the request that it asks or answers."""

    message: Message
    boxes: tuple[tuple[str, State], ...]  # whose mailboxes it lies in, by name, and how far it has come there
    request: Request | None = None
    is_answer: bool = False

    @property
    def approve(self) -> bool | None:
        """What it answers to a request; None for every other message."""
        decided = self.request is not None and self.request.state in ("approved", "denied")
        return self.request.state == "approved" if self.is_answer and decided and self.request else None


@record
class Picture:
    standing: Standing
    letters: tuple[Letter, ...]
    requests: tuple[Request, ...]


def standings(tx: ReadTx) -> list[Standing]:
    """Of all teams that have files."""
    return [standing(tx, one) for one in teams.all_of(tx) if one.has_views]


def find(tx: ReadTx, name: InstanceName) -> Standing | None:
    team = teams.find(tx, name)
    return None if team is None else standing(tx, team)


def standing(tx: ReadTx, team: Team) -> Standing:
    run = None if team.run is None else runs.find(tx, team.run)
    return Standing(
        team=team,
        members=tuple(_members(tx, team)),
        run=run,
        host=None if run is None or run.state != "live" else _host(tx, run.attended_by),
        counts=mailbox.counts(tx, team.stream),
        head=feed.end(tx, team.stream).get(team.stream, 0),
    )


def _members(tx: ReadTx, team: Team) -> list[Member]:
    said = attendance.said(tx, team.instance)
    parts: dict[str, str] = {**team.members}
    if agents.PERSON not in parts and agents.find(tx, team.stream, agents.PERSON) is not None:
        parts[agents.PERSON] = "person"
    parts.update(dict.fromkeys(sorted(names.SERVICES), "service"))
    return [Member(name, part, agents.find(tx, team.stream, name), said.get(name)) for name, part in parts.items()]


def _host(tx: ReadTx, id: HostId | None) -> Host | None:
    return next((one for one in hosts.alive(tx) if one.id == id), None)


async def take(store: Store, standing: Standing) -> Picture:
    """What was said since then may be in it, too: whoever looks again finds another standing."""
    team = standing.team
    asked = await store.read(lambda tx: requests.latest(tx, team.stream, MOST))
    by_message = {one.message: one for one in asked if one.message is not None}
    first = await store.read(lambda tx: messages.first_of_latest(tx, team.stream, MOST))
    found = await store.read(lambda tx: _older(tx, standing, first))
    after = first - 1
    while page := await store.read(lambda tx, after=after: _page(tx, team, after)):
        found += page
        after = page[-1][0].seq
    return Picture(standing, tuple(_letter(one, boxes, by_message) for one, boxes in found), tuple(asked))


_Boxes = tuple[tuple[str, State], ...]


def _older(tx: ReadTx, standing: Standing, first: int) -> list[tuple[Message, _Boxes]]:
    """What is unread, and was said before what the files go back to."""
    found: dict[int, tuple[Mail, list[tuple[str, State]]]] = {}
    for one in standing.members:
        if one.id is None:
            continue
        waiting = mailbox.unread(tx, one.id, MOST) + mailbox.parked(tx, one.id, MOST)
        for mail in waiting:
            if mail.seq < first:
                found.setdefault(mail.seq, (mail, []))[1].append((one.name, mail.state))
    return [(mail, tuple(boxes)) for _, (mail, boxes) in sorted(found.items())]


def _page(tx: ReadTx, team: Team, after: int) -> list[tuple[Message, _Boxes]]:
    said = messages.after(tx, team.stream, after, _CHUNK)
    if not said:
        return []
    boxes: dict[int, list[Box]] = {}
    for box in mailbox.boxes(tx, team.stream, after, said[-1].seq):
        boxes.setdefault(box.seq, []).append(box)
    return [(one, tuple((box.name, box.state) for box in boxes.get(one.seq, ()))) for one in said]


def _letter(message: Message, boxes: _Boxes, asked: Mapping[MessageId, Request]) -> Letter:
    request = asked.get(message.id)
    if request is not None:
        return Letter(message, boxes, request)
    answered = None if message.reply_to is None else asked.get(message.reply_to)
    is_answer = answered is not None and message.kind in ANSWERS[answered.kind]
    return Letter(message, boxes, answered if is_answer else None, is_answer=is_answer)


def inbox(picture: Picture, name: str) -> Sequence[tuple[Letter, bool]]:
    """What lies in one mailbox, oldest first, and whether it was read."""
    return [
        (letter, state not in ("queued", "delivered", "parked"))
        for letter in picture.letters
        for box, state in letter.boxes
        if box == name
    ]


def beat(standing: Standing, member: Member) -> datetime | None:
    """The last sign of life of an agent from outside, or of the host that runs it."""
    if member.agent is None or member.part == "service":
        return None
    if member.agent.backend == "external":
        return member.agent.seen_at
    return None if standing.host is None else standing.host.lease_until - hosts.LEASE
