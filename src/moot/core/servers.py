"""MCP servers of others, as people declare them: a program to be started, or an address. Nothing here reaches one."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from typing import cast
from urllib.parse import urlsplit

from moot.core import durations
from moot.core.errors import InvalidInput
from moot.core.nearest import hint
from moot.core.records import record

PREFIX = "mcp:"  # of a tool's name among an agent's tools: mcp:server, mcp:server/tool
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_KEYS = ("type", "command", "args", "env", "cwd", "url", "headers", "allow", "ask", "deny")
_TIMES = ("startup_timeout", "timeout")
_OWN = "MOOT_"  # what moot tells its own programs is for nobody else
_HTTP = ("http", "streamable-http", "streamable_http")


class ServerMisdeclared(InvalidInput):
    code = "SERVER_MISDECLARED"


@record
class Server:
    """Values are as they were written: `${VAR}` in them is filled in when the server is started."""

    name: str
    command: tuple[str, ...] = ()  # the program and its arguments; empty for one at an address
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    allow: tuple[str, ...] | None = None  # patterns of tools; None: all
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()  # of those for which a person is asked each time
    startup_timeout: float = 30.0  # seconds
    timeout: float = 120.0  # of one call
    is_optional: bool = False  # without it the session is held all the same
    variables: Mapping[str, str | None] | None = None  # it may use, with what stands in; None: all of the environment
    source: str = field(default="", compare=False)  # the file that declares it

    @property
    def spelling(self) -> str:
        """The program with its arguments, or the address."""
        return shlex.join(self.command) if self.command else self.url or ""

    def texts(self) -> tuple[str, ...]:
        """Those in which `${VAR}` is filled in."""
        return (*self.env.values(), *self.headers.values())

    def seen(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        """Of the environment, what it may use."""
        if self.variables is None:
            return environ
        found = {name: environ.get(name, stand_in) for name, stand_in in self.variables.items()}
        return {name: value for name, value in found.items() if value is not None}

    def offers(self, tool: str) -> bool:
        is_allowed = self.allow is None or _fits(tool, self.allow) or self.asks(tool)
        return is_allowed and not _fits(tool, self.deny)

    def asks(self, tool: str) -> bool:
        """Whether it may only be used with leave, be it in `allow` as well."""
        return _fits(tool, self.ask)


def _fits(tool: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(tool, one) for one in patterns)


def declared(servers: object) -> dict[str, Server]:
    """All of a mapping from names to what `server` reads."""
    if not isinstance(servers, Mapping):
        raise ServerMisdeclared("MCP servers are declared by their names.", "Write name: {command: …}.")
    found: dict[str, Server] = {}
    for name, said in cast(Mapping[object, object], servers).items():
        one = server(str(name), said)
        clash = next((other for other in found if other.replace("_", "-") == one.name.replace("_", "-")), None)
        if clash is not None:
            raise ServerMisdeclared(f"The servers {clash!r} and {one.name!r} cannot be told apart.", "Rename one.")
        found[one.name] = one
    return found


def server(name: str, said: object) -> Server:
    """From `{command: …}` or `{url: …}`; ServerMisdeclared says what is wrong."""
    if _NAME.fullmatch(name) is None:
        raise ServerMisdeclared(f"{name[:80]!r} cannot name a server.", "Use at most 32 letters, digits, - and _.")
    if not isinstance(said, Mapping):
        raise _wrong(name, "it is no mapping", "Write command: or url:.")
    given = {_snake(str(key)): value for key, value in cast(Mapping[object, object], said).items()}
    known = (*_KEYS, *_TIMES, "optional")
    for key in given:
        if key not in known:
            raise _wrong(name, f"it has no setting {key[:80]!r}", hint(key, known))
    command, url = _command(name, given), given.get("url")
    if bool(command) == (url is not None):
        raise _wrong(name, "it needs either a command or a url", "Write one of them.")
    _check_kind(name, given.get("type"), is_program=bool(command))
    for key in ("headers",) if command else ("env", "cwd", "args"):
        if key in given:
            raise _wrong(name, f"{key} does not go with {'a command' if command else 'a url'}", "Leave it out.")
    return Server(
        name,
        command,
        _env(name, given.get("env", {})),
        _text(name, "cwd", given["cwd"]) if given.get("cwd") is not None else None,
        _url(name, url) if url is not None else None,
        _headers(name, given.get("headers", {})),
        _list(name, "allow", given["allow"]) if given.get("allow") is not None else None,
        _list(name, "deny", given.get("deny") or ()),
        _list(name, "ask", given.get("ask") or ()),
        _seconds(name, "startup_timeout", given.get("startup_timeout", 30.0)),
        _seconds(name, "timeout", given.get("timeout", 120.0)),
        is_optional=_yes(name, given.get("optional", False)),
    )


def filled(text: str, environ: Mapping[str, str]) -> str:
    """With the values of the variables that are named in it."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith(_OWN) or name not in environ:
            raise ServerMisdeclared(f"There is no variable {name} in the environment.", "Set it, or leave it out.")
        return environ[name]

    return _VARIABLE.sub(value, text)


def variables(text: str) -> list[str]:
    """Those that are named in it, in order."""
    return _VARIABLE.findall(text)


def without_variables(text: str) -> str:
    return _VARIABLE.sub("", text)


def chosen(tools: Iterable[str]) -> dict[str, frozenset[str] | None]:
    """Which servers are named by `mcp:server` or `mcp:server/tool`, and which tools of each; None for all."""
    found: dict[str, frozenset[str] | None] = {}
    for one in tools:
        if not one.startswith(PREFIX):
            continue
        name, slash, tool = one.removeprefix(PREFIX).partition("/")
        before = found.get(name, frozenset[str]())
        found[name] = None if not slash or before is None else before | {tool}
    return found


def _command(name: str, given: Mapping[str, object]) -> tuple[str, ...]:
    command = given.get("command")
    if command is None:
        return ()
    first = (command,) if isinstance(command, str) else _list(name, "command", command)
    if not first or not first[0]:
        raise _wrong(name, "its command is empty", "Name a program.")
    return (*first, *_list(name, "args", given.get("args") or ()))


def _check_kind(name: str, kind: object, *, is_program: bool) -> None:
    known = ("stdio",) if is_program else _HTTP
    if kind is not None and kind not in known:
        raise _wrong(name, f"type {str(kind)[:40]!r} does not go with it", f"Write {known[0]}, or leave it out.")


def _env(name: str, said: object) -> dict[str, str]:
    """By names, which pass a variable on as it is, or by names with values."""
    if isinstance(said, Sequence) and not isinstance(said, str):
        return {one: f"${{{one}}}" for one in _list(name, "env", cast(object, said))}
    return _texts(name, "env", said)


def _url(name: str, said: object) -> str:
    url = _text(name, "url", said)
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise _wrong(name, "its url is none", "Write http://… or https://….")
    return url


def _headers(name: str, said: object) -> dict[str, str]:
    found = _texts(name, "headers", said)
    if any(not one.isprintable() for pair in found.items() for one in pair):
        raise _wrong(name, "a header is not a text of one line", "Write it on one line.")
    return found


def _texts(name: str, key: str, said: object) -> dict[str, str]:
    if not isinstance(said, Mapping):
        raise _wrong(name, f"{key} is no mapping", "Write NAME: value.")
    found = cast(Mapping[object, object], said)
    return {str(one): _text(name, f"{key}.{one}", value) for one, value in found.items()}


def _list(name: str, key: str, said: object) -> tuple[str, ...]:
    if isinstance(said, str) or not isinstance(said, Sequence):
        raise _wrong(name, f"{key} is no list", "Write [a, b].")
    return tuple(_text(name, key, one) for one in cast(Sequence[object], said))


def _text(name: str, key: str, said: object) -> str:
    if not isinstance(said, str) or "\0" in said:
        raise _wrong(name, f"{key[:80]} is not a text", "Put it in quotes.")
    return said


def _seconds(name: str, key: str, said: object) -> float:
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        raise _wrong(name, f"{key} is no duration", "Write 30s or 2m.")
    try:
        seconds = durations.parse(said).total_seconds() if isinstance(said, str) else float(said)
    except InvalidInput as error:
        raise _wrong(name, f"{key}: {error.fact.rstrip('.')}", error.remedy) from error
    if not 0 < seconds <= 86_400:
        raise _wrong(name, f"{key} is not between 0 and a day", "Write 30s or 2m.")
    return seconds


def _yes(name: str, said: object) -> bool:
    if not isinstance(said, bool):
        raise _wrong(name, "optional is neither true nor false", "Write true or false.")
    return said


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[1].lower()}", key)


def _wrong(name: str, fact: str, remedy: str) -> ServerMisdeclared:
    return ServerMisdeclared(f"The MCP server {name!r} is not declared rightly: {fact}.", remedy)
