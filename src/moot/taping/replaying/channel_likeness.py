"""Compares what was said in a run with what was said in the recording of it."""

from collections.abc import Callable, Sequence

from moot.bus import messages
from moot.bus.messages import Message
from moot.core.ids import MessageId
from moot.core.tx import ReadTx
from moot.registry.runs import Run
from moot.store.store import Store
from moot.taping.replaying.likeness import lasting
from moot.taping.tape import Said

Plain = Callable[[str], str]  # makes a text comparable with the tape
_PAGE = 1000
_SHOWN = 80


async def compare(store: Store, run: Run, recorded: Sequence[Said], plain: Plain) -> list[str]:
    """Where the two part for the first time; nothing if they are alike."""
    now = await store.read(lambda tx: said_in(tx, run))
    for number, (old, new) in enumerate(zip(recorded, now, strict=False), 1):
        if _said(old, plain) != _said(new, plain):
            shown = f"{_shown(new.sender, new.body)} instead of {_shown(old.sender, old.body)}"
            return [f"the conversation differs at message {number}: {shown}"]
    if len(now) != len(recorded):
        return [f"there are {len(now)} messages instead of {len(recorded)}"]
    return []


def said_in(tx: ReadTx, run: Run) -> list[Message]:
    found: list[Message] = []
    seq = run.first_seq
    while page := messages.after(tx, run.stream, seq, _PAGE):
        found += page
        seq = page[-1].seq
    return found


def count_of_moot(tx: ReadTx, run: Run) -> int:
    """How often moot itself has spoken."""
    return sum(1 for one in said_in(tx, run) if one.sender == "system")


def counterpart(tx: ReadTx, run: Run, recorded: Sequence[Said], id: str, plain: Plain) -> MessageId | None:
    """What a recorded message is now: the one that says the same, and as many alike before it."""
    old = next((one for one in recorded if one.id == id), None)
    if old is None:
        return None
    words = _said(old, plain)
    alike = sum(1 for one in recorded if one.seq < old.seq and _said(one, plain) == words)
    found = [one.id for one in said_in(tx, run) if _said(one, plain) == words]
    return found[alike] if alike < len(found) else None


def _said(one: Said | Message, plain: Plain) -> tuple[str, str]:
    return one.sender, lasting(plain(one.body))


def _shown(sender: str, body: str) -> str:
    return f"{sender}: {' '.join(body.split())[:_SHOWN]!r}"
