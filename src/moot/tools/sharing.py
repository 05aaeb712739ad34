"""What agents hold where the run that goes on shares neither a channel nor documents."""

from dataclasses import replace

from moot.core.caller import Caller
from moot.core.tx import ReadTx
from moot.documents import places
from moot.registry import runs
from moot.tools.groups import NAMES

SHARED = ("channel", "document")  # how the tools begin that agents without a context do not have


def unshared(named: tuple[str, ...]) -> tuple[str, ...]:
    """What is left of them where nothing is shared."""
    return tuple(one for one in named if not one.startswith(SHARED))


def as_now(tx: ReadTx, caller: Caller) -> Caller:
    """The caller with what it holds now, whenever it has joined. An attempt was given its tools with its run, and the
    operator keeps all."""
    if caller.agent is None or caller.attempt is not None or places.place(tx, caller.instance).is_kept:
        return caller
    if runs.live(tx, caller.instance) is None:
        return caller
    return replace(caller, groups=unshared(caller.groups or NAMES))
