"""Does looking into an inbox with ten unread messages cost more when a million were said before?

Both the look itself and handing mail out to an attempt are measured, in CPU time.
"""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from bench import history, loops, sending
from bench.harness import Figure, Scale, interleaved, micros
from moot.bus import mailbox
from moot.core.caller import SYSTEM, Caller
from moot.core.ids import AgentId, AttemptId
from moot.core.tx import Tx
from moot.store.store import Store
from moot.tools import dispatch

SMALL, BIG, QUICK_BIG = 1_000, 1_000_000, 100_000
LOOKS = 50
_ATTEMPT = AttemptId("at_bench")


@dataclass(frozen=True, slots=True)
class Inboxes:
    """A store with so much history, and two members with unread mail."""

    store: Store
    reader: AgentId  # looks again and again
    worker: AgentId  # is handed its mail, and fails


def measure(scale: Scale, folder: Path) -> list[Figure]:
    size = QUICK_BIG if scale.is_quick else BIG
    with loops.runner() as runner:
        small = runner.run(_build(folder / "small", SMALL))
        big = runner.run(_build(folder / "big", size))
        rounds = interleaved(
            scale,
            small=lambda: runner.run(_look(small)),
            big=lambda: runner.run(_look(big)),
            small_hand=lambda: runner.run(_hand_out(small)),
            big_hand=lambda: runner.run(_hand_out(big)),
        )
        for one in (small, big):
            runner.run(one.store.close())

    def figure(what: str, small: str, big: str) -> Figure:
        facts = (f"{micros(rounds.middle(big))} against {micros(rounds.middle(small))} of CPU; {rounds.count} rounds",)
        return Figure(f"{what}, at {size:,} messages, times {SMALL:,}", rounds.ratio(big, small), 1.2, "at most", facts)

    return [
        figure(f"inbox_check with {history.UNREAD} unread", "small", "big"),
        figure(f"handing {history.UNREAD} out and taking them back", "small_hand", "big_hand"),
    ]


async def _look(inboxes: Inboxes) -> float:
    """CPU seconds of one `inbox_check` over mail that was seen before."""
    caller = Caller("reader", "member", sending.INSTANCE, agent=inboxes.reader)
    await dispatch.perform(inboxes.store, caller, "inbox_check", {})
    cpu = time.process_time()
    for _ in range(LOOKS):
        answer = await dispatch.perform(inboxes.store, caller, "inbox_check", {})
        assert answer.text.count('"from"') == history.UNREAD, answer.text
    return (time.process_time() - cpu) / LOOKS


async def _hand_out(inboxes: Inboxes) -> float:
    """CPU seconds inside the transaction: the commit is not the question."""

    def change(tx: Tx) -> float:
        cpu = time.thread_time()
        for _ in range(LOOKS):
            found = mailbox.hand_out(tx, inboxes.worker, _ATTEMPT, 50)
            assert len(found) == history.UNREAD, found
            mailbox.take_back(tx, inboxes.worker, _ATTEMPT)
        return (time.thread_time() - cpu) / LOOKS

    return await inboxes.store.write(change, caller=SYSTEM)


async def _build(folder: Path, size: int) -> Inboxes:
    channel = await sending.open_channel(folder)
    members = (channel.reader, channel.sender)
    await asyncio.to_thread(history.add, folder / "moot.db", channel.stream, members, size)
    return Inboxes(channel.store, *members)
