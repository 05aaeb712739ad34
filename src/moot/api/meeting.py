"""`moot.connect()`: a Python program as one who takes part. Everything here is what the commands do, by the same
functions; an agent's program is held to the tools that the agent holds."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Unpack

from moot.api import access, documents, outcomes, people, plans, requests, tasks
from moot.api.connection import Connection, Member
from moot.api.outcomes import Options, Outcome
from moot.api.plans import Drawn
from moot.board.tasks import Task
from moot.bus.mailbox import Mail
from moot.bus.messages import Message
from moot.core.ids import MessageId, RequestId
from moot.core.json import Json
from moot.core.records import record
from moot.documents.documents import Document, Listing, Version, Written
from moot.requests.requests import Request
from moot.tools import groups
from moot.tools.groups import Acting, Looking
from moot.tools.talk import Said, Words


@record
class Tasks:
    """The tasks of a plan, each named by its id, or by its name in the plan that is open."""

    connection: Connection

    async def all(self, plan: str | None = None, *, status: Sequence[str] = (), limit: int = 100) -> list[Drawn]:
        _check(self.connection, "workflow_list")
        return await plans.page(self.connection, await plans.find(self.connection, plan), status, limit)

    async def get(self, task: str, plan: str | None = None) -> Task:
        _check(self.connection, "task_get")
        return await plans.find_task(self.connection, task, plan)

    async def claim(self, task: str, plan: str | None = None) -> Task:
        """Take it for yourself; TaskRefused, if somebody else has it or it is not ready."""
        _check(self.connection, "task_claim")
        await tasks.claim(self.connection, await self.get(task, plan))
        return await self.get(task, plan)

    async def release(self, task: str, reason: str = "", plan: str | None = None) -> Task:
        return await self._do(tasks.releasing(reason), task, plan)

    async def done(self, task: str, outcome: str, plan: str | None = None) -> Task:
        """It is claimed first, if nobody holds it."""
        return await self._do(tasks.completing(outcome), task, plan)

    async def fail(self, task: str, error: str, plan: str | None = None) -> Task:
        return await self._do(tasks.failing(error), task, plan)

    async def skip(self, task: str, reason: str = "", plan: str | None = None) -> Task:
        """What needs it does not wait for it."""
        return await self._do(tasks.skipping(reason), task, plan)

    async def retry(self, task: str, plan: str | None = None) -> Task:
        return await self._do(tasks.retrying(), task, plan)

    async def _do(self, deed: tasks.Deed, task: str, plan: str | None) -> Task:
        _check(self.connection, deed.tool)
        found, _ = await tasks.do(self.connection, deed, task, plan)
        return await plans.find_task(self.connection, found.id, plan)


@record
class Documents:
    """The documents of an instance; where no file is named, its entry point (`notes.md`)."""

    connection: Connection

    async def all(self) -> list[Listing]:
        _check(self.connection, "document_list")
        return (await documents.shelf(self.connection)).documents

    async def read(self, file: str | None = None, *, version: int | None = None) -> Document:
        _check(self.connection, "document_read")
        return await documents.read(self.connection, file, version)

    async def write(self, content: str, file: str | None = None, *, if_version: int | None = None) -> Written:
        """With `if_version` it is refused where somebody has changed it since."""
        _check(self.connection, "document_write")
        return await documents.write(self.connection, file, content, if_version)

    async def append(self, content: str, file: str | None = None) -> Written:
        _check(self.connection, "document_append")
        return await documents.append(self.connection, file, content)

    async def delete(self, file: str) -> Written:
        _check(self.connection, "document_delete")
        return await documents.delete(self.connection, file)

    async def history(self, file: str | None = None, *, limit: int = 50) -> list[Version]:
        _check(self.connection, "document_history")
        return await documents.history(self.connection, file, limit)


@record
class Meeting:
    """One instance of a project, as somebody in Python takes part in it. Made by `connect`."""

    connection: Connection
    store_url: str | None = None

    @property
    def tasks(self) -> Tasks:
        return Tasks(self.connection)

    @property
    def documents(self) -> Documents:
        return Documents(self.connection)

    async def send(self, message: str, *, to: Sequence[str] = (), reply_to: Message | None = None) -> Said:
        """Say something; `@name` in it, or `to`, wakes those agents. Tells whom it reached."""
        _check(self.connection, "channel_send")
        answered = None if reply_to is None else MessageId(reply_to.id)
        return await self.connection.send(Words(message, to=tuple(to), reply_to=answered), is_guessed=False)

    async def messages(self, limit: int = 100) -> list[Message]:
        """The last ones, oldest first."""
        _check(self.connection, "channel_read")
        return await self.connection.latest(limit)

    async def follow(self, after: Message | None = None) -> AsyncIterator[Message]:
        """Messages as they come, for ever: from behind that one, or from now on."""
        _check(self.connection, "channel_read")
        seen = after.seq if after is not None else await self.connection.end()
        async for message in self.connection.follow(seen):
            yield message

    def replies(self, message: Message) -> AsyncIterator[Message]:
        """What others answer to a message of yours, for ever."""
        _check(self.connection, "channel_read")
        return self.connection.replies(message)

    async def inbox(self, *, limit: int = 100) -> list[Mail]:
        """What waits for you, oldest first; looking changes nothing."""
        _check(self.connection, "inbox_check")
        return await self.connection.inbox(limit=limit)

    async def acknowledge(self, mail: Sequence[Mail]) -> int:
        _check(self.connection, "inbox_check")
        return await self.connection.acknowledge(mail)

    async def agents(self) -> list[Member]:
        _check(self.connection, "agent_list")
        return await self.connection.members(self.connection.caller.instance)

    async def requests(self) -> list[Request]:
        """Those that wait for your answer."""
        _check(self.connection, "request_list")
        return await requests.answerable(self.connection)

    async def approve(self, request: Request, text: str = "") -> Request:
        _check(self.connection, "request_respond")
        return await requests.answer(self.connection, RequestId(request.id), "approved", text)

    async def deny(self, request: Request, text: str = "") -> Request:
        _check(self.connection, "request_respond")
        return await requests.answer(self.connection, RequestId(request.id), "denied", text)

    async def call(self, tool: str, **arguments: Json) -> dict[str, Any]:
        """Any tool that agents have, by its name and its arguments; what it answers is data."""
        return dict(await tasks.act(self.connection, tool, **arguments))

    async def run(self, workflow: str | Path, **options: Unpack[Options]) -> Outcome:
        """Run a workflow here, to its end: as `moot.run`, in the store, project and instance of this connection unless
        the options say otherwise. Messages of it can be followed meanwhile."""
        return await outcomes.run_it(workflow, **self._here(options))

    async def resume(self, **options: Unpack[Options]) -> Outcome:
        return await outcomes.resume_it(**self._here(options))

    def _here(self, options: Options) -> Options:
        own: Options = {"folder": self.connection.project.root, "instance": self.connection.caller.instance}
        if self.store_url is not None:
            own["store"] = self.store_url
        return {**own, **options}


@asynccontextmanager
async def connect(
    folder: str | Path | None = None,
    *,
    instance: str | None = None,
    person: str | None = None,
    store: str | None = None,
    create: bool = True,
) -> AsyncGenerator[Meeting]:
    """Take part in an instance of the project around a folder, or around the current one: as its person, as another
    person of it, or as the agent whose token is in MOOT_TOKEN. With `create` its store is made if there is none."""
    start = None if folder is None else Path(folder)
    async with access.access(
        "channel_read", store=store, instance=instance, create=create, waits=True, start=start
    ) as opened:
        connection = Connection(opened.store, opened.project, opened.caller)
        yield Meeting(await people.acting_as(connection, person), store)


def _check(connection: Connection, tool: Looking | Acting) -> None:
    if connection.caller.agent is not None:
        groups.check(connection.caller, tool)
