"""Who is meant when nobody is named: the only one there is, never all."""

from moot.api.access import Access
from moot.api.targets import Target
from moot.core.errors import InvalidInput
from moot.core.tx import ReadTx
from moot.registry import agents, instances, runs


class TargetUnclear(InvalidInput):
    """Several could be meant."""

    code = "TARGET_UNCLEAR"


async def to_stop(access: Access) -> Target:
    """The only run, else the newest agent that stands alone."""
    return await access.store.read(_to_stop)


def _to_stop(tx: ReadTx) -> Target:
    live = runs.all_live(tx)
    alone = [
        agent
        for instance in instances.all_of(tx)
        for agent in agents.members(tx, instance.stream)
        if agent.is_started_by_moot and agent.stopped_at is None and not agent.metadata.get("source")
    ]
    if len(live) == 1:
        return Target(None, live[0].instance)
    if not live and alone:
        return Target(alone[-1].name, alone[-1].instance)
    known = ", ".join([f"@{run.instance}" for run in live] + [f"{one.name}@{one.instance}" for one in alone])
    raise TargetUnclear(
        "It is not clear what should stop." if known else "Nothing is running.",
        f"Name one of: {known}." if known else "See moot list.",
    )
