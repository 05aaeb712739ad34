"""More mail than an agent is given at once is read to its end, in order, batch by batch."""

from moot.bus import mailbox
from moot.core.tx import ReadTx
from moot.registry import agents, attempts
from moot.runner.attempts import BATCH
from moot.store.store import Store
from tests.runner.team import gather, make_host, running

COUNT = 2 * BATCH + 7


async def test_a_backlog_is_drained_in_batches_and_nothing_is_left_unread(store: Store) -> None:
    team = await gather(store, {"worker": [{"on": ".", "say": "noted"}], "other": [{"on": ".", "say": "noted"}]})
    said = [await team.say(f"@worker number {number}") for number in range(COUNT)]
    await team.say("nobody is meant by this")
    async with running(make_host(store)):
        await team.idle()
    begun = await team.events(attempts.STARTED)
    assert len(begun) == 3
    assert [[one.state for one in await team.receipts(each)] for each in said] == [["acked"]] * COUNT

    def delivered(tx: ReadTx) -> list[int]:
        """How many were handed out together, in the order of the messages."""
        at = [mailbox.receipts(tx, one.message.stream, one.message.seq)[0].delivered_at for one in said]
        assert at == sorted(moment for moment in at if moment is not None)
        return [at.count(moment) for moment in dict.fromkeys(at)]

    assert sum(await store.read(delivered)) == COUNT
    assert max(await store.read(delivered)) <= BATCH
    other = await store.read(lambda tx: agents.named(tx, team.instance.stream, "other"))
    assert [one for one in begun if one.data["agent"] == other.id] == [], "only who is mentioned is woken"
    assert (await team.inbox("worker"), await team.inbox("other")) == ([], [])


async def test_what_comes_while_a_backlog_is_drained_is_read_after_it(store: Store) -> None:
    line = {"on": "number", "calls": [{"channel_send": {"message": "@other go on"}}]}
    back = {"on": "go on", "calls": [{"channel_send": {"message": "@worker one more"}}]}
    team = await gather(store, {"worker": [line, {"on": "one more", "say": "that too"}], "other": [back]})
    for number in range(COUNT):
        await team.say(f"@worker number {number}")
    async with running(make_host(store)):
        await team.idle()
    assert (await team.inbox("worker"), await team.inbox("other")) == ([], [])
    assert any(one.sender == "other" for one in await team.channel())
