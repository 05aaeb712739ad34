"""The table of kinds: what each may say, what is made of it, what takes it, and the blocks that it has."""

from collections.abc import Callable, Mapping
from typing import Any

from moot.core.records import record
from moot.engine.shape import StepShape
from moot.engine.step import Finish, Move, Outcome, StepFailed, Take, Visit
from moot.engine.steps import (
    agent_prompt,
    agent_shell_command,
    apply_hints,
    commands,
    conditional,
    foreach,
    including,
    leaving,
    looping,
    mcp_call,
    parallel_foreach,
    sequential,
    shell_command,
    updating,
    user_input,
    user_message,
    waiting,
)


@record
class Kind:
    said: type[StepShape]
    read: Callable[[Any], Any]
    take: Take
    blocks: tuple[str, ...] = ()
    is_loop: bool = False
    finish: Finish | None = None  # of kinds that have something done


def _nothing(said: StepShape) -> None:
    """It says nothing of its own."""


KINDS: Mapping[str, Kind] = {
    "agent_prompt": Kind(agent_prompt.Said, agent_prompt.read, agent_prompt.take, finish=agent_prompt.finish),
    "agent_shell_command": Kind(
        agent_shell_command.Said, agent_shell_command.read, agent_shell_command.take, finish=commands.finish
    ),
    "apply_hints": Kind(apply_hints.Said, apply_hints.read, apply_hints.take, finish=apply_hints.finish),
    "break": Kind(StepShape, _nothing, leaving.take_break),
    "conditional": Kind(conditional.Said, conditional.read, conditional.take, ("then", "else")),
    "continue": Kind(StepShape, _nothing, leaving.take_continue),
    "exit": Kind(leaving.ExitSaid, leaving.read_exit, leaving.take_exit),
    "foreach": Kind(foreach.Said, foreach.read, foreach.take, ("steps",), is_loop=True),
    "include_workflow": Kind(including.Said, including.read, including.take),
    "mcp_call": Kind(mcp_call.Said, mcp_call.read, mcp_call.take, finish=mcp_call.finish),
    "parallel_foreach": Kind(
        parallel_foreach.Said, parallel_foreach.read, parallel_foreach.take, finish=parallel_foreach.finish
    ),
    "sequential": Kind(sequential.Said, _nothing, sequential.take, ("steps",)),
    "shell_command": Kind(shell_command.Said, shell_command.read, shell_command.take, finish=commands.finish),
    "state_update": Kind(updating.Said, updating.read, updating.take),
    "user_input": Kind(user_input.Said, user_input.read, user_input.take, finish=user_input.finish),
    "user_message": Kind(user_message.Said, user_message.read, user_message.take, finish=user_message.finish),
    "wait": Kind(waiting.Said, waiting.read, waiting.take, finish=waiting.finish),
    "while": Kind(looping.Said, looping.read, looping.take, ("body",), is_loop=True),
}


async def take(visit: Visit) -> Move:
    return await KINDS[visit.step.type].take(visit)


async def finish(visit: Visit, outcome: Outcome) -> Move:
    found = KINDS[visit.step.type].finish
    if found is None:
        raise StepFailed(f"{visit.called} has nothing done.", "Take the next step.")
    return await found(visit, outcome)
