"""What a run came to: who did what, how much was said and written, how long it took."""

from collections.abc import Iterator
from datetime import timedelta

from moot.api import remedies, tallies
from moot.api.tallies import Tally
from moot.bus import messages
from moot.core import json
from moot.core.ids import RunId
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.documents import documents, ownership
from moot.engine.flow.flows import Flow
from moot.ledger import budgets, usage
from moot.ledger.budgets import MICROSECOND, Share
from moot.ledger.usage import Usage
from moot.registry import runs
from moot.registry.runs import Run
from moot.runner import phases, plan_section, values
from moot.runner.flows import section
from moot.store.store import Store
from moot.workflow import stored, templates
from moot.workspaces import workspaces


@record
class Deeds:
    """What one agent did."""

    name: str
    messages: int
    usage: Usage


@record
class Summary:
    run: Run
    agents: tuple[Deeds, ...]
    messages: int
    documents: tuple[str, ...]  # that were changed
    duration: timedelta
    usage: Usage
    budget: tuple[Share, ...]  # how much of each limit is used
    result: str  # what the workflow says came of it
    branches: tuple[str, ...]  # that are not merged yet
    plan: Tally | None = None  # if its file has one and it has come to that
    flow: Flow | None = None  # of its steps, as far as they have come
    begin: str = ""  # what helps, if it has failed and it is in vain to resume it


async def of_run(store: Store, id: RunId) -> Summary:
    return await store.read(lambda tx: _of_run(tx, id))


def _of_run(tx: ReadTx, id: RunId) -> Summary:
    run = runs.get(tx, id)
    said = messages.count_by_sender(tx, run.stream, run.first_seq, run.last_seq)
    used = usage.by_agent(tx, run.id)
    members = phases.members_of(tx, run)
    return Summary(
        run=run,
        agents=tuple(Deeds(one.name, said.get(one.name, 0), used.get(one.id, Usage())) for one in members),
        messages=sum(said.values()),
        documents=tuple(_written(tx, run)),
        duration=_lasted(tx, run),
        usage=usage.total(tx, run.id),
        budget=tuple(budgets.shares(tx, run.id)),
        result=_result(tx, run),
        plan=None if (board := plan_section.board_of(tx, run)) is None else tallies.of_board(tx, board),
        flow=section.flow_of(tx, run),
        begin=remedies.beginning(tx, run),
        branches=tuple(one.branch for one in workspaces.all_of(tx, run.instance) if one.status == "active"),
    )


def _lasted(tx: ReadTx, run: Run) -> timedelta:
    """Without the time between its end and its resumption."""
    budget = budgets.find(tx, run.id)
    return (run.ended_at or tx.now) - run.started_at if budget is None else budget.elapsed(tx.now) * MICROSECOND


def _written(tx: ReadTx, run: Run) -> Iterator[str]:
    """What somebody wrote; moot itself makes an empty one to begin with."""
    for one in documents.all_of(tx, run.instance):
        if one.at >= run.started_at and one.author != ownership.SYSTEM.name:
            yield one.file


def _result(tx: ReadTx, run: Run) -> str:
    """The workflow's last words, with what is known; nothing before setup has found everything out."""
    workflow = stored.from_json(run.definition)
    if workflow.flow:
        flow = section.flow_of(tx, run)
        value = None if flow is None or flow.result is None else json.loads(flow.result)
        return value if isinstance(value, str) else "" if value is None else json.dumps(value)
    if run.phase not in ("talk", "tasks"):
        return ""
    return templates.expand(workflow.result, values.of_run(run, workflow, run.outputs)).text.strip()
