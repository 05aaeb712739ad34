import pytest

from moot.core.json import Json
from moot.session.events import Called
from moot.session.report import Report
from tests.session.staging import Hall, agent, calls, reports

ROUTES = ("legal", "billing")


async def test_the_chosen_one_answers_with_the_request_and_the_message() -> None:
    hall = Hall()
    report = await hall.report(
        agent("desk", calls("handoff_to", agent="billing", message="They paid twice."), router=ROUTES),
        agent("legal", reports("never")),
        agent("billing", reports("Refunded.")),
        prompt="My bill is wrong.",
    )
    assert report == Report("Refunded.", "billing")
    assert hall.told("billing") == (
        "## ORIGINAL USER REQUEST\n\nMy bill is wrong.\n\n"
        "## MESSAGE FROM AGENT `desk` WHO ROUTED THIS REQUEST TO YOU\n\nThey paid twice."
    )


async def test_without_a_message_there_is_no_section_for_it() -> None:
    hall = Hall()
    await hall.report(
        agent("desk", calls("handoff_to", agent="legal"), router=ROUTES),
        agent("legal", reports("ok")),
        agent("billing", reports("never")),
        prompt="Sue them.",
    )
    assert hall.told("legal") == "## ORIGINAL USER REQUEST\n\nSue them."


async def test_a_router_that_reports_has_answered_itself() -> None:
    hall = Hall()
    report = await hall.report(
        agent("desk", reports("We are closed."), router=ROUTES), agent("legal"), agent("billing")
    )
    assert report == Report("We are closed.", "desk")
    assert set(hall.tools("desk")) == {"final_report", "handoff_to"}


@pytest.mark.parametrize("wrong", [{"agent": "kitchen"}, {}, {"agent": ["legal"]}, {"agent": "legal", "message": 3}])
async def test_a_choice_that_does_not_exist_is_refused_and_chosen_again(wrong: dict[str, Json]) -> None:
    hall = Hall()
    report = await hall.report(
        agent("desk", {"calls": [{"handoff_to": wrong}]}, calls("handoff_to", agent="legal"), router=ROUTES),
        agent("legal", reports("ok")),
        agent("billing"),
    )
    assert report.agent == "legal"
    assert hall.told("desk", 2).startswith("Nothing was passed on: ")


async def test_a_request_is_passed_on_once() -> None:
    hall = Hall()
    both: Json = {"calls": [{"handoff_to": {"agent": "x"}}, *({"handoff_to": {"agent": one}} for one in ROUTES)]}
    report = await hall.report(
        agent("desk", both, router=ROUTES), agent("legal", reports("ok")), agent("billing", reports("never"))
    )
    assert report == Report("ok", "legal")
    told = [event for _, event in hall.events if isinstance(event, Called) and event.tool == "handoff_to"]
    assert [one.is_error for one in told] == [True, False, True]
    assert told[2].why == "Nothing was passed on: it was passed on to legal already."


async def test_a_choice_with_what_nobody_knows_is_not_made() -> None:
    hall = Hall()
    choices = calls("handoff_to", agent="b", note="x"), calls("handoff_to", agent="b", message=7), reports("by myself")
    assert (await hall.report(agent("a", *choices, router=("b",)), agent("b"))).text == "by myself"
    assert hall.told("a", 2) == "Nothing was passed on: `note` is no key of the arguments. Call it again."
    assert hall.told("a", 3) == "Nothing was passed on: `message` must be text, not a number. Call it again."


async def test_a_router_that_fails_routes_nowhere() -> None:
    hall = Hall()
    report = await hall.report(agent("desk", {"fail": "refused"}, router=ROUTES), agent("legal"), agent("billing"))
    assert (report.failure, hall.order()) == ("refused", ["desk"])


async def test_a_router_works_before_it_chooses() -> None:
    hall = Hall()
    await hall.report(
        agent(
            "desk", calls("agent_x", prompt="who?"), calls("handoff_to", agent="legal"), router=ROUTES, agents=("x",)
        ),
        agent("legal", reports("ok")),
        agent("billing"),
        agent("x", reports("legal")),
    )
    assert hall.order() == ["desk", "x", "desk", "legal"]
