"""Who is meant when nobody is named: the only one there is, or the last; never all."""

from collections.abc import Iterable

from moot.api import rights, targets
from moot.api.access import Access
from moot.api.targets import Target
from moot.board import tasks
from moot.bus import mailbox
from moot.core.errors import InvalidInput
from moot.core.ids import BoardId, InstanceName
from moot.core.tx import ReadTx
from moot.registry import agents, instances, runs
from moot.registry.runs import Run
from moot.runner import phases


class TargetUnclear(InvalidInput):
    """Several could be meant."""

    code = "TARGET_UNCLEAR"


async def to_stop(access: Access) -> Target | None:
    """The only run, else the newest agent that stands alone, else the only agent; None if nothing is running."""
    rights.check_operator(access.caller)
    return await access.store.read(_to_stop)


def _to_stop(tx: ReadTx) -> Target | None:
    live = runs.all_live(tx)
    if len(live) == 1:
        return Target(None, live[0].instance)
    bound = {agent.id for run in live for agent in phases.members_of(tx, run)}
    idle = [
        agent
        for instance in instances.all_of(tx)
        for agent in agents.members(tx, instance.stream)
        if agent.is_started_by_moot and agent.stopped_at is None and agent.id not in bound
    ]
    alone = [agent for agent in idle if not agent.metadata.get("source")]
    if not live and (alone or len(idle) == 1):
        newest = (alone or idle)[-1]
        return Target(newest.name, newest.instance)
    if not live and not idle:
        return None
    known = ", ".join([f"@{run.instance}" for run in live] + [targets.agent_in(one.name, one.instance) for one in idle])
    raise TargetUnclear("It is not clear what should stop.", f"Name one of: {known}.")


async def to_resume(access: Access) -> InstanceName:
    """Where the run is that is not done and that nobody attends, or that is paused."""
    return await access.store.read(lambda tx: _last(one for one in runs.unfinished(tx) if _can_go_on(tx, one)))


def _can_go_on(tx: ReadTx, run: Run) -> bool:
    return run.is_paused or not (run.state == "live" and runs.is_attended(tx, run))


async def to_retry(access: Access) -> InstanceName:
    """Where mail is parked, or tasks have failed."""
    return await access.store.read(lambda tx: _last(one for one in runs.unfinished(tx) if _has_failed(tx, one)))


def _has_failed(tx: ReadTx, run: Run) -> bool:
    is_parked = any(count.parked for count in mailbox.counts(tx, run.stream).values())
    return is_parked or bool(tasks.page(tx, BoardId(run.id), statuses=("failed",), limit=1))


def _last(found: Iterable[Run]) -> InstanceName:
    """The default instance goes without saying; else where the last of them is."""
    places = [run.instance for run in found]
    return places[0] if places and targets.DEFAULT not in places else targets.DEFAULT
