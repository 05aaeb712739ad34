"""`sequential`: a block as one step."""

from moot.engine.step import Enter, Move, Next, Turn


async def take(turn: Turn) -> Move:
    return Next() if turn.rounds else Enter("steps")
