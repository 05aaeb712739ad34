"""What an agent does through its server, where it cannot reach its store: by the tools, with the same results."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Protocol, cast

from moot.api import targets
from moot.api.access import OnlyServer
from moot.api.documents import Shelf
from moot.api.requests import Waiting
from moot.bus import evidence
from moot.bus.mailbox import Mail
from moot.bus.messages import Message
from moot.core.errors import MootError, NotAllowed
from moot.core.ids import AgentId, InstanceName, MessageId, RequestId, StreamId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tool import ToolAnswer
from moot.documents.documents import Document, Listing, Version, Written
from moot.registry import names
from moot.requests.requests import Request
from moot.tools.talk import Said, Words

_LOOK_AGAIN_SECONDS = 0.5
_NOWHERE = StreamId("")


class Refused(MootError):
    """The server's own refusal; each has the code that the server gave it."""


def _refused(error: Mapping[str, Any]) -> Refused:
    kind = type("Refused", (Refused,), {"code": str(error["code"])})
    return kind(str(error["message"]), str(error.get("remedy", "")))


class _Tools(Protocol):
    async def call(self, name: str, arguments: Mapping[str, Json], *, key: str | None = None) -> ToolAnswer: ...


@record
class Distant:
    """An agent's own part of its instance. Made by `reached`."""

    tools: _Tools
    name: str  # the agent's

    def check(self, instance: str | None, agent: str | None = None) -> None:
        """NotAllowed, if another instance or another agent is meant than the token's."""
        if instance not in (None, targets.home()):
            raise NotAllowed(f"The token in MOOT_TOKEN is for the instance {targets.home()}.", "Stay there.")
        if agent is not None and names.fold(agent) != names.fold(self.name):
            raise NotAllowed(f"{self.name} speaks only for itself.", "Leave the other name away.")

    async def ask(self, tool: str, **arguments: Json) -> dict[str, Any]:
        """What a tool answers; what is None is not asked."""
        given = {name: value for name, value in arguments.items() if value is not None}
        answer = await self.tools.call(tool, given)
        if answer.is_error:
            raise _refused(cast(Mapping[str, Any], answer.structured["error"]))
        return dict(answer.structured)

    async def send(self, words: Words) -> Said:
        reply_to = words.reply_to
        found = await self.ask(
            "channel_send",
            message=words.body,
            to=words.to,
            kind=words.kind,
            reply_to=reply_to,
            artifacts=[{one.what: one.name} for one in words.evidence.artifacts] or None,
            workaround=words.evidence.workaround or None,
        )
        body = evidence.told(words.body, words.evidence)
        known = {"from": self.name, "kind": words.kind, "message": body, "mentions": found["recipients"]}
        message = message_of({**found, **known, "priority": "normal", "thread": found["id"], "reply_to": reply_to})
        return Said(message, tuple(found["recipients"]), tuple(found["unknown"]))

    async def first_reply(self, sent: Message, seconds: float) -> Message | None:
        """In the same thread, or to the sender by name; None if there is none in time."""
        until = time.monotonic() + seconds
        while True:
            for entry in (await self.ask("channel_read", since=sent.seq, limit=1000))["entries"]:
                message = message_of(entry)
                is_answer = sent.thread in (message.thread, message.reply_to) or sent.sender in message.mentions
                if is_answer and message.sender != sent.sender:
                    return message
            if time.monotonic() >= until:
                return None
            await asyncio.sleep(min(_LOOK_AGAIN_SECONDS, max(until - time.monotonic(), 0)))

    async def latest(self, limit: int) -> list[Message]:
        return [message_of(entry) for entry in (await self.ask("channel_read", limit=min(limit, 1000)))["entries"]]

    async def inbox(self, limit: int) -> list[Waiting]:
        """Unread mail; it counts as handed out from now on."""
        found = await self.ask("inbox_check", limit=min(limit, 1000))
        asked = await self._asked()
        return [Waiting(mail_of(one["entry"]), asked.get(one["entry"]["id"])) for one in found["messages"]]

    async def _asked(self) -> dict[str, Request]:
        """Open requests by the messages that they were asked by; none to an agent that does not hold that tool."""
        try:
            cards = (await self.ask("request_list"))["requests"]
        except Refused as error:
            if error.code != NotAllowed.code:
                raise
            return {}
        return {card["message_id"]: request_of(card) for card in cards if "message_id" in card}

    async def acknowledge(self, mail: Sequence[Mail]) -> None:
        """These messages, which are the oldest of all."""
        if mail:
            await self.ask("inbox_ack", until=mail[-1].id)

    async def shelf(self) -> Shelf:
        found = (await self.ask("document_list"))["documents"]
        entry = next((one["file"] for one in found if one["entry_point"]), "")
        return Shelf(entry, None, [Listing(one["file"], one["version"], "", *_facts(one)) for one in found])

    async def read(self, file: str | None, version: int | None) -> Document:
        found = await self.ask("document_read", file=file, version=version)
        at = found.get("timestamp")
        return Document(
            found["file"], found["version"], found["content"], found.get("author", ""), _moment(at) if at else None
        )

    async def history(self, file: str | None, limit: int) -> list[Version]:
        found = (await self.ask("document_history", file=file, limit=min(limit, 1000)))["versions"]
        return [Version(one["version"], one["action"], None, *_facts(one)) for one in found]

    async def write(self, file: str, content: str, if_version: int | None, *, is_appended: bool) -> Written:
        tool = "document_append" if is_appended else "document_write"
        return _written(await self.ask(tool, file=file, content=content, if_version=if_version))

    async def delete(self, file: str) -> Written:
        return _written(await self.ask("document_delete", file=file))


@asynccontextmanager
async def reached(where: OnlyServer) -> AsyncGenerator[Distant]:
    """Connect; nobody reads new mail in the answers that a command gets."""
    from moot.client.toolbox import toolbox  # noqa: PLC0415  # heavy, and most commands are at their store

    async with toolbox(where.url, where.token, hears_mail=False) as tools:
        yield Distant(tools, os.environ.get("MOOT_AGENT", "").partition("@")[0])


def message_of(entry: Mapping[str, Any]) -> Message:
    return Message(*_message(entry))


def mail_of(entry: Mapping[str, Any]) -> Mail:
    return Mail(*_message(entry), state="delivered")


def _message(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    """The fields of a message in their order."""
    return (
        _NOWHERE,
        entry["seq"],
        MessageId(entry["id"]),
        entry["from"],
        entry["kind"],
        entry["message"],
        tuple(entry["mentions"]),
        entry["priority"],
        MessageId(entry["thread"]),
        entry.get("reply_to"),
        entry.get("task_id"),
        None,
        _moment(entry["timestamp"]),
        0,
    )


def request_of(card: Mapping[str, Any]) -> Request:
    return Request(
        id=RequestId(card["id"]),
        stream=_NOWHERE,
        instance=InstanceName(""),
        kind=card["type"],
        requester=card["from"],
        requester_id=None,
        addressee=card["to"],
        addressee_id=AgentId(""),
        is_for_person=False,
        title=card["title"],
        body=card["body"],
        options=tuple(card["options"]),
        hash=card["hash"],
        mode=card.get("mode"),
        state=card["state"],
        answer=card["answer"],
        answered_by=card.get("answered_by"),
        message=card.get("message_id"),
        created_at=_moment(card["created_at"]),
        expires_at=_moment(card["expires_at"]) if "expires_at" in card else None,
        answered_at=_moment(card["answered_at"]) if "answered_at" in card else None,
        used_at=None,
    )


def _facts(one: Mapping[str, Any]) -> tuple[int, str, datetime]:
    return one["size"], one["author"], _moment(one["timestamp"])


def _written(found: Mapping[str, Any]) -> Written:
    return Written(found["file"], found["version"], found["status"], found["changed"])


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
