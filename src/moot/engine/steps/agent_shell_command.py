"""`agent_shell_command`: a command that the agent has to run, because it needs a terminal, say, or its rights."""

from pydantic import Field

from moot.core.records import record
from moot.engine.resolving import text_of
from moot.engine.step import Do, Move, Visit, Work
from moot.engine.steps import commands, naming, results
from moot.engine.steps.commands import Command, CommandShape
from moot.engine.steps.naming import AgentName
from moot.engine.steps.outputs import OutputFormat

_WORDS: dict[OutputFormat, str] = {
    "text": "as a text",
    "lines": "as a list of its lines",
    "json": "as JSON",
    "key_value": "as an object of its keys and values",
}


class Said(CommandShape):
    agent: AgentName = ""
    reason: str = Field(default="", description="Why an agent has to run it")


@record
class AgentShellCommand(Command):
    reason: str = ""
    agent: str = ""


def read(said: Said) -> AgentShellCommand:
    found = commands.read(said)
    own = said.reason, said.agent
    return AgentShellCommand(found.command, found.form, found.failing, found.timeout, found.writes, *own)


async def take(visit: Visit) -> Move:
    detail: AgentShellCommand = visit.step.detail
    found = await commands.handed(visit, detail)
    reason = text_of(await visit.resolved(detail.reason))
    definition = {**found.definition, **await naming.shown(visit, detail.agent)}
    if reason:
        definition["reason"] = reason
    words = (
        "Run the command yourself, as it stands there, and complete the step with what it printed, "
        f"{_WORDS[detail.form]}.{results.told(definition)} If it fails, complete the step as failed and say why."
    )
    return Do(Work("agent_shell_command", words, definition, found.replacements, found.original))
