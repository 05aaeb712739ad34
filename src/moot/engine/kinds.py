"""The table of kinds: what takes a step of each type, and the blocks it has."""

from collections.abc import Mapping

from moot.core.records import record
from moot.engine.step import Move, Take, Turn
from moot.engine.steps import conditional, foreach, leaving, looping, sequential, updating


@record
class Kind:
    take: Take
    blocks: tuple[str, ...] = ()
    is_loop: bool = False


KINDS: Mapping[str, Kind] = {
    "break": Kind(leaving.take_break),
    "conditional": Kind(conditional.take, ("then", "else")),
    "continue": Kind(leaving.take_continue),
    "exit": Kind(leaving.take_exit),
    "foreach": Kind(foreach.take, ("steps",), is_loop=True),
    "sequential": Kind(sequential.take, ("steps",)),
    "state_update": Kind(updating.take),
    "while": Kind(looping.take, ("body",), is_loop=True),
}


async def take(turn: Turn) -> Move:
    return await KINDS[turn.step.type].take(turn)
