"""Asking one agent file one thing: a run of its own, of which only the answer is of interest."""

import os
from collections.abc import AsyncIterator
from dataclasses import replace

from moot.api import access as projects
from moot.api import running, targets
from moot.api.access import Access
from moot.api.attending import EXIT_CODES, Ending, Failed, Paused, Warned
from moot.api.running import Order, Piece
from moot.api.summaries import Summary
from moot.app import budgets, workflows
from moot.app.workflows import Loaded
from moot.bus.messages import Message
from moot.core.errors import InvalidInput
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.registry import runs
from moot.registry.runs import Run
from moot.session import reports
from moot.store import feed


@record
class Answer:
    """What came of a question; the text is empty if nothing did."""

    agent: str
    text: str
    ending: Ending
    summary: Summary
    failure: Failed | None = None  # why nothing did, if the agent was to blame
    is_old: bool = False  # it was there before this was gone on with

    @property
    def exit_code(self) -> int:
        """A limit of the agent's own is a limit as well."""
        is_limit = self.failure is not None and self.failure.kind == "limit"
        return EXIT_CODES["limit"] if is_limit else self.ending.exit_code


def new_instance() -> InstanceName:
    """One that nobody else has: several questions may be asked at once."""
    return InstanceName(f"{targets.QUESTION}{os.urandom(4).hex()}")


def load(order: Order) -> Loaded:
    """Read and check everything before anything happens."""
    changes = budgets.parse(order.budget)
    loaded = workflows.load_agent(projects.find_project(), order.source, order.instance, order.flags)
    workflow = loaded.workflow
    return replace(loaded, workflow=replace(workflow, budget=budgets.changed(workflow.budget, changes)))


def is_one(run: Run) -> bool:
    """Whether a run is that of a question: those of workflows come from YAML."""
    return run.source.endswith(".md")


async def past(access: Access, instance: InstanceName) -> int | None:
    """If the last run of an instance is that of a question, the number of what happened last; else None."""

    def look(tx: ReadTx) -> int | None:
        run = runs.latest(tx, instance)
        return feed.end(tx, run.stream).get(run.stream, 0) if run is not None and is_one(run) else None

    return await access.store.read(look)


async def ask(order: Order, loaded: Loaded) -> AsyncIterator[Piece | Answer]:
    """What happens on the way, and last the answer. An agent that takes JSON is not asked anything else."""
    (agent,) = loaded.workflow.agents
    if (wrong := await reports.fault(order.question or "", agent.input)) is not None:
        raise InvalidInput(f"The question is not what {agent.name} takes: {wrong}.", "See `input` in its file.")
    async for piece in _answered(running.run(order, loaded)):
        yield piece


def resume(order: Order, past: int) -> AsyncIterator[Piece | Answer]:
    """Go on with a question where it was. What went wrong in the past is not told again."""
    return _answered(running.resume(order), past)


async def _answered(pieces: AsyncIterator[Piece], past: int = 0) -> AsyncIterator[Piece | Answer]:
    name = text = ""
    answered_at = 0
    ending: Ending | None = None
    failure: Failed | None = None
    async for piece in pieces:
        match piece:
            case Run():
                name = piece.name
            case Message() if piece.sender == name and piece.kind == "message":
                text, failure, answered_at = piece.body, None, piece.seq
            case Failed() if piece.is_last:
                failure = piece
            case Ending():
                ending = piece
            case Summary():
                assert ending is not None
                failed = failure if ending.state == "failed" else None
                yield Answer(name, text, ending, piece, failed, is_old=answered_at <= past)
            case Failed() | Warned() | Paused() if piece.seq <= past:
                pass
            case _:
                yield piece
