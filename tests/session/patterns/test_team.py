import asyncio
from dataclasses import dataclass
from datetime import datetime

import pytest

from moot.core.formats import Format
from moot.core.json import Json
from moot.core.teams import Team
from moot.models import keeping
from moot.session.agent import Agent, Limits
from moot.session.journal import Memory
from moot.session.patterns import broadcasting
from moot.session.patterns.broker import Broker
from tests.session.staging import Hall, agent, calls, reports


def says(message: str, **more: Json) -> Json:
    return calls("team_broadcast", message=message, **more)


@dataclass
class Session:
    answered_at: datetime
    turns: int = 1


WAITS: Json = {"say": "."}


def team(*members: str, **more: int) -> Agent:
    return agent("panel", team=Team(members, "lead", **more))


async def test_two_members_confer_and_the_supervisor_decides() -> None:
    hall = Hall()
    report = await hall.report(
        team("ann", "ben"),
        agent("ann", says("It is slow."), WAITS),
        agent("ben", says("It is safe.", final=True)),
        agent("lead", reports("Ship it.")),
        prompt="Ship it?",
    )
    assert (report.text, report.agent) == ("Ship it.", "lead")
    assert (hall.told("ann"), hall.told("ben")) == ("Ship it?", "Ship it?")
    told = hall.told("lead")
    assert told.index("Ship it?") < told.index("It is slow.") < told.index("It is safe.")
    assert hall.order()[-1] == "lead"


async def test_members_have_no_way_to_report_and_the_supervisor_has() -> None:
    hall = Hall()
    await hall.report(team("ann"), agent("ann", WAITS), agent("lead", reports("ok")))
    assert hall.tools("ann") == ["team_broadcast"]
    assert hall.tools("lead") == ["final_report", "team_broadcast"]


async def test_a_broadcast_tells_who_what_and_when() -> None:
    hall = Hall()
    await hall.report(team("ann"), agent("ann", says("Done.", final=True)), agent("lead", reports("ok")))
    told = hall.told("lead")
    assert '"type":"update","memberId":"ann","turnCount":1,"timestamp":"20' in told


async def test_the_supervisors_word_begins_the_next_cycle() -> None:
    hall = Hall()
    report = await hall.report(
        team("ann", "ben"),
        agent("ann", says("A1"), WAITS, says("A2"), WAITS),
        agent("ben", says("B1"), WAITS, says("B2"), WAITS),
        agent("lead", says("Think again."), reports("Enough.")),
    )
    assert report.text == "Enough."
    assert "Think again." in hall.told("ann", 3)
    assert "A1" in hall.told("ben", 3) or "A1" in hall.told("ben", 2)
    answer = hall.told("lead", 2)
    assert "A2" in answer
    assert "B2" in answer
    assert "A1" not in answer


async def test_nobody_hears_itself_or_anything_twice() -> None:
    hall = Hall()
    await hall.report(
        team("ann", "ben"),
        agent("ann", says("A1"), WAITS, says("A2"), WAITS),
        agent("ben", WAITS, WAITS),
        agent("lead", says("Go on."), reports("ok")),
    )
    heard = "".join(hall.told("ann", number) for number in (2, 3, 4))
    assert "A1" not in heard
    assert heard.count("Go on.") == 1


async def test_a_member_may_wait_without_a_word() -> None:
    hall = Hall()
    await hall.report(team("ann"), agent("ann", {"say": ""}), agent("lead", reports("ok")))
    assert hall.order() == ["ann", "lead"]


async def test_whoever_waits_without_a_word_is_heard_with_what_it_wrote() -> None:
    hall = Hall()
    await hall.report(team("ann"), agent("ann", {"say": "I only wrote this."}), agent("lead", reports("ok")))
    assert "I only wrote this." in hall.told("lead")


async def test_a_member_that_fails_is_gone_and_the_others_are_told() -> None:
    hall = Hall()
    report = await hall.report(
        team("ann", "ben"),
        agent("ann", {"fail": "auth"}),
        agent("ben", says("here"), WAITS, WAITS),
        agent("lead", says("Go on."), reports("ok")),
    )
    assert report.text == "ok"
    told = hall.told("lead")
    assert '"type":"failure","memberId":"ann"' in told
    assert "member ann failed and is no longer in the team. Reason: " in told
    assert "member ann failed" in "".join(hall.told("ben", number) for number in (1, 2, 3))
    assert hall.order().count("ann") == 1


async def test_a_member_can_say_that_it_failed() -> None:
    hall = Hall()
    await hall.report(
        team("ann", "ben"),
        agent("ann", says("The logs are gone.", failed=True)),
        agent("ben", WAITS, WAITS),
        agent("lead", says("Go on."), reports("ok")),
    )
    told = hall.told("lead")
    assert "member ann failed and is no longer in the team. Reason: The logs are gone." in told
    assert told.count("The logs are gone.") == 1
    assert hall.order().count("ann") == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"message": "bye", "is_last": True}, "`is_last` is no key of the arguments"),
        ({"message": "bye", "final": "true"}, "`final` must be true or false, not text"),
        ({"final": True}, "`message` is missing in the arguments"),
        ({"message": " ", "final": True}, "`message` is empty"),
        ({"message": ["bye"]}, "`message` must be text, not a list"),
    ],
)
async def test_a_broadcast_that_is_only_half_understood_is_not_made(arguments: dict[str, Json], why: str) -> None:
    hall = Hall()
    await hall.report(
        team("ann"), agent("ann", calls("team_broadcast", **arguments), WAITS), agent("lead", reports("ok"))
    )
    assert hall.told("ann", 2) == f"Nothing was said: {why}. Call it again."
    assert "bye" not in hall.told("lead")


async def test_broadcasts_keep_their_time_in_every_execution() -> None:
    memory = Memory()
    cast = team("ann"), agent("ann", says("It is slow."), WAITS), agent("lead", reports("ok"))
    first = Hall(memory)
    await first.report(*cast)
    broker = Broker(("ann",))
    answered = keeping.load(memory.all()[str(next(path for path in memory.all() if path.endswith("ann/t1/m")))].result)
    assert answered.at is not None
    broker.publish("update", "ann", "It is slow.", Session(answered.at))
    assert broker.news("lead")[0].told() in first.told("lead")


@pytest.mark.parametrize("words", ["x" * 60_000, "字" * 20_000])
async def test_a_member_is_told_no_more_than_it_can_hold(words: str) -> None:
    hall = Hall()
    small = Limits(context_tokens=20_000)
    await hall.report(
        team("ann", "ben"),
        agent("ann", says(words, final=True)),
        agent("ben", WAITS, WAITS, limits=small),
        agent("lead", says("Go on."), reports("ok")),
    )
    heard = "".join(hall.told("ben", number) for number in range(1, hall.order().count("ben") + 1))
    assert words not in heard
    assert "more than you can be told" in heard


async def test_a_member_that_would_report_json_is_asked_for_no_report() -> None:
    hall = Hall()
    await hall.report(
        team("ann"),
        agent("ann", {"say": "hm"}, WAITS, output=Format("json", {"type": "object"})),
        agent("lead", says("Go on."), reports("ok")),
    )
    assert hall.order() == ["ann", "lead", "ann", "lead"]


async def test_the_supervisors_report_leaves_no_cycle_to_begin_beside_it() -> None:
    hall = Hall()
    last: Json = {"calls": [{"team_broadcast": {"message": "One more?"}}, {"final_report": {"report": "Enough."}}]}
    report = await hall.report(team("ann"), agent("ann", WAITS, WAITS), agent("lead", last))
    assert report.text == "Enough."
    assert hall.order() == ["ann", "lead"]


async def test_a_member_without_turns_left_is_gone() -> None:
    hall = Hall()
    await hall.report(
        team("ann", member_max_turns=2),
        agent("ann", says("one"), says("two"), says("three")),
        agent("lead", says("Go on."), reports("ok")),
    )
    assert "This is your last turn" in hall.told("ann", 2)
    assert "member ann failed and is no longer in the team. Reason: it gave no report in its last turn" in hall.told(
        "lead"
    )
    assert "Nobody heard it: all members have left the team." in hall.told("lead", 2)


async def test_a_supervisor_without_members_comes_to_an_end() -> None:
    hall = Hall()
    report = await hall.report(
        team("ann"),
        agent("ann", says("bye", final=True)),
        agent("lead", says("Anybody?"), says("Anybody?"), reports("never asked")),
    )
    assert report.failure == "limit"
    assert "all members have left the team" in report.error
    assert hall.tools("lead", 2) == ["final_report"]


async def test_rounds_are_bounded_by_the_supervisors_turns() -> None:
    hall = Hall()
    report = await hall.report(
        team("ann", supervisor_max_turns=3),
        agent("ann", *[WAITS] * 10),
        agent("lead", *[says("More.")] * 10),
    )
    assert (report.failure, hall.order().count("lead")) == ("limit", 3)


async def test_the_supervisors_report_cuts_short_whoever_waits_to_go_on() -> None:
    hall, before = Hall(), asyncio.all_tasks()
    cast = team("ann", "ben"), agent("ann", WAITS), agent("ben", WAITS), agent("lead", reports("done"))
    async with asyncio.timeout(10):
        assert (await hall.report(*cast)).text == "done"
    assert asyncio.all_tasks() == before


async def test_whoever_works_is_waited_for_and_cut_short_when_the_team_is_aborted() -> None:
    hall, before = Hall(held={"ben": asyncio.Event()}), asyncio.all_tasks()
    cast = team("ann", "ben"), agent("ann", WAITS), agent("ben", WAITS), agent("lead", reports("never"))
    playing = asyncio.ensure_future(hall.report(*cast))
    await hall.until(lambda: "ben" in hall.order())
    for _ in range(20):
        await asyncio.sleep(0)
    assert "lead" not in hall.order()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert asyncio.all_tasks() == before


async def test_a_team_of_many_is_heard_in_its_order() -> None:
    hall = Hall()
    names = [f"m{number}" for number in range(12)]
    await hall.report(
        team(*names),
        *(agent(name, says(f"from {name}.", final=True)) for name in names),
        agent("lead", reports("ok")),
    )
    told = hall.told("lead")
    places = [told.index(f"from {name}.") for name in names]
    assert places == sorted(places)


async def test_what_does_not_fit_is_dropped_and_the_supervisor_ends() -> None:
    hall = Hall()
    report = await hall.report(
        team("ann"),
        agent("ann", says("x" * (broadcasting.MOST + 1), final=True)),
        agent("lead", reports("What I have.")),
    )
    assert report.text == "What I have."
    told = hall.told("lead")
    assert "200,001 characters, which is more than you can be told" in told
    assert "This is your last turn" in told
    assert "xxx" not in told


async def test_what_does_not_fit_the_window_is_dropped_too() -> None:
    hall = Hall()
    await hall.report(
        team("ann"),
        agent("ann", WAITS, says("y" * 20_000), WAITS),
        agent("lead", says("Tell me more."), reports("ok"), limits=Limits(context_tokens=12_000)),
    )
    assert "yyy" not in hall.told("lead", 2)
    assert "This is your last turn" in hall.told("lead", 2)


async def test_a_silly_broadcast_is_refused() -> None:
    hall = Hall()
    await hall.report(
        team("ann"), agent("ann", calls("team_broadcast"), says("  "), WAITS), agent("lead", reports("ok"))
    )
    assert hall.told("ann", 2).startswith("Nothing was said")
    assert hall.told("ann", 3).startswith("Nothing was said")


@pytest.mark.parametrize(("last", "state"), [(reports("ok"), "done"), ({"fail": "refused"}, "failed")])
async def test_who_leads_a_team_is_on_record_like_everybody_else(last: Json, state: str) -> None:
    memory = Memory()
    cast = (agent("root", reports("go"), handoff="panel"), team("ann"), agent("ann", WAITS), agent("lead", last))
    await Hall(memory).report(*cast)
    known = memory.known("h")
    assert known is not None
    assert known.state == state
    assert known == memory.known("h/boss")


async def test_a_team_that_has_reported_is_gone_when_its_supervisor_is_asked_again() -> None:
    hall = Hall()
    report = await hall.report(
        agent(
            "root",
            calls("agent_panel", prompt="go"),
            calls("ask_clarification", id="panel-t1.c1", question="Are you sure?"),
            reports("fine"),
            agents=("panel",),
        ),
        agent("panel", team=Team(("ann",), "lead"), is_chatty=True),
        agent("ann", says("A1"), *[WAITS] * 9),
        agent("lead", reports("done"), says("Are we sure?"), reports("sure")),
    )
    assert report.text == "fine"
    assert "Nobody heard it: all members have left the team." in hall.told("lead", 3)
    assert '"content":"sure"' in hall.told("root", 3)


async def test_a_member_may_have_any_name() -> None:
    memory = Memory()
    cast = team("boss", "t1"), agent("boss", WAITS), agent("t1", says("hi", final=True)), agent("lead", reports("ok"))
    assert (await Hall(memory).report(*cast)).text == "ok"
    again = Hall(memory)
    assert (await again.report(*cast)).text == "ok"
    assert again.asked == []
    assert {"team/boss/t1/m", "team/t1/t1/m", "boss/t1/m"} <= set(memory.all())


async def test_what_was_dropped_is_not_told_after_a_resume_either() -> None:
    memory = Memory()
    asks = calls("ask_clarification", id="panel-t1.c1", question="Are you sure?")
    others = (
        agent("panel", team=Team(("ann",), "lead"), is_chatty=True),
        agent("ann", says("x" * (broadcasting.MOST + 1), final=True)),
        agent("lead", reports("What I have."), reports("sure")),
    )
    calling = calls("agent_panel", prompt="go")
    await Hall(memory).report(agent("root", calling, {"fail": "unavailable"}, agents=("panel",)), *others)
    hall = Hall(memory)
    assert (await hall.report(agent("root", calling, asks, reports("ok"), agents=("panel",)), *others)).text == "ok"
    assert hall.order() == ["root", "lead", "root"]
    assert "more than you can be told" not in hall.told("lead")


async def test_what_a_member_said_in_vain_is_not_heard_after_a_resume_either() -> None:
    memory = Memory()
    refused: Json = {"calls": [{"team_broadcast": {"message": "A2"}}], "stop": "refusal"}
    others = team("ann", "ben"), agent("ann", says("A1"), refused), agent("lead", reports("ok"))
    assert (await Hall(memory).report(*others, agent("ben", {"fail": "rate_limit"}))).is_put_off
    hall = Hall(memory)
    assert (await hall.report(*others, agent("ben", WAITS))).text == "ok"
    assert hall.order() == ["ben", "lead"]
    assert ("A1" in hall.told("lead"), "A2" in hall.told("lead")) == (True, False)
