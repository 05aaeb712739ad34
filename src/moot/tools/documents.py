"""The documents that a team keeps together: reading, writing under the rules of their owner, and suggesting."""

from typing import Annotated

from pydantic import AfterValidator, Field

from moot.core import clock, json
from moot.core.errors import InvalidInput
from moot.core.tool import EVERYONE, WRITERS, Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.documents import documents, ownership, paths
from moot.documents.documents import Document, Listing, Version, Written
from moot.tools import acting, talk
from moot.tools.authors import author_of
from moot.tools.shapes import MOST_SEQ, Arguments, Limit, Result, listed
from moot.tools.talk import Words

SYSTEM = "system"
READ = "document_read"


def _path_or_none(value: str | None) -> str | None:
    try:
        return None if value is None else paths.check(value)
    except InvalidInput as error:
        raise ValueError(error.fact.rstrip(".")) from error


ENTRY = "Path of the document; left out: the entry point."
File = Annotated[str, Field(max_length=paths.MOST_BYTES)]
IfVersion = Annotated[
    int | None,
    Field(ge=0, le=MOST_SEQ, description="Only if this is its version now; 0: only if it is not there."),
]


class Read(Arguments):
    file: Annotated[File | None, Field(description=ENTRY)] = None
    version: Annotated[int | None, Field(ge=1, le=MOST_SEQ, description="An old version.")] = None


class Write(Arguments):
    content: Annotated[str, Field(description="The new text; it replaces what is there.")]
    file: Annotated[File | None, Field(description=ENTRY)] = None
    if_version: IfVersion = None


class Append(Arguments):
    content: Annotated[str, Field(description="Text to put behind what is there.")]
    file: Annotated[File | None, Field(description=ENTRY)] = None
    if_version: IfVersion = None


class Create(Arguments):
    file: Annotated[File, Field(description="Path of the new document, like findings/login.md.")]
    content: Annotated[str, Field(description="Its first text.")] = ""


class Delete(Arguments):
    file: Annotated[File, Field(description="Path of the document.")]
    if_version: IfVersion = None


class List(Arguments):
    pass


class Suggest(Arguments):
    suggestion: Annotated[str, Field(min_length=1, description="What change to make.")]
    file: Annotated[File | None, AfterValidator(_path_or_none), Field(description=ENTRY)] = None
    reason: Annotated[str | None, Field(description="Why it is needed.")] = None


class History(Arguments):
    file: Annotated[File | None, Field(description=ENTRY)] = None
    limit: Annotated[Limit, Field(description="The last N versions.")] = 50


class Text(Result):
    file: str
    version: int
    content: str
    author: str | None = None
    timestamp: str | None = None


class Changed(Result):
    status: str
    file: str
    version: int
    changed: bool


class Listed(Result):
    file: str
    version: int
    size: int
    author: str
    timestamp: str
    entry_point: bool


class Documents(Result):
    documents: tuple[Listed, ...]


class Suggested(Result):
    status: str = "sent"
    to: str
    id: str
    seq: int


class Past(Result):
    version: int
    action: str
    size: int
    author: str
    timestamp: str


class Versions(Result):
    file: str
    versions: tuple[Past, ...]


async def read(call: Call, arguments: Read) -> Text:
    found = await call.read(lambda tx: documents.read(tx, call.caller.instance, arguments.file, arguments.version))
    return text_of(found)


async def write(call: Call, arguments: Write) -> Changed:
    def change(tx: Tx) -> Written:
        instance = acting.instance_of(tx, call.caller).name
        author = author_of(tx, call.caller)
        return documents.write(tx, instance, arguments.file, arguments.content, author, arguments.if_version)

    return await call.write(lambda tx: changed_of(change(tx)))


async def append(call: Call, arguments: Append) -> Changed:
    def change(tx: Tx) -> Written:
        instance = acting.instance_of(tx, call.caller).name
        author = author_of(tx, call.caller)
        return documents.append(tx, instance, arguments.file, arguments.content, author, arguments.if_version)

    return await call.write(lambda tx: changed_of(change(tx)))


async def create(call: Call, arguments: Create) -> Changed:
    def change(tx: Tx) -> Written:
        instance = acting.instance_of(tx, call.caller).name
        return documents.create(tx, instance, arguments.file, arguments.content, author_of(tx, call.caller))

    return await call.write(lambda tx: changed_of(change(tx)))


async def delete(call: Call, arguments: Delete) -> Changed:
    def change(tx: Tx) -> Written:
        instance = acting.instance_of(tx, call.caller).name
        return documents.delete(tx, instance, arguments.file, author_of(tx, call.caller), arguments.if_version)

    return await call.write(lambda tx: changed_of(change(tx)))


async def list_all(call: Call, arguments: List) -> Documents:
    def look(tx: ReadTx) -> Documents:
        entry = paths.fold(documents.entry_point(tx, call.caller.instance))
        found = documents.all_of(tx, call.caller.instance)
        return Documents(documents=tuple(_listed(one, entry) for one in found))

    return await call.read(look)


async def suggest(call: Call, arguments: Suggest) -> Suggested:
    """Said in the channel as any message, by the one who suggests; the owner is woken by its name."""
    owner = (await call.read(lambda tx: ownership.ownership(tx, call.caller.instance))).owner or SYSTEM
    place = f" in {arguments.file}" if arguments.file else ""
    reason = f"\nReason: {arguments.reason}" if arguments.reason else ""
    words = Words(
        f"@{owner} [DOC_SUGGEST]{place}\n{arguments.suggestion}{reason}", to=(owner,), attempt=call.caller.attempt
    )

    def change(tx: Tx) -> Suggested:
        speaker = acting.agent_for(tx, call.caller, None)
        said = talk.say(tx, acting.instance_of(tx, call.caller), speaker, words)
        return Suggested(to=owner, id=said.message.id, seq=said.message.seq)

    return await call.write(change)


async def history(call: Call, arguments: History) -> Versions:
    def look(tx: ReadTx) -> Versions:
        instance = call.caller.instance
        file = arguments.file or documents.entry_point(tx, instance)
        found = documents.history(tx, instance, arguments.file, arguments.limit)
        return Versions(file=paths.check(file), versions=tuple(_past(one) for one in found))

    return await call.read(look)


def text_of(document: Document) -> Text:
    return Text(
        file=document.file,
        version=document.version,
        content=document.content,
        author=document.author or None,
        timestamp=clock.to_iso(document.at) if document.at else None,
    )


def changed_of(written: Written) -> Changed:
    return Changed(status=written.action, file=written.file, version=written.version, changed=written.is_new)


def _listed(entry: Listing, entry_point: str) -> Listed:
    return Listed(
        file=entry.file,
        version=entry.version,
        size=entry.size,
        author=entry.author,
        timestamp=clock.to_iso(entry.at),
        entry_point=paths.fold(entry.file) == entry_point,
    )


def _past(one: Version) -> Past:
    return Past(
        version=one.version, action=one.action, size=one.size, author=one.author, timestamp=clock.to_iso(one.at)
    )


TOOLS = (
    Tool(
        name=READ,
        group="documents",
        words="Read a document: the entry point, or the file you name.",
        effect="none",
        arguments=Read,
        result=Text,
        function=read,
        text=lambda result: result.content,
        roles=EVERYONE,
    ),
    Tool(
        name="document_write",
        group="documents",
        words="Replace the text of a document. Give if_version so that nobody's change is overwritten unseen.",
        effect="store",
        arguments=Write,
        result=Changed,
        function=write,
        text=lambda result: "written",
        roles=WRITERS,
    ),
    Tool(
        name="document_append",
        group="documents",
        words="Put text at the end of a document.",
        effect="store",
        arguments=Append,
        result=Changed,
        function=append,
        text=lambda result: "appended",
        roles=WRITERS,
    ),
    Tool(
        name="document_list",
        group="documents",
        words="List the documents.",
        effect="none",
        arguments=List,
        result=Documents,
        function=list_all,
        text=lambda result: json.dumps([one.file for one in result.documents]),
        roles=EVERYONE,
    ),
    Tool(
        name="document_create",
        group="documents",
        words="Make a new document.",
        effect="store",
        arguments=Create,
        result=Changed,
        function=create,
        text=lambda result: "created",
        roles=WRITERS,
    ),
    Tool(
        name="document_delete",
        group="documents",
        words="Delete a document. Its old versions stay readable.",
        effect="store",
        arguments=Delete,
        result=Changed,
        function=delete,
        text=lambda result: "deleted",
        roles=WRITERS,
    ),
    Tool(
        name="document_suggest",
        group="documents",
        words="Suggest a change to the owner of the documents, in the channel.",
        effect="store",
        arguments=Suggest,
        result=Suggested,
        function=suggest,
        text=lambda result: f"Suggestion sent to @{result.to}",
        roles=WRITERS,
    ),
    Tool(
        name="document_history",
        group="documents",
        words="See who changed a document and when, oldest first.",
        effect="none",
        arguments=History,
        result=Versions,
        function=history,
        text=lambda result: listed(result.versions),
        roles=EVERYONE,
    ),
)
