"""Refusals: models that are not asked, because a limit is reached or their provider has asked to wait. Whoever writes a
run down is told of them, and whoever plays it again repeats them."""

from collections.abc import Mapping

from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.ledger import stops
from moot.ledger.budgets import Limits
from moot.models.model import ModelFailed
from moot.runner import purses
from moot.runner.begun import Start
from moot.runner.purses import Purse
from moot.session.journal import OverBudget
from moot.session.stage import Asked

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


def is_final(error: Refusal, asked: Asked | None) -> bool:
    """Whether nobody waits for what others have set aside, or can do with less."""
    if isinstance(error, ModelFailed):
        return True
    return asked == "stop" if error.is_passing else not error.left


def reached(tx: ReadTx, start: Start) -> Reached:
    of_run = None if start.run is None else stops.find(tx, start.run.id)
    of_agent = stops.find(tx, purses.scope_of(start.agent, start.run), start.agent.id)
    return Reached("" if of_run is None else of_run.reason, "" if of_agent is None else of_agent.reason)


def reach(tx: Tx, start: Start, own: Limits, wanted: Reached) -> bool:
    """The same limits are reached, and that is told; False if there are none like them. `own` are the agent's."""
    for purse in purses.of_agent(start.agent, start.run, own, start.leave):
        _reach(tx, purse, wanted.by_run if purse.is_of_run else wanted.by_agent)
    return reached(tx, start) == wanted


def _reach(tx: Tx, purse: Purse, reason: str) -> None:
    share = next((one for one in purses.shares(tx, purse) if one.reason == reason), None)
    if share is not None:
        purses.reach(tx, purse, share)
