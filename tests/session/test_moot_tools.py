"""Calls of moot's own tools: two that are alike are two, and one that is repeated is one, all over a tree."""

import asyncio

from moot.core.json import Json
from moot.session.agent import Agent
from moot.session.moot_tools import MootTools
from moot.store.store import Store
from tests.session.staging import Hall, agent, reports
from tests.tools.desk import Trial, open_desk

HELLO: Json = {"channel_send": {"message": "hello"}}


def tools(trial: Trial) -> MootTools:
    return MootTools([one for one in trial.toolbox.offered() if one.name == "channel_send"], trial.toolbox)


async def test_two_calls_alike_in_one_turn_are_two(store: Store) -> None:
    desk = await open_desk(store)
    trial = await desk.attempt(await desk.house.join("ann"))
    await Hall(sources=(tools(trial),)).report(agent("ann", {"calls": [HELLO, HELLO]}, reports("done")))
    assert await desk.said() == ["ann: hello"] * 2


async def test_whoever_comes_first_after_an_interruption_is_not_taken_for_the_one_before(store: Store) -> None:
    """Only the second of two who say the same had said it. The next time, the first of them is quicker."""
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    asked: Json = {"calls": [{"agent_slow": {"prompt": "x"}}, {"agent_quick": {"prompt": "x"}}]}
    greeters = [agent(name, {"calls": [HELLO]}, reports("said")) for name in ("slow", "quick")]
    cast: tuple[Agent, ...] = (agent("ann", asked, reports("done"), agents=("slow", "quick")), *greeters)

    first = await desk.attempt(ann, fence=1)
    hall = Hall(sources=(tools(first),))
    hall.held["slow"] = asyncio.Event()
    playing = asyncio.ensure_future(hall.play(*cast))
    await hall.until(lambda: hall.order().count("quick") == 2)
    playing.cancel()
    await asyncio.wait([playing])
    await desk.lose(first)
    assert await desk.said() == ["ann: hello"]

    second = await desk.attempt(ann, fence=2)
    assert (await Hall(hall.journal, (tools(second),)).report(*cast)).text == "done"
    assert await desk.said() == ["ann: hello"] * 2


async def test_a_call_that_was_made_and_is_not_on_record_is_not_made_twice(store: Store) -> None:
    desk = await open_desk(store)
    ann = await desk.house.join("ann")
    cast = agent("ann", {"calls": [HELLO, HELLO]}, reports("done"))
    for fence in (1, 2):
        trial = await desk.attempt(ann, fence=fence)
        await Hall(sources=(tools(trial),)).report(cast)
        await desk.lose(trial)
    assert await desk.said() == ["ann: hello"] * 2
