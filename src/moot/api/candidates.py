"""Who is meant when nobody is named: the only one there is, never all."""

from moot.api import rights, targets
from moot.api.access import Access
from moot.api.targets import Target
from moot.core.errors import InvalidInput
from moot.core.tx import ReadTx
from moot.registry import agents, instances, runs
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
