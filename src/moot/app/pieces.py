"""Pieces of ours in files of a project: a part of a text, an entry among others in JSON, a file of its own. Each can be
taken out again, and leaves alone what is not its own. Nothing is ever written over."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from moot.core import json
from moot.core.errors import InvalidInput, MootError
from moot.core.json import Json
from moot.core.records import record

SERVER: Mapping[str, Json] = {"command": "moot", "args": ["mcp"]}


class FileRefused(MootError):
    """A file of the project that cannot be changed without harm."""

    code = "FILE_REFUSED"
    exit_code = 2


class Piece(Protocol):
    """Something of ours in a file of the project."""

    @property
    def path(self) -> str: ...

    @property
    def words(self) -> str:
        """What it is, for the person who is asked."""
        ...

    def put(self, text: str | None) -> str | None:
        """The file with it; None if it is there. FileRefused if something else stands in its place."""
        ...

    def take(self, text: str) -> str | None:
        """The file without it; the same if it is not there, None if nothing else is left."""
        ...


@record
class Section:
    """A part of a text between two marks."""

    path: str
    words: str
    content: str
    comment: tuple[str, str]

    @property
    def _marks(self) -> tuple[str, str]:
        before, after = self.comment
        return f"{before}moot: begin{after}", f"{before}moot: end{after}"

    def put(self, text: str | None) -> str | None:
        begin, end = self._marks
        if text is not None and begin in text:
            return None
        own = f"{begin}\n{self.content.rstrip()}\n{end}\n"
        return own if not text else f"{text.rstrip()}\n\n{own}"

    def take(self, text: str) -> str | None:
        begin, end = self._marks
        before, found, rest = text.partition(f"{begin}\n")
        _, closed, after = rest.partition(f"{end}\n")
        if not found or not closed:
            return text
        left = f"{before.rstrip()}\n\n{after.lstrip()}" if before.strip() and after.strip() else before.rstrip() + after
        return f"{left.strip()}\n" if left.strip() else None


@record
class Entry:
    """The server `moot` among the MCP servers of a JSON file."""

    path: str
    words: str

    def put(self, text: str | None) -> str | None:
        found = self._read(text or "{}")
        servers = self._servers(found)
        if servers.get("moot") == SERVER:
            return None
        if "moot" in servers:
            raise FileRefused(f"{self.path} has another server named moot.", "Rename or remove it, then try again.")
        return _written({**found, "mcpServers": {**servers, "moot": dict(SERVER)}})

    def take(self, text: str) -> str | None:
        found = self._read(text)
        servers = self._servers(found)
        if servers.get("moot") != SERVER:
            return text
        others = {name: one for name, one in servers.items() if name != "moot"}
        kept: dict[str, Json] = {**found, "mcpServers": others}
        left = {name: one for name, one in kept.items() if name != "mcpServers" or others}
        return _written(left) if left else None

    def _read(self, text: str) -> dict[str, Json]:
        return _plain_json(text, self.path, f"Add this to its mcpServers yourself: {json.dumps({'moot': SERVER})}")

    def _servers(self, found: Mapping[str, Json]) -> Mapping[str, Json]:
        servers = found.get("mcpServers", {})
        if not isinstance(servers, Mapping):
            raise FileRefused(f"The mcpServers of {self.path} is no object.", "Mend it, then try again.")
        return cast(Mapping[str, Json], servers)


@record
class Hooks:
    """A command that a program runs at some moments, among the hooks of its settings."""

    path: str
    words: str
    command: str
    moments: tuple[str, ...]

    @property
    def _own(self) -> Json:
        return {"hooks": [{"type": "command", "command": self.command}]}

    def put(self, text: str | None) -> str | None:
        found = self._read(text or "{}")
        hooks = self._hooks(found)
        missing = [one for one in self.moments if self._own not in _list(hooks.get(one))]
        if not missing:
            return None
        return _written({**found, "hooks": {**hooks, **{one: [*_list(hooks.get(one)), self._own] for one in missing}}})

    def take(self, text: str) -> str | None:
        found = self._read(text)
        hooks = self._hooks(found)
        if not any(self._own in _list(hooks.get(one)) for one in self.moments):
            return text
        others = {name: [one for one in _list(listed) if one != self._own] for name, listed in hooks.items()}
        kept = {name: listed for name, listed in others.items() if listed or name not in self.moments}
        left = {name: one for name, one in {**found, "hooks": kept}.items() if name != "hooks" or kept}
        return _written(left) if left else None

    def _read(self, text: str) -> dict[str, Json]:
        return _plain_json(text, self.path, f"Add a hook that runs `{self.command}` yourself, or say --no-hooks.")

    def _hooks(self, found: Mapping[str, Json]) -> Mapping[str, Json]:
        hooks = found.get("hooks", {})
        if not isinstance(hooks, Mapping) or not all(isinstance(one, list) for one in hooks.values()):
            raise FileRefused(f"The hooks of {self.path} are no lists by moment.", "Mend them, or say --no-hooks.")
        return cast(Mapping[str, Json], hooks)


@record
class Whole:
    """A file of our own, as long as nobody has changed it."""

    path: str
    words: str
    content: str
    others: tuple[str, ...] = ()  # what it may have been written as

    def put(self, text: str | None) -> str | None:
        return self.content if text is None else None

    def take(self, text: str) -> str | None:
        return None if text in (self.content, *self.others) else text


def _plain_json(text: str, path: str, remedy: str) -> dict[str, Json]:
    try:
        return json.load_object(text)
    except InvalidInput as error:
        raise FileRefused(f"{path} is no plain JSON.", remedy) from error


def _written(found: Mapping[str, Json]) -> str:
    return f"{json.pretty(found)}\n"


def _list(value: Json) -> Sequence[Json]:
    return cast(Sequence[Any], value or [])
