"""Removing an instance for good: everything that was said, written, voted on and done under its name.

In pieces, because a write must be short; until the last one the instance is there, and removing it again goes on.
"""

from moot.board import boards
from moot.bus import messages
from moot.core.caller import Caller
from moot.core.ids import InstanceName
from moot.core.tx import Tx
from moot.documents import documents
from moot.engine.flow import flows
from moot.jobs import jobs
from moot.ledger import budgets, journal, operations, stops, usage
from moot.proposals import proposals
from moot.registry import agents, conversations, instances, runs
from moot.registry.instances import Instance
from moot.registry.runs import InstanceBusy
from moot.requests import requests
from moot.search import search
from moot.search.search import Place
from moot.store import feed, streams
from moot.store.store import Store
from moot.teams import teams
from moot.workspaces import workspaces

_PIECE = 2000  # events in one write


async def check(store: Store, name: InstanceName, caller: Caller) -> None:
    """InstanceBusy while a run of it goes on."""
    await store.write(lambda tx: _free(tx, name), caller=caller)


async def remove(store: Store, name: InstanceName, caller: Caller) -> None:
    """InstanceBusy while a run of it goes on. Worktrees are for who calls this to clear away."""
    instance = await store.write(lambda tx: _free(tx, name), caller=caller)
    head = await store.read(lambda tx: feed.end(tx, instance.stream).get(instance.stream, 0))
    for seq in range(_PIECE, head + _PIECE, _PIECE):
        await store.write(lambda tx, seq=seq: forget_talk(tx, instance, min(seq, head)), caller=caller)
    await store.write(lambda tx: forget(tx, instance), caller=caller)


def _free(tx: Tx, name: InstanceName) -> Instance:
    instance = instances.get(tx, name)
    tx.lock("instances", name)
    run = runs.live(tx, name)
    if run is not None and runs.is_attended(tx, run):
        raise InstanceBusy(f"A run of {run.name} is going on in {name}.", f"End it with moot stop @{name} first.")
    return instance


def forget_talk(tx: Tx, instance: Instance, seq: int) -> None:
    """What was said up to this number."""
    _free(tx, instance.name)  # each time: a run that has begun meanwhile keeps its talk
    messages.forget(tx, instance.stream, seq)
    streams.forget_events(tx, instance.stream, seq)


def forget(tx: Tx, instance: Instance) -> None:
    """The last piece: what came meanwhile, and all that is no talk."""
    forget_talk(tx, instance, feed.end(tx, instance.stream).get(instance.stream, 0))
    search.forget(tx, Place(instance.name, instance.stream))
    boards.forget(tx, instance.name)
    flows.forget(tx, instance.name)
    workspaces.forget(tx, instance.name)
    teams.forget(tx, instance.name)
    proposals.forget(tx, instance.stream)
    requests.forget(tx, instance.stream)
    documents.forget(tx, instance.name)
    jobs.forget(tx, instance.stream)
    for agent in agents.all_of(tx, instance.stream):
        operations.forget(tx, agent)
        journal.forget(tx, agent)
        conversations.forget(tx, agent)
    for run in runs.ids(tx, instance.name):
        budgets.forget(tx, run)
        usage.forget(tx, run)
        stops.forget(tx, run)
    usage.forget(tx, instance.stream)
    stops.forget(tx, instance.stream)
    instances.forget(tx, instance.name)
    streams.forget(tx, instance.stream)
