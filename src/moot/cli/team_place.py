"""Which team the scripts of teams mean: by `TEAM_DB`, by `--repo` and `--session`, or the only one of the project."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from moot.api import people, team_mail
from moot.api.access import Purpose
from moot.api.connection import Connection, connect
from moot.api.team_mail import Mode
from moot.core.errors import InvalidInput
from moot.core.records import record
from moot.registry import agents, instances, names
from moot.tools.groups import Acting, Looking
from moot.views.team import bus_file, files, writing

F = TypeVar("F", bound=Callable[..., Any])


@record
class Place:
    """Where a team is, and how it is to be asked."""

    repo: Path | None
    session: str | None
    mode: Mode
    store: str | None


def options(function: F) -> F:
    """What stands before the command, in every script."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


_OPTIONS = (
    click.option("--db", envvar="TEAM_DB", show_envvar=True, metavar="PATH", help="A team by its bus.sqlite."),
    click.option("--room", default=files.ROOM, show_default=True, metavar="NAME", help="A team has this one."),
    click.option("--repo", metavar="PATH", help="The project.  [default: here]"),
    click.option("--session", metavar="NAME", help="The team.  [default: the only one]"),
    click.option("--store", metavar="URL", help="As moot has it.  [default: $MOOT_STORE, or the project's]"),
)


def found(db: str | None, room: str, repo: str | None, session: str | None, store: str | None) -> Place:
    """What is said in so many words counts more than the environment."""
    if room != files.ROOM:
        raise InvalidInput(f"There is no room {room[:80]!r}.", f"A team has one: {files.ROOM}.")
    by_file = _of_file(Path(db)) if db and not (repo and session) else None
    folder = Path(repo) if repo else by_file[0] if by_file else None
    if folder is not None and not folder.is_dir():
        raise InvalidInput(f"There is no folder {str(folder)[:200]!r}.", "Name the project with --repo.")
    named = session or (by_file[1] if by_file else None)
    return Place(folder, None if named is None else names.check_instance(named), "db", store)


def _of_file(path: Path) -> tuple[Path, str]:
    """Project and team of `<project>/.codex-teams/<session>/bus.sqlite`, whether or not the file is there."""
    *_, top, session, name = ("", "", *path.absolute().parts)
    if (top, name) != (writing.FOLDER, bus_file.NAME):
        raise InvalidInput(
            f"{str(path)[:200]!r} is no team's database.", f"Name {writing.FOLDER}/<session>/{bus_file.NAME}."
        )
    return path.absolute().parents[2], session


@asynccontextmanager
async def opened(place: Place, purpose: Purpose) -> AsyncGenerator[Connection]:
    """A connection to the store of the project, in the instance of the team."""
    async with connect(purpose, store=place.store, start=place.repo) as connection:
        yield await team_mail.find(connection, place.session)


async def speaking(connection: Connection, name: str | None, tool: Looking | Acting) -> Connection:
    """The same connection as whoever is named: the person, another person, or an agent from outside. Agents that moot
    starts speak for themselves."""
    if name is None or names.fold(name) in (names.fold(connection.caller.name), agents.PERSON):
        return connection
    stream = (await connection.store.read(lambda tx: instances.get(tx, connection.caller.instance))).stream
    meant = await connection.store.read(lambda tx: agents.named(tx, stream, name))
    if meant.backend == "human":
        return await people.acting_as(connection, name)
    return await people.speaking_for(connection, name, tool)
