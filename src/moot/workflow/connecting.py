"""MCP servers of others: where they are declared, which of them an agent is connected to, and what they may see."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path

from moot.core import problems, secrecy, servers, yaml
from moot.core.json import Json
from moot.core.problems import Problem
from moot.core.records import record
from moot.core.servers import Server, ServerMisdeclared
from moot.core.yaml import Document
from moot.workflow.drafts import Faults
from moot.workflow.merging import Layer

FIELD = "mcp_servers"
_OWN_CONFIG = "~/.moot/config.yaml"


@record
class Declared:
    """A server, and where it stands."""

    server: Server
    document: Document
    path: yaml.Path
    is_own: bool = False  # in the person's own configuration, so that it may use all of the environment


@record
class Known:
    """What every agent of a file can be connected to, the nearest first, and the variables that this may use."""

    layers: tuple[Mapping[str, Declared], ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict[str, str | None])  # that the workflow declares
    environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


def read(said: Mapping[str, Json] | None, layer: Layer, faults: Faults, *, is_own: bool = False) -> dict[str, Declared]:
    """Those of one place; what is wrong with one is noted, and it is left out."""
    found: dict[str, Declared] = {}
    for name, one in (said or {}).items():
        path = (*layer.place(FIELD), name)
        try:
            server = _checked(servers.server(name, one), found)
        except ServerMisdeclared as error:
            faults.add(layer.document, Problem(path, error.fact.rstrip("."), error.remedy, is_key=True))
            continue
        source = _OWN_CONFIG if is_own else _spelled(Path(layer.document.name))
        found[name] = Declared(replace(server, source=source), layer.document, path, is_own)
    return found


def _spelled(file: Path) -> str:
    """As people know it."""
    return f"{file.parent.name}/{file.name}" if file.parent.name.startswith(".") else file.name


def nearest(layers: Iterable[Mapping[str, Declared]]) -> dict[str, Declared]:
    """Of several that have one name, the first."""
    found: dict[str, Declared] = {}
    for layer in layers:
        found = {**layer, **found}
    return found


def connected(
    tools: Iterable[str], declared: Mapping[str, Declared], known: Known, faults: Faults
) -> tuple[Server, ...]:
    """The servers that are named among the tools, each with the variables that it may use."""
    chosen = [declared[name] for name in servers.chosen(tools) if name in declared]
    beside: dict[str, Declared] = {}
    for one in chosen:
        for problem in (*_unusable(one, known), *_alike(one, beside)):
            faults.add(one.document, problem)
        beside[one.server.name] = one
    return tuple(replace(one.server, variables=_variables(one, known)) for one in chosen)


def unnamed(wanted: Iterable[tuple[Iterable[str], Mapping[str, Declared]]], shared: Collection[str]) -> tuple[str, ...]:
    """Of the servers that agents could have, those that none of them names, in words; `wanted` are the tools of each
    and what it could be connected to. What stands in `shared` documents is meant for other workflows, too."""
    named: set[tuple[str, yaml.Path]] = set()
    found: dict[tuple[str, yaml.Path], Declared] = {}
    for tools, declared in wanted:
        chosen = servers.chosen(tools)
        for name, one in declared.items():
            key = (one.document.name, one.path)
            found[key] = one
            named.update((key,) if name in chosen else ())
    return tuple(_unnamed(one) for key, one in found.items() if key not in named and key[0] not in shared)


def _unnamed(one: Declared) -> str:
    line, column = one.document.place(one.path, key=True)
    where, name = f"{one.document.name}:{line}:{column}", one.server.name
    return f"{where}: no agent names the MCP server `{name}`. Write tools: [mcp:{name}] where it is wanted."


def _checked(server: Server, beside: Mapping[str, Declared]) -> Server:
    if (clash := _clash(server, beside)) is not None:
        raise ServerMisdeclared(clash, "Rename one.")
    for text in (*server.command, server.url or "", *server.texts()):
        bare = servers.without_variables(text)
        if secrecy.redact(bare) != bare:  # what is kept with a run is shown to many
            raise ServerMisdeclared(
                f"The MCP server {server.name!r} has a secret in its declaration.",
                "Put it into a variable of the environment, and write ${VARIABLE} under env or headers.",
            )
    return server


def _clash(server: Server, beside: Iterable[str]) -> str | None:
    """Their tools would have the same names."""
    for name in beside:
        if name.replace("_", "-") == server.name.replace("_", "-"):
            return f"The servers {name!r} and {server.name!r} cannot be told apart."
    return None


def _alike(one: Declared, beside: Iterable[str]) -> Iterator[Problem]:
    if (clash := _clash(one.server, beside)) is not None:
        yield Problem(one.path, clash.rstrip("."), "Rename one.", is_key=True)


def _named(server: Server) -> list[str]:
    return list(dict.fromkeys(name for text in server.texts() for name in servers.variables(text)))


def _variables(one: Declared, known: Known) -> dict[str, str | None]:
    """By name, with what stands in for those that are not set."""
    return {name: None if one.is_own else known.env.get(name) for name in _named(one.server)}


def _unusable(one: Declared, known: Known) -> Iterator[Problem]:
    """A file that came with a repository gets no secret that nobody has allowed it."""
    where = problems.spell(one.path)
    for name in _named(one.server):
        if not one.is_own and name not in known.env and secrecy.is_secret_name(name):
            fact = f"`{where}` would be given {name}, which may be a secret"
            remedy = f"If it may have it, write env: [{name}] in the workflow, or declare the server in {_OWN_CONFIG}."
            yield Problem(one.path, fact, remedy, is_key=True)
        elif name not in known.environ and (one.is_own or known.env.get(name) is None) and not one.server.is_optional:
            fact = f"`{where}` needs {name}, which is not set in the environment"
            yield Problem(one.path, fact, f"Set it: export {name}=….", is_key=True)
