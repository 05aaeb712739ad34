"""The lead's seat in a team, taken by a person at a terminal: what is typed is said, or does what only a lead does."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from moot.api import people, plan_files
from moot.api.connection import Connection, connect
from moot.board import laying
from moot.core.caller import Caller
from moot.core.errors import InvalidInput
from moot.core.ids import BoardId, InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.registry import agents
from moot.registry.agents import Agent
from moot.runner.teams import planning
from moot.teams import teams
from moot.teams.errors import ReviewRefused
from moot.teams.teams import Team
from moot.tools import dispatch, teamwork

HELP = """\
/plan FILE        plan by a file, as moot plan apply reads it
/go               no plan: every worker gets the goal
/approved         nothing is wrong with this round's work
/changes A; B     this has to be mended first, each an issue
Anything else is said: @name wakes that one; a line without a name answers what waits longest for you."""


class NotYourSeat(InvalidInput):
    """Somebody else leads."""

    code = "NOT_YOUR_SEAT"


@record
class Seat:
    """A team, and who leads it."""

    team: Team
    lead: Agent

    @property
    def is_free(self) -> bool:
        """Whether a person may take it: moot starts nobody there."""
        return not self.lead.is_started_by_moot


async def look(connection: Connection, name: InstanceName) -> Seat:
    """TeamNotFound if there is no such team."""

    def read(tx: ReadTx) -> Seat:
        team = teams.get(tx, name)
        return Seat(team, agents.named(tx, team.stream, team.lead))

    return await connection.store.read(read)


@asynccontextmanager
async def taken(store: str | None, name: InstanceName) -> AsyncGenerator[Connection]:
    """As the lead, if nobody else is; else as the person one is."""
    async with connect("channel_send", store=store, instance=name) as connection:
        yield await seated(connection, name)


async def seated(connection: Connection, name: InstanceName) -> Connection:
    seat = await look(connection, name)
    if not seat.is_free:
        return connection
    if seat.lead.backend == "human":
        return await people.acting_as(connection, seat.lead.name)
    return await people.speaking_for(connection, seat.lead.name, "channel_send")


async def obey(connection: Connection, line: str) -> str:
    """Do what a line says that begins with a slash; what came of it."""
    word, _, rest = line.strip().partition(" ")
    if word == "/help":
        return HELP
    seat = await look(connection, connection.caller.instance)
    if not seat.is_free:
        raise NotYourSeat(f"{seat.lead.name} is run by {seat.lead.backend}.", f"Say it: @{seat.lead.name} …")
    match word:
        case "/plan":
            told = await _plan(connection, seat, rest.strip())
        case "/go":
            told = await _go(connection, seat)
        case "/approved":
            told = await _report(connection, seat, "approved", [])
        case "/changes":
            told = await _report(connection, seat, "changes", [one.strip() for one in rest.split(";") if one.strip()])
        case _:
            raise InvalidInput(f"There is no {word[:40]}.", "See /help.")
    await connection.acknowledge(await connection.inbox())
    return told


async def _plan(connection: Connection, seat: Seat, file: str) -> str:
    if not file:
        raise InvalidInput("/plan names no file.", "Write /plan FILE.")
    board = _board(seat)
    await connection.store.read(lambda tx: teamwork.check_stage(tx, board))
    _, laid = await plan_files.apply(connection, file, (), board)
    return f"{laid.added} tasks planned"


async def _go(connection: Connection, seat: Seat) -> str:
    board = _board(seat)

    def change(tx: Tx) -> int:
        teamwork.check_stage(tx, board)
        return laying.set_plan(tx, board, planning.for_everybody(seat.team)).added

    added = await connection.store.write(change, caller=connection.caller)
    return f"the goal goes to {added} workers"


async def _report(connection: Connection, seat: Seat, verdict: str, issues: list[str]) -> str:
    if verdict == "changes" and not issues:
        raise InvalidInput("/changes names no issue.", "Write /changes A; B.")
    lead = seat.lead
    caller = Caller(lead.name, "lead", lead.instance, lead.id)
    arguments = {"verdict": verdict, "issues": [{"text": one} for one in issues]}
    answer = await dispatch.perform(connection.store, caller, "review_report", arguments)
    if answer.is_error:
        raise ReviewRefused(answer.text.removeprefix(f"{ReviewRefused.code}: "))
    return f"reported: {verdict}"


def _board(seat: Seat) -> BoardId:
    if seat.team.run is None:
        raise InvalidInput("The team has not begun.", "Start it with moot team up.")
    return BoardId(seat.team.run)
