"""Resources: the channel and the documents, each for those who may use the tool that reads it."""

from urllib.parse import quote, unquote

import mcp_types as types

from moot.bus import messages
from moot.core.caller import Caller
from moot.core.errors import InvalidInput, MootError
from moot.core.tx import ReadTx
from moot.documents import documents, paths
from moot.mcp import transcript
from moot.mcp.notices import CHANNEL, Wants
from moot.registry import instances
from moot.tools import table

DOCUMENTS = "moot://documents/"
SHOWN = 200
MARKDOWN = "text/markdown"
MOST_SUBSCRIPTIONS = 1000
_READERS = {"channel": "channel_read", "document": "document_read"}


def listed(tx: ReadTx, caller: Caller) -> list[types.Resource]:
    """What this caller can read."""
    found: list[types.Resource] = []
    if _may_read(caller, "channel"):
        words = f"The last {SHOWN} messages of the channel."
        found.append(types.Resource(uri=CHANNEL, name="channel", description=words, mime_type=MARKDOWN))
    if _may_read(caller, "document"):
        found += [
            types.Resource(
                uri=uri_of(one.file),
                name=one.file,
                description=f"Version {one.version} by {one.author}.",
                mime_type=_kind(one.file),
            )
            for one in documents.all_of(tx, caller.instance)
        ]
    return found


def read(tx: ReadTx, caller: Caller, uri: str) -> types.TextResourceContents | None:
    """The text; None if there is no such resource for this caller."""
    if not is_for(caller, uri):
        return None
    file = file_of(uri)
    if file is None:
        instance = instances.find(tx, caller.instance)
        text = transcript.page(messages.latest(tx, instance.stream, SHOWN) if instance else [])
        return types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)
    try:
        found = documents.read(tx, caller.instance, file)
    except MootError:
        return None
    return types.TextResourceContents(uri=uri, mime_type=_kind(found.file), text=found.content)


def is_for(caller: Caller, uri: str) -> bool:
    """Whether this caller may read it, if it is there."""
    if uri == CHANNEL:
        return _may_read(caller, "channel")
    return file_of(uri) is not None and _may_read(caller, "document")


def subscribe(wants: Wants, uri: str) -> None:
    """Have changes of it told; those who want very much are told of the newest only."""
    file = file_of(uri)
    if file is None:
        wants.channel = True
        return
    wants.documents[paths.fold(file)] = uri
    if len(wants.documents) > MOST_SUBSCRIPTIONS:
        wants.documents.pop(next(iter(wants.documents)))


def unsubscribe(wants: Wants, uri: str) -> None:
    file = file_of(uri)
    if file is None:
        wants.channel = False
    else:
        wants.documents.pop(paths.fold(file), None)


def uri_of(file: str) -> str:
    return DOCUMENTS + quote(file)


def file_of(uri: str) -> str | None:
    """The document that is meant, if it is one."""
    if not uri.startswith(DOCUMENTS):
        return None
    try:
        return paths.check(unquote(uri.removeprefix(DOCUMENTS), errors="strict"))
    except (InvalidInput, UnicodeDecodeError):
        return None


def _may_read(caller: Caller, what: str) -> bool:
    return table.is_offered(table.TOOLS[_READERS[what]], caller)


def _kind(file: str) -> str:
    return MARKDOWN if paths.fold(file).endswith(".md") else "text/plain"
