import asyncio
from datetime import timedelta

import pytest

from moot.session.agent import Limits
from moot.session.events import Warned
from moot.session.report import Report
from tests.session.staging import Hall, agent, calls, reports


async def test_what_advisors_say_stands_under_the_request() -> None:
    hall = Hall()
    report = await hall.report(
        agent("boss", reports("Go."), advisors=("risk", "law")),
        agent("risk", reports("Low.")),
        agent("law", reports("Fine.")),
        prompt="Ship it?",
    )
    assert report == Report("Go.", "boss")
    assert (hall.told("risk"), hall.told("law")) == ("Ship it?", "Ship it?")
    assert hall.told("boss") == (
        "## ORIGINAL USER REQUEST\n\nShip it?\n\n## ANALYSIS GATHERED\n\n### From risk\n\nLow.\n\n### From law\n\nFine."
    )


@pytest.mark.parametrize(("letter", "most"), [("r", 80_000), ("字", 80_000 // 3)])
async def test_what_advisors_say_is_cut_to_what_the_agent_can_hold(letter: str, most: int) -> None:
    hall = Hall()
    await hall.report(
        agent("boss", reports("Go."), advisors=("risk", "law"), limits=Limits(context_tokens=40_000)),
        agent("risk", reports(letter * 200_000)),
        agent("law", reports("Fine.")),
    )
    told = hall.told("boss")
    assert "… (cut off: 200,000 characters in all)" in told
    assert "### From law\n\nFine." in told
    assert 10_000 < told.count(letter) < most
    assert "last turn" not in told


async def test_advisors_work_at_the_same_time() -> None:
    """Each holds the other until both are asked."""
    hall = Hall()
    hall.held = {"risk": asyncio.Event(), "law": asyncio.Event()}
    cast = (
        agent("boss", reports("Go."), advisors=("risk", "law")),
        agent("risk", reports("r")),
        agent("law", reports("l")),
    )
    playing = asyncio.ensure_future(hall.report(*cast))
    await hall.until(lambda: set(hall.order()) == {"risk", "law"})
    for held in hall.held.values():
        held.set()
    assert (await playing).text == "Go."


async def test_whoever_fails_is_heard_with_that_and_not_asked_again() -> None:
    hall = Hall()
    report = await hall.report(
        agent("boss", reports("Go."), advisors=("risk", "law")),
        agent("risk", {"fail": "unavailable"}),
        agent("law", reports("Fine.")),
    )
    assert report.failure is None
    warned = [(name, one.text) for name, one in hall.events if isinstance(one, Warned)]
    assert [(name, text.partition(":")[0]) for name, text in warned][-1:] == [
        ("boss", "The advisor risk failed (unavailable)")
    ]
    assert hall.order().count("risk") == 1
    assert "### From risk\n\nrisk has no report: it failed (unavailable): " in hall.told("boss")
    assert "### From law\n\nFine." in hall.told("boss")


async def test_whoever_takes_too_long_is_heard_with_that() -> None:
    hall = Hall()
    hall.held = {"risk": asyncio.Event()}
    report = await hall.report(
        agent("boss", reports("Go."), advisors=("risk",)),
        agent("risk", reports("late"), limits=Limits(timeout=timedelta(seconds=0.05))),
    )
    assert report.text == "Go."
    assert "it failed (timeout): risk ran longer than" in hall.told("boss")


async def test_all_may_fail() -> None:
    hall = Hall()
    report = await hall.report(
        agent("boss", reports("I decide alone."), advisors=("a", "b")),
        agent("a", {"fail": "auth"}),
        agent("b", reports("I cannot.", status="failure")),
    )
    assert report.text == "I decide alone."
    assert "b has no report: it failed (reported): I cannot." in hall.told("boss")


async def test_the_router_passes_the_request_on_as_it_came() -> None:
    hall = Hall()
    await hall.report(
        agent("desk", calls("handoff_to", agent="x"), router=("x",), advisors=("law",)),
        agent("x", reports("ok")),
        agent("law", reports("Fine.")),
        prompt="Ship it?",
    )
    assert "ANALYSIS GATHERED" in hall.told("desk")
    assert hall.told("x") == "## ORIGINAL USER REQUEST\n\nShip it?"
