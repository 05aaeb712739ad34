"""The channel: everything that was said, in order, and the way to say something."""

from datetime import datetime
from typing import Annotated

from pydantic import AliasChoices, FailFast, Field, model_validator

from moot.bus import messages
from moot.bus.evidence import Artifact, Evidence, What
from moot.bus.messages import Kind, Message
from moot.core import clock
from moot.core.errors import InvalidInput
from moot.core.ids import MessageId, StreamId
from moot.core.tool import EVERYONE, WRITERS, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.registry import instances
from moot.search import wanted as wants
from moot.search.search import Found, FoundDocument, Place, Where
from moot.tools import acting, conduct, finding, groups, talk
from moot.tools.shapes import Arguments, Entry, Id, Limit, Line, Name, Reference, Result, entry_of, listed
from moot.tools.talk import Words


class ArtifactNamed(Arguments):
    """Something to look at: one of the three."""

    file: Line | None = None
    test: Line | None = None
    command: Line | None = None

    @model_validator(mode="after")
    def _one(self) -> "ArtifactNamed":
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError("An artifact is one file, test or command")
        return self

    @property
    def artifact(self) -> Artifact:
        what: What = "file" if self.file else "test" if self.test else "command"
        return Artifact(what, self.file or self.test or self.command or "")


class Send(Arguments):
    message: Annotated[str, Field(description="What to say. @name wakes that agent, @all everyone.")]
    to: Annotated[tuple[Name, ...], Field(max_length=1000, strict=False), FailFast()] = ()
    kind: Kind = "message"
    reply_to: Annotated[Id | None, Field(description="Id of the message this answers.")] = None
    task_id: Id | None = None
    artifacts: Annotated[
        tuple[ArtifactNamed, ...],
        Field(max_length=50, strict=False, description='What it is about: {"file": …}, {"test": …} or {"command": …}.'),
        FailFast(),
    ] = ()
    workaround: Annotated[Line | None, Field(description="Of a blocker: how work goes on meanwhile.")] = None
    agent_id: Annotated[Id | None, Field(description="Only for operators: an agent you registered.")] = None


class Sent(Result):
    status: str = "sent"
    id: str
    seq: int
    timestamp: str
    recipients: tuple[str, ...]
    unknown: tuple[str, ...]


class Read(Arguments):
    since: Annotated[Reference | None, Field(description="Only what came after this timestamp, id or seq.")] = None
    limit: Annotated[Limit, Field(description="The last N entries.")] = 50
    thread: Annotated[Id | None, Field(description="Only this thread.")] = None


class Peek(Arguments):
    limit: Annotated[Limit, Field(description="The last N entries.")] = 10


class Entries(Result):
    entries: tuple[Entry, ...]


class Search(Arguments):
    query: Annotated[
        str, Field(description='Words that must all occur; "a phrase"; -word must not occur; begin* is a beginning.')
    ]
    where: Annotated[Where, Field(description="What to search.")] = "everything"
    limit: Annotated[Limit, Field(description="At most N, the newest first.")] = 20


class Hit(Result):
    """A message, or a document as it is."""

    timestamp: str
    sender: str = Field(validation_alias=AliasChoices("sender", "from"), serialization_alias="from")
    snippet: str
    id: str | None = None
    seq: int | None = None
    file: str | None = None
    version: int | None = None


class Hits(Result):
    hits: tuple[Hit, ...]


async def send(call: Call, arguments: Send) -> Sent:
    if arguments.kind == "system":
        raise InvalidInput("Only moot itself speaks as system.", "Choose another kind.")
    words = Words(
        body=arguments.message,
        to=arguments.to,
        kind=arguments.kind,
        reply_to=MessageId(arguments.reply_to) if arguments.reply_to else None,
        task_id=arguments.task_id,
        attempt=call.caller.attempt,
        evidence=_evidence(arguments),
    )

    def change(tx: Tx) -> Sent:
        speaker = acting.agent_for(tx, call.caller, arguments.agent_id)
        instance = acting.instance_of(tx, call.caller)
        said = talk.say(tx, instance, speaker, conduct.checked(tx, instance, speaker, words))
        return Sent(
            id=said.message.id,
            seq=said.message.seq,
            timestamp=clock.to_iso(said.message.at),
            recipients=said.recipients,
            unknown=said.unknown,
        )

    return await call.write(change)


def _evidence(arguments: Send) -> Evidence:
    return Evidence(tuple(one.artifact for one in arguments.artifacts), arguments.workaround or "")


async def read(call: Call, arguments: Read) -> Entries:
    since = arguments.since
    moment = moment_of(since) if isinstance(since, str) else None

    def look(tx: ReadTx) -> Entries:
        instance = instances.find(tx, call.caller.instance)
        found = [] if instance is None else _found(tx, instance.stream, arguments, moment)
        return Entries(entries=tuple(entry_of(message) for message in found))

    return await call.read(look)


async def peek(call: Call, arguments: Peek) -> Entries:
    return await read(call, Read(limit=arguments.limit))


async def search(call: Call, arguments: Search) -> Hits:
    wanted = wants.parse(arguments.query)
    instance = await call.read(lambda tx: instances.find(tx, call.caller.instance))
    if instance is None:
        return Hits(hits=())
    place = Place(instance.name, instance.stream)
    found = await finding.find(call, place, wanted, arguments.where, arguments.limit)
    return Hits(hits=tuple(_hit(one) for one in found))


def _hit(one: Found) -> Hit:
    at = clock.to_iso(one.at)
    if isinstance(one, FoundDocument):
        return Hit(timestamp=at, sender=one.author, snippet=one.snippet, file=one.file, version=one.version)
    return Hit(timestamp=at, sender=one.sender, snippet=one.snippet, id=one.id, seq=one.seq)


def _found(tx: ReadTx, stream: StreamId, arguments: Read, moment: datetime | None) -> list[Message]:
    if arguments.thread is not None:
        root = messages.get(tx, MessageId(arguments.thread), stream)
        return messages.of_thread(tx, root.thread, arguments.limit)
    since = arguments.since
    if since is None:
        return messages.latest(tx, stream, arguments.limit)
    if moment is not None:
        return messages.latest_after_time(tx, stream, moment, arguments.limit)
    seq = since if isinstance(since, int) else messages.get(tx, MessageId(since), stream).seq
    return messages.latest_after(tx, stream, seq, arguments.limit)


def moment_of(text: str) -> datetime | None:
    """A timestamp as tools write it, or None if this is an id; InvalidInput if it is neither."""
    if text.startswith("ms_"):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"{text[:80]!r} is neither a timestamp nor a message id.", "Write 2026-01-31T09:30:00Z or an id."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=clock.EPOCH.tzinfo)


def bare_list(result: Entries) -> str:
    return listed(result.entries)


TOOLS = (
    Tool(
        name=groups.SEND,
        group="channel",
        words="Say something in the channel. Mention agents with @name to wake them.",
        effect="store",
        arguments=Send,
        result=Sent,
        function=send,
        text=lambda result: "sent",
        roles=WRITERS,
    ),
    Tool(
        name="channel_read",
        group="channel",
        words="Read the channel, oldest first. Reading acknowledges nothing.",
        effect="none",
        arguments=Read,
        result=Entries,
        function=read,
        text=bare_list,
        roles=EVERYONE,
    ),
    Tool(
        name="channel_peek",
        group="channel",
        words="Look at the last few entries of the channel.",
        effect="none",
        arguments=Peek,
        result=Entries,
        function=peek,
        text=bare_list,
        roles=EVERYONE,
    ),
    Tool(
        name="channel_search",
        group="channel",
        words="Find what was said in the channel and what stands in the documents, by words.",
        effect="none",
        arguments=Search,
        result=Hits,
        function=search,
        text=lambda result: listed(result.hits),
        roles=EVERYONE,
    ),
)
