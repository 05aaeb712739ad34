from moot.core.json import Json
from moot.core.teams import Team
from moot.session.report import Report
from tests.session.staging import Hall, agent, calls, reports

WAITS: Json = {"say": "."}


def says(message: str, **more: Json) -> Json:
    return calls("team_broadcast", message=message, **more)


async def test_advisors_are_heard_by_the_first_of_a_chain_only() -> None:
    hall = Hall()
    await hall.report(
        agent("a", reports("a's"), handoff="b", advisors=("x",)), agent("b", reports("b's")), agent("x", reports("x's"))
    )
    assert "x's" in hall.told("a")
    assert hall.told("b") == "a's"


async def test_a_router_may_lead_into_a_chain() -> None:
    hall = Hall()
    report = await hall.report(
        agent("desk", calls("handoff_to", agent="a"), router=("a",)),
        agent("a", reports("a's"), handoff="b"),
        agent("b", reports("b's")),
    )
    assert report == Report("b's", "b")


async def test_an_advisor_may_be_a_router() -> None:
    hall = Hall()
    await hall.report(
        agent("boss", reports("ok"), advisors=("desk",)),
        agent("desk", calls("handoff_to", agent="law"), router=("law",)),
        agent("law", reports("law's")),
    )
    assert "### From desk\n\nlaw's" in hall.told("boss")


async def test_a_chain_may_end_in_a_team() -> None:
    hall = Hall()
    report = await hall.report(
        agent("a", reports("the plan"), handoff="panel"),
        agent("panel", team=Team(("ann",), "lead"), prompt="You are a panel."),
        agent("ann", says("fine", final=True)),
        agent("lead", reports("agreed")),
    )
    assert report == Report("agreed", "lead")
    assert hall.told("ann") == "You are a panel.\n\nthe plan"


async def test_a_team_may_hand_over() -> None:
    hall = Hall()
    report = await hall.report(
        agent("panel", team=Team(("ann",), "lead"), handoff="scribe"),
        agent("ann", says("fine", final=True)),
        agent("lead", reports("agreed")),
        agent("scribe", reports("written")),
    )
    assert report == Report("written", "scribe")
    assert hall.told("scribe") == "agreed"


async def test_the_last_of_a_chain_takes_part_in_the_team() -> None:
    hall = Hall()
    await hall.report(
        agent("panel", team=Team(("a",), "lead")),
        agent("a", reports("prepared"), handoff="b"),
        agent("b", says("from b"), WAITS, says("b again"), WAITS),
        agent("lead", says("go on"), reports("ok")),
    )
    assert hall.tools("a") == ["final_report"]
    assert hall.tools("b") == ["team_broadcast"]
    assert hall.told("b") == "prepared"
    assert "### From a" in hall.told("lead")
    assert "b again" in hall.told("lead", 2)


async def test_a_chain_that_breaks_is_a_member_that_fails() -> None:
    hall = Hall()
    await hall.report(
        agent("panel", team=Team(("a", "c"), "lead")),
        agent("a", {"fail": "refused"}, handoff="b"),
        agent("b", WAITS),
        agent("c", WAITS),
        agent("lead", reports("ok")),
    )
    assert "member a failed and is no longer in the team. Reason: the chain broke at a" in hall.told("lead")


async def test_a_team_within_a_team_speaks_with_its_supervisors_report() -> None:
    hall = Hall()
    report = await hall.report(
        agent("outer", team=Team(("inner", "ann"), "lead")),
        agent("inner", team=Team(("ben",), "boss")),
        agent("ann", WAITS),
        agent("ben", says("from ben", final=True)),
        agent("boss", reports("inner agrees")),
        agent("lead", reports("ok")),
    )
    assert report.text == "ok"
    assert "### From inner" in hall.told("lead")
    assert "inner agrees" in hall.told("lead")


async def test_a_member_that_is_a_router_and_answers_itself_has_said_its_last_word() -> None:
    hall = Hall()
    await hall.report(
        agent("panel", team=Team(("desk",), "lead")),
        agent("desk", reports("closed"), router=("law",)),
        agent("law"),
        agent("lead", reports("ok")),
    )
    assert "closed" in hall.told("lead")


async def test_a_sub_agent_may_be_a_team_and_be_asked_again() -> None:
    hall = Hall()
    await hall.report(
        agent(
            "a",
            calls("agent_panel", prompt="?"),
            calls("ask_clarification", id="panel-t1.c1", question="Sure?"),
            reports("ok"),
            agents=("panel",),
        ),
        agent("panel", team=Team(("ann",), "lead"), is_chatty=True),
        agent("ann", says("bye", final=True)),
        agent("lead", reports("agreed"), reports("sure")),
    )
    assert '"content":"sure"' in hall.told("a", 3)
