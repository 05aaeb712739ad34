"""Refusals: models that are not asked, because a limit is reached or their provider has asked to wait. Whoever writes a
run down is told of them, and whoever plays it again repeats them."""

from collections.abc import Mapping

from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.ledger import stops
from moot.models.model import ModelFailed
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner import limits, purses
from moot.runner.begun import Start
from moot.runner.purses import Leave, Purse
from moot.session.journal import OverBudget

Refusal = ModelFailed | OverBudget


@record
class Reached:
    """The limits that an attempt has found reached, in words; empty: none."""

    by_run: str = ""
    by_agent: str = ""


@record
class Refused:
    path: str
    model: str
    facts: Mapping[str, Json]  # with which it would have been asked
    error: Refusal
    reached: Reached


@record
class Noted:
    """What a page of a journal has brought."""

    seq: int  # of the last that had happened in the stream by then
    answered: tuple[str, ...]  # the paths of models that have answered, or failed to
    refused: Refused | None


def is_final(error: Refusal) -> bool:
    """Whether nobody waits for what others have set aside, or can do with less."""
    return isinstance(error, ModelFailed) or not (error.is_passing or error.left)


def reached(tx: ReadTx, start: Start) -> Reached:
    agent, run = start.agent, start.run
    of_run = None if run is None else stops.find(tx, run.id)
    of_agent = stops.find(tx, purses.scope_of(agent, run), agent.id)
    return Reached("" if of_run is None else of_run.reason, "" if of_agent is None else of_agent.reason)


def reach(tx: Tx, purse: Purse, reason: str) -> bool:
    """The same limit is reached, and that is told; False if there is none like it."""
    share = next((one for one in purses.shares(tx, purse) if one.reason == reason), None)
    if share is not None:
        purses.reach(tx, purse, share)
    stop = stops.find(tx, purse.scope, purse.owner)
    return stop is not None and stop.reason == reason


def reach_all(tx: Tx, agent: Agent, run: Run | None, wanted: Reached | Leave) -> bool:
    held = {one.is_of_run: one for one in purses.of_agent(agent, run, limits.own(agent))}
    reasons = {True: wanted.by_run, False: wanted.by_agent}
    return all(one in held and reach(tx, held[one], reason) for one, reason in reasons.items() if reason)


def may_begin(tx: Tx, agent: Agent, run: Run | None, then: Leave) -> Leave | None:
    """As it could then, whatever others have used by now: who used it first nobody can tell of what was done at once.
    Where there is no such limit any more, as it can now."""
    return then if reach_all(tx, agent, run, then) else limits.may_begin(tx, agent, run)
