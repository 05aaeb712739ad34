"""Asking one agent file one thing: a run of its own, of which only the answer is of interest."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from moot.api import access, running
from moot.api.attending import Ending
from moot.api.running import Order, Piece
from moot.api.summaries import Summary
from moot.app import budgets, workflows
from moot.app.workflows import Loaded
from moot.bus.messages import Message
from moot.core.ids import InstanceName


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question; the text is empty if nothing did."""

    agent: str
    text: str
    ending: Ending
    summary: Summary


def new_instance() -> InstanceName:
    """One that nobody else has: several questions may be asked at once."""
    return InstanceName(f"ask-{os.urandom(4).hex()}")


def load(order: Order) -> Loaded:
    """Read and check everything before anything happens."""
    changes = budgets.parse(order.budget)
    loaded = workflows.load_agent(access.find_project(), order.source, order.instance, order.flags)
    workflow = loaded.workflow
    return replace(loaded, workflow=replace(workflow, budget=budgets.changed(workflow.budget, changes)))


async def ask(order: Order, loaded: Loaded) -> AsyncIterator[Piece | Answer]:
    """What happens on the way, and last the answer."""
    name, text = loaded.members[0].name, ""
    ending: Ending | None = None
    async for piece in running.run(order, loaded):
        match piece:
            case Message() if piece.sender == name:
                text = piece.body
            case Ending():
                ending = piece
            case Summary():
                assert ending is not None
                yield Answer(name, text, ending, piece)
            case _:
                yield piece
