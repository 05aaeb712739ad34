"""`shell_command`: a command that moot runs itself; no agent sees it."""

from pydantic import Field

from moot.core.records import record
from moot.engine.step import Do, Move, Visit, Work
from moot.engine.steps import commands, results
from moot.engine.steps.commands import Command, CommandShape


class Said(CommandShape):
    idempotent: bool = Field(
        default=False, description="Whether it may be run again if nobody knows whether it has run to its end"
    )


@record
class ShellCommand(Command):
    is_idempotent: bool = False


def read(said: Said) -> ShellCommand:
    found = commands.read(said)
    return ShellCommand(found.command, found.form, found.failing, found.timeout, found.writes, said.idempotent)


async def take(visit: Visit) -> Move:
    detail: ShellCommand = visit.step.detail
    found = await commands.handed(visit, detail)
    definition = {**found.definition, "idempotent": detail.is_idempotent}
    words = f"Run the command in a shell and read what it prints as {detail.form}.{results.told(definition)}"
    return Do(Work("shell_command", words, definition, found.replacements, found.original))
