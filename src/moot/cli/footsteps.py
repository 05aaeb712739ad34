"""The steps of a run on the terminal or as JSON, while it is attended; and what Enter does where they wait for it."""

from typing import assert_never

from moot.api import flows, plain, stepping, targets, whereabouts
from moot.api.connection import Connection
from moot.api.footsteps import Footstep, Held, Moving, Stepped
from moot.api.running import Order
from moot.api.stepping import Walked
from moot.cli import flow_lines, terminal
from moot.cli.keyboard import Enter
from moot.cli.transcript import Transcript
from moot.engine.flow.flows import Flow
from moot.engine.flow.history import StepRow


def enter(order: Order) -> Enter | None:
    """The next step, where each waits for it."""
    if not order.is_stepped:
        return None

    async def take(connection: Connection) -> None:
        found = await flows.find(connection, None)
        if not await stepping.allow_next(connection, found.id):
            terminal.note("the last step is not done yet")

    return take


def show(piece: Footstep, order: Order | None, transcript: Transcript) -> None:
    match piece:
        case Stepped():
            if _is_worth_a_line(piece.row, order):
                flow_lines.taken(piece.row, piece.task)
        case Walked():
            flow_lines.steps(piece)
        case Held():
            transcript.aside(_invitation(piece, is_typed=order is not None and order.has_person))
        case Moving():
            is_asked = piece.where.flow.waits_for == "person"  # and types an answer there
            terminal.below([] if is_asked else flow_lines.moving(piece.where))
        case _:
            assert_never(piece)


def _is_worth_a_line(row: StepRow, order: Order | None) -> bool:
    """Where a flow is shown as it moves, only what went wrong stays; what was said stands in the channel."""
    if row.status == "failed" or (order is not None and order.sight.every_step):
        return True
    is_shown = order is not None and order.sight.whereabouts
    return not is_shown and row.type != "user_message"


def _invitation(piece: Held, *, is_typed: bool) -> str:
    following = f": {piece.next}" if piece.next else ""
    if is_typed:
        return f"Enter takes the next step{following}"
    return f"the next step waits for: {targets.at('moot flow step', piece.flow.instance)}{following}"


def document(piece: Footstep) -> plain.Plain:
    match piece:
        case Stepped():
            return {**flows.plain_step(piece.row, piece.task), "type": "step", "kind": piece.row.type}
        case Walked():
            return {"type": "steps", **flow_lines.plain(piece)}
        case Held():
            return {"type": "held", "workflow_id": piece.flow.id, "next": piece.next}
        case Moving():
            return {"type": "moving", **whereabouts.plain(piece.where)}
        case _:
            assert_never(piece)


def summed_up(flow: Flow) -> plain.Plain:
    return {"taken": flow.last_step, "status": flow.status, "error": flow.error or None}
