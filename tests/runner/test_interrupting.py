"""Ending what an agent is doing: its host stops at once, its mail waits, and nothing it writes afterwards counts."""

import asyncio
from collections.abc import AsyncGenerator

from moot.backends.backend import Assignment, Ended, Progress
from moot.core.caller import SYSTEM
from moot.core.tool import ToolAnswer
from moot.core.tx import Tx
from moot.registry import agents, stopping
from moot.runner import endings
from moot.runner.reactions.wake_agents import wake
from moot.store.store import Store
from tests.runner.team import SECONDS, Team, gather, make_host, running


class Stubborn:
    """Goes on when it is told to end, and tries to speak."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.answer: asyncio.Future[ToolAnswer] = asyncio.get_running_loop().create_future()

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.answer.set_result(await assignment.toolbox.call("channel_send", {"message": "too late"}))
        yield Ended(text="never")


async def interrupt(team: Team, name: str, *, for_good: bool) -> bool:
    def change(tx: Tx) -> bool:
        agent = agents.named(tx, team.instance.stream, name)
        if for_good:
            stopping.stop(tx, agent)
        return endings.interrupt(tx, agent)

    return await team.store.write(change, caller=SYSTEM)


async def test_an_interrupted_attempt_ends_at_once_and_its_mail_waits(store: Store) -> None:
    team = await gather(store, {"coder": [{}]})
    backend = Stubborn()
    host = make_host(store, backend=backend)
    async with running(host):
        await team.say("@coder hello")
        async with asyncio.timeout(SECONDS):
            await backend.started.wait()
            assert await interrupt(team, "coder", for_good=True)
            await team.idle_but_for_mail()
            answer = await backend.answer
    assert answer.is_error
    assert "ATTEMPT_ENDED" in answer.text
    assert [mail.state for mail in await team.inbox("coder")] == ["queued"]
    assert await team.bodies() == ["human: @coder hello"]


async def test_a_released_agent_reads_what_waited(store: Store) -> None:
    team = await gather(store, {"coder": [{"say": "hello"}]})
    await team.say("@coder hello")
    assert not await interrupt(team, "coder", for_good=True)

    def release(tx: Tx) -> None:
        agent = agents.named(tx, team.instance.stream, "coder")
        stopping.release(tx, agent)
        wake(tx, agents.get(tx, agent.id))

    async with running(make_host(store)):
        await team.until(lambda tx: agents.named(tx, team.instance.stream, "coder").stopped_at is not None)
        await store.write(release, caller=SYSTEM)
        await team.idle()
    assert await team.bodies() == ["human: @coder hello", "coder: hello"]
