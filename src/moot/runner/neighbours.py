"""Hosts and token bearers on this machine whose process is gone: their work is free at once, not after a lease."""

import platform
from functools import cache
from pathlib import Path

from moot.core.caller import SYSTEM
from moot.core.ids import HostId
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.process import identity
from moot.registry import hosts, tokens
from moot.registry.hosts import Host
from moot.registry.tokens import Bearer
from moot.store.store import Store
from moot.tools import succession

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@cache
def machine() -> str:
    """Names this machine until its next start: process numbers mean nothing beyond."""
    boot = _BOOT_ID.read_text(encoding="ascii").strip() if _BOOT_ID.exists() else ""
    return f"{platform.node()}/{boot}"


def vanished_hosts(tx: ReadTx) -> list[Host]:
    return [host for host in hosts.alive(tx) if host.machine == machine() and is_gone(host.process)]


def vanished_bearers(tx: ReadTx) -> list[Bearer]:
    here = f"{machine()}#"
    return [
        one for one in tokens.bearers(tx) if one.process.startswith(here) and is_gone(one.process.removeprefix(here))
    ]


async def see_to(store: Store) -> bool:
    """Look who is gone, and clear up after them. Whether anybody was."""
    gone, bearers = await store.read(lambda tx: (vanished_hosts(tx), vanished_bearers(tx)))
    if not gone and not bearers:
        return False
    await store.write(lambda tx: clear(tx, gone, bearers), caller=SYSTEM)
    return True


def clear(tx: Tx, gone: list[Host], bearers: list[Bearer]) -> None:
    """Take the work from hosts that are gone, and the tokens from processes that are."""
    for host in gone:
        hosts.stop(tx, host.id)
        jobs.abandon(tx, HostId(host.id))
    for bearer in bearers:
        succession.revoke(tx, bearer.id)
    if gone:
        tx.wake()


def is_gone(process: str) -> bool:
    return not identity.is_alive(identity.parse(process))
