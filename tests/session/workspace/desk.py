"""The tools for files and commands, as tests call them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from moot.core.json import Json
from moot.core.permissions import PRESETS, Permissions
from moot.session.source import Outcome
from moot.session.workspace import place
from moot.session.workspace.tools import WorkspaceTools

ALL = ("files", "edit", "shell")


@dataclass
class Person:
    """Decides at once, and remembers what was asked."""

    says: str | None = None
    asked: list[tuple[str, Mapping[str, Json]]] = field(default_factory=list[tuple[str, Mapping[str, Json]]])

    async def denial(self, tool: str, arguments: Mapping[str, Json]) -> str | None:
        self.asked.append((tool, arguments))
        return self.says


def tools(
    root: Path,
    *,
    named: tuple[str, ...] = ALL,
    permissions: Permissions = PRESETS["full"],
    person: Person | None = None,
) -> WorkspaceTools:
    return WorkspaceTools(place.at(root, orders=("flow.yaml", "agents/own.md")), named, permissions, person or Person())


async def call(source: WorkspaceTools, name: str, **arguments: Json) -> Outcome:
    """As a session does."""
    async with asyncio.timeout(60):
        leave = source.leave(name, arguments)
        refusal = None if leave is None else await leave()
        if refusal is not None:
            return Outcome(refusal, is_error=True)
        return await source.call(name, arguments, "t1/c1")


async def done(source: WorkspaceTools, name: str, **arguments: Json) -> str:
    outcome = await call(source, name, **arguments)
    assert not outcome.is_error, outcome.text
    return outcome.text


async def refused(source: WorkspaceTools, name: str, **arguments: Json) -> str:
    outcome = await call(source, name, **arguments)
    assert outcome.is_error, outcome.text
    return outcome.text
