"""An agent's timeout holds for all who work for it or answer in its place, and for nobody who only waits."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from moot.core.hours import Hours
from moot.core.json import Json
from moot.core.teams import Team
from moot.session.agent import Agent, Limits
from moot.session.journal import Done, Intent, Memory, OverBudget
from moot.session.term import Term, TimeIsUp
from tests import plain_loop
from tests.session.staging import Hall, agent, calls, reports

anyio_backend = plain_loop.anyio_backend

WAITS: Json = {"say": "."}
TEN = Limits(timeout=timedelta(seconds=10))
Patient = Callable[[], tuple[Agent, ...]]


def alone() -> tuple[Agent, ...]:
    return (agent("hangs", limits=TEN),)


def advised() -> tuple[Agent, ...]:
    return agent("slow", advisors=("quick", "hangs"), limits=TEN), agent("quick", reports("q")), agent("hangs")


def calling() -> tuple[Agent, ...]:
    return agent("slow", calls("agent_hangs", prompt="?"), agents=("hangs",), limits=TEN), agent("hangs")


def handing_over() -> tuple[Agent, ...]:
    return agent("slow", reports("on"), handoff="hangs", limits=TEN), agent("hangs")


def routing() -> tuple[Agent, ...]:
    return agent("slow", calls("handoff_to", agent="hangs"), router=("hangs",), limits=TEN), agent("hangs")


def led() -> tuple[Agent, ...]:
    return agent("slow", team=Team(("ann",), "hangs"), limits=TEN), agent("ann", WAITS), agent("hangs")


def conferring() -> tuple[Agent, ...]:
    return agent("slow", team=Team(("hangs",), "lead"), limits=TEN), agent("hangs"), agent("lead")


async def pass_twenty_seconds(hall: Hall, name: str = "hangs", asked: int = 1) -> None:
    """From when somebody is asked for the nth time."""
    await hall.until(lambda: hall.order().count(name) == asked)
    plain_loop.set_forward(20)


@pytest.mark.parametrize("patient", [alone, advised, calling, handing_over, routing, led, conferring])
async def test_it_holds_for_all_it_leads_to_and_stays_so(patient: Patient) -> None:
    memory = Memory()
    hall = Hall(memory, held={"hangs": asyncio.Event()})
    slow, *others = patient()
    cast = agent("root", reports("without it"), advisors=(slow.name,)), slow, *others
    playing = asyncio.ensure_future(hall.report(*cast))
    await pass_twenty_seconds(hall)
    assert (await playing).text == "without it"
    assert "it failed (timeout): " in hall.told("root")
    assert f"{slow.name} ran longer than 10 s" in hall.told("root")
    assert memory.open_below("") == []  # what is cut off is over, and nothing stays set aside for it

    again = Hall(memory)
    assert (await again.report(*cast)).text == "without it"
    assert again.asked == []


async def test_whoever_waits_for_its_team_has_its_time_before_it() -> None:
    hall = Hall(held={"hangs": asyncio.Event()})
    cast = (
        agent("panel", team=Team(("ann", "hangs"), "lead")),
        agent("ann", WAITS, calls("team_broadcast", message="A2"), WAITS, limits=TEN),
        agent("hangs", WAITS, WAITS),
        agent("lead", calls("team_broadcast", message="again"), reports("done"), limits=TEN),
    )
    playing = asyncio.ensure_future(hall.report(*cast))
    await pass_twenty_seconds(hall)
    hall.held["hangs"].set()
    assert (await playing).text == "done"
    assert "A2" in hall.told("lead", 2)


async def test_who_is_asked_again_has_its_time_again_and_not_more() -> None:
    hall = Hall(held={"root": asyncio.Event()})
    asks = calls("ask_clarification", id="panel-t1.c1", question="sure?")
    cast = (
        agent("root", calls("agent_panel", prompt="go"), asks, reports("done"), agents=("panel",)),
        agent("panel", team=Team(("ann",), "hangs"), limits=TEN, is_chatty=True),
        agent("ann", WAITS),
        agent("hangs", reports("yes"), reports("never")),
    )
    playing = asyncio.ensure_future(hall.report(*cast))
    hall.held["root"].set()
    await hall.until(lambda: "hangs" in hall.order())
    hall.held["root"].clear()
    await pass_twenty_seconds(hall, "root", 2)
    hall.held["hangs"] = asyncio.Event()
    hall.held["root"].set()
    await pass_twenty_seconds(hall, "hangs", 2)
    assert (await playing).text == "done"
    assert '"status":"failed"' in hall.told("root", 3)
    assert "panel ran longer than 10 s" in hall.told("root", 3)


@pytest.mark.parametrize("patient", [alone, advised, calling, handing_over, routing, led, conferring])
async def test_it_stands_still_for_everybody_while_a_person_is_waited_for(patient: Patient) -> None:
    hours, hall = Hours(), Hall(held={"hangs": asyncio.Event()})
    slow, *others = patient()
    cast = agent("root", reports("without it"), advisors=(slow.name,)), slow, *others
    playing = asyncio.ensure_future(hall.report(*cast, hours=hours))
    await hall.until(lambda: "hangs" in hall.order())
    with hours.stand_still():
        await pass_twenty_seconds(hall)
        for _ in range(20):  # what would end it by now has had every occasion
            await asyncio.sleep(0)
        assert not playing.done()
        assert hall.order().count("root") == 0
    await pass_twenty_seconds(hall)
    assert (await playing).text == "without it"
    assert f"{slow.name} ran longer than 10 s" in hall.told("root")


async def test_it_stands_still_for_who_waits_for_its_share_and_for_nobody_else() -> None:
    class Held(Memory):
        """Another has set aside all that is left, until it has ended."""

        async def note(self, done: Sequence[Done] = (), begun: Sequence[Intent] = ()) -> None:
            mine = [one for one in begun if one.agent == "patient" and one.kind == "model"]
            is_short = bool(mine) and "adv/hangs/t1/m" in self.open_below("")
            await super().note(done, [one for one in begun if not (is_short and one in mine)])
            if is_short:
                raise OverBudget("not now", is_passing=True)

    hall = Hall(Held(), held={"hangs": asyncio.Event()})
    cast = (
        agent("root", reports("done"), advisors=("hangs", "patient")),
        agent("hangs", limits=TEN),
        agent("patient", reports("after all"), limits=TEN),
    )
    playing = asyncio.ensure_future(hall.report(*cast))
    await pass_twenty_seconds(hall)
    assert (await playing).text == "done"
    assert "hangs ran longer than 10 s" in hall.told("root")
    assert hall.told("root").endswith("### From patient\n\nafter all")


async def test_it_is_up_when_that_is_told_from_within_and_somebody_has_a_timeout() -> None:
    term = Term().joined(agent("a", limits=TEN)).joined(agent("b"))
    with pytest.raises(TimeIsUp, match="a ran longer than 10 s"):
        async with term.holds():
            raise TimeoutError
    with pytest.raises(TimeoutError):
        async with Term().joined(agent("b")).holds():
            raise TimeoutError
