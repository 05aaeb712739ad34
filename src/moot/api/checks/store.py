"""An open store, whichever database it is in: writing, hosts, parked mail."""

from collections.abc import AsyncIterator
from time import monotonic

from moot.api import check
from moot.api.check import Check
from moot.bus import mailbox
from moot.core.caller import SYSTEM
from moot.core.errors import MootError
from moot.core.tx import ReadTx
from moot.registry import agents, hosts, instances
from moot.runner import neighbours
from moot.store.store import Store


async def checks(store: Store) -> AsyncIterator[Check]:
    yield await _writer(store)
    for found in (_hosts, _parked):
        yield await store.read(found)


async def _writer(store: Store) -> Check:
    """An empty write takes its turn and every lock like any other, and leaves nothing."""
    started = monotonic()
    try:
        await store.write(lambda tx: None, caller=SYSTEM)
    except MootError as error:
        return check.failed("writing", error)
    return check.ok("writing", f"possible; it was our turn after {(monotonic() - started) * 1000:.0f} ms")


def _hosts(tx: ReadTx) -> Check:
    alive = hosts.alive(tx)
    gone = {host.id for host in neighbours.vanished_hosts(tx)}
    living = [host for host in alive if host.id not in gone]
    here = ", ".join(f"{host.machine.split('/')[0]} ({'+'.join(host.roles)})" for host in living) or "none is running"
    if gone:
        return check.problem(
            "hosts",
            f"{len(gone)} ended without a word; alive: {here}.",
            "What they had begun is taken up by the next moot serve.",
        )
    return check.ok("hosts", here if living else f"{here}; start one with: moot serve")


def _parked(tx: ReadTx) -> Check:
    """Mail whose attempts are used up."""
    found = {
        f"{agent.name}@{agent.instance}": count.parked
        for instance in instances.all_of(tx)
        for id, count in mailbox.counts(tx, instance.stream).items()
        for agent in (agents.get(tx, id),)
        if count.parked
    }
    if not found:
        return check.ok("parked", "no mail was given up")
    names = ", ".join(f"{count} for {name}" for name, count in found.items())
    return check.problem(
        "parked",
        f"Mail was given up: {names}.",
        "See moot inbox AGENT and moot log; try it again with moot retry AGENT@INSTANCE.",
    )
