import asyncio
import gc

import pytest

from moot.core import json
from moot.core.formats import Format
from moot.core.json import Json
from moot.session.agent import Limits
from moot.session.journal import Memory
from moot.session.session import Session
from tests.session.staging import Hall, agent, calls, reports


async def test_a_sub_agent_sees_its_prompt_alone_and_its_report_is_the_result() -> None:
    hall = Hall()
    report = await hall.report(
        agent("a", calls("agent_x", prompt="Look it up.", reason="I must know"), reports("done"), agents=("x",)),
        agent("x", reports("42"), description="Looks things up."),
    )
    assert report.text == "done"
    assert hall.told("x") == "Look it up."
    assert hall.told("a", 2) == "42"


async def test_several_work_at_the_same_time() -> None:
    hall = Hall()
    hall.held = {"x": asyncio.Event()}
    two: list[Json] = [{"agent_x": {"prompt": "one"}}, {"agent_x": {"prompt": "two"}}]
    cast = agent("a", {"calls": two}, reports("done"), agents=("x",)), agent("x", reports("ok"))
    playing = asyncio.ensure_future(hall.report(*cast))
    await hall.until(lambda: hall.order().count("x") == 2)
    hall.held["x"].set()
    assert (await playing).text == "done"


async def test_a_failure_is_told_to_the_parent_who_goes_on() -> None:
    hall = Hall()
    report = await hall.report(
        agent("a", calls("agent_x", prompt="?"), reports("without it"), agents=("x",)), agent("x", {"fail": "auth"})
    )
    assert report.text == "without it"
    assert hall.told("a", 2).startswith("x has no report: it failed (auth): ")


async def test_depth_has_a_limit() -> None:
    hall = Hall()
    limits = Limits(depth=1)
    await hall.report(
        agent("a", calls("agent_b", prompt="go"), reports("done"), agents=("b",), limits=limits),
        agent("b", calls("agent_c", prompt="go"), reports("alone"), agents=("c",), limits=limits),
        agent("c", reports("never")),
    )
    assert "1 deep, and this is one too many" in hall.told("b", 2)
    assert "c" not in hall.order()


async def test_the_least_depth_of_all_above_holds() -> None:
    hall = Hall()
    await hall.report(
        agent("a", reports("on"), handoff="b", limits=Limits(depth=1)),
        agent("b", calls("agent_c", prompt="go"), reports("done"), agents=("c",)),
        agent("c", calls("agent_d", prompt="go"), reports("alone"), agents=("d",)),
        agent("d", reports("never")),
    )
    assert "1 deep, and this is one too many" in hall.told("c", 2)
    assert "d" not in hall.order()


async def test_a_prompt_is_what_the_sub_agent_takes() -> None:
    hall = Hall()
    shape = Format("json", {"type": "object", "properties": {"risk": {"type": "integer"}}, "required": ["risk"]})
    await hall.report(
        agent(
            "a",
            calls("agent_x", prompt="high"),
            calls("agent_x", prompt={"risk": "high"}),
            calls("agent_x", prompt={"risk": 3}),
            reports("ok"),
            agents=("x",),
        ),
        agent("x", reports("it is 3"), input=shape),
    )
    assert hall.told("a", 2).startswith("INVALID_PROMPT: nothing was done, `prompt` is not what x takes: it is no JSON")
    assert hall.told("a", 3).endswith("`prompt` is not what x takes: 'high' is not of type 'integer' (at risk).")
    assert hall.told("a", 4) == "it is 3"
    assert hall.order().count("x") == 1


async def test_a_prompt_is_needed() -> None:
    hall = Hall()
    await hall.report(agent("a", calls("agent_x"), reports("ok"), agents=("x",)), agent("x"))
    assert hall.told("a", 2) == "Nothing was done: `prompt` is missing in the arguments. Call it again."


def answer(text: str) -> dict[str, Json]:
    return dict(json.load_object(text.split("\n\n---\n", maxsplit=1)[0].split("\n\n", maxsplit=1)[0]))


async def test_whoever_may_chat_is_asked_again_and_remembers() -> None:
    hall = Hall()
    await hall.report(
        agent(
            "a",
            calls("agent_x", prompt="Count."),
            calls("ask_clarification", id="x-t1.c1", question="Are you sure?"),
            reports("done"),
            agents=("x",),
        ),
        agent("x", reports("42"), reports("Yes."), is_chatty=True, limits=Limits(turns=5)),
    )
    assert hall.told("a", 2) == "42\n\n---\nTo ask further: ask_clarification(id='x-t1.c1', question=…). Turns left: 4."
    assert "ask_clarification" not in hall.tools("a", 1)
    assert "ask_clarification" in hall.tools("a", 2)
    assert "## CLARIFICATION REQUEST FROM a\n\nAre you sure?" in hall.told("x", 2)
    assert len(hall.asked[2][1].messages) == 3  # what it was asked first, its report, and this
    told = answer(hall.told("a", 3))
    assert told == {"status": "ok", "content": "Yes.", "clarificationId": "x-t1.c1", "turnsRemaining": 3}
    assert "Turns left: 3." in hall.told("a", 3)


@pytest.mark.parametrize("is_chatty", [True, False])
async def test_of_a_chain_whoever_has_answered_in_the_end_is_asked_again(is_chatty: bool) -> None:
    hall = Hall()
    await hall.report(
        agent("a", calls("agent_x", prompt="Count."), reports("done"), agents=("x",)),
        agent("x", reports("42"), handoff="y", is_chatty=not is_chatty),
        agent("y", reports("43"), is_chatty=is_chatty),
    )
    assert ("ask_clarification" in hall.tools("a", 2)) is is_chatty


async def test_a_router_that_has_answered_itself_passes_nothing_on_any_more() -> None:
    hall = Hall()
    await hall.report(
        agent(
            "a",
            calls("agent_desk", prompt="Who?"),
            calls("ask_clarification", id="desk-t1.c1", question="And now?"),
            reports("done"),
            agents=("desk",),
        ),
        agent(
            "desk",
            reports("I do."),
            calls("handoff_to", agent="x"),
            reports("Still me."),
            router=("x",),
            is_chatty=True,
        ),
        agent("x", reports("never asked")),
    )
    assert (hall.tools("desk", 1), hall.tools("desk", 2)) == (["final_report", "handoff_to"], ["final_report"])
    assert answer(hall.told("a", 3))["content"] == "Still me."


async def test_whoever_does_not_chat_cannot_be_asked() -> None:
    hall = Hall()
    await hall.report(
        agent(
            "a",
            {"calls": [{"agent_x": {"prompt": "?"}}, {"agent_y": {"prompt": "?"}}]},
            calls("ask_clarification", id="x-t1.c1", question="Why?"),
            reports("ok"),
            agents=("x", "y"),
        ),
        agent("x", reports("no chat")),
        agent("y", reports("chat"), is_chatty=True),
    )
    assert answer(hall.told("a", 3))["status"] == "chat_disabled"
    assert hall.order().count("x") == 1


async def test_why_nobody_can_be_asked_is_told_where_that_is_not_offered() -> None:
    hall = Hall()
    asks = calls("ask_clarification", id="x-t1.c1", question="Why?")
    cast = agent("a", calls("agent_x", prompt="?"), asks, reports("ok"), agents=("x",)), agent("x", reports("no chat"))
    await hall.report(*cast)
    assert "ask_clarification" not in hall.tools("a", 2)
    assert answer(hall.told("a", 3))["status"] == "chat_disabled"


async def test_whoever_has_no_turns_left_cannot_be_asked() -> None:
    hall = Hall()
    await hall.report(
        agent(
            "a",
            calls("agent_x", prompt="?"),
            calls("ask_clarification", id="x-t1.c1", question="Why?"),
            calls("ask_clarification", id="x-t1.c1", question="Why, why?"),
            reports("ok"),
            agents=("x",),
        ),
        agent("x", reports("one"), reports("two"), is_chatty=True, limits=Limits(turns=2)),
    )
    assert answer(hall.told("a", 3))["turnsRemaining"] == 0
    assert answer(hall.told("a", 4))["status"] == "clarification_no_turns"


async def test_who_is_asked_again_may_ask_its_own() -> None:
    hall = Hall()
    report = await hall.report(
        agent(
            "a",
            calls("agent_b", prompt="go"),
            calls("ask_clarification", id="b-t1.c1", question="And then?"),
            reports("done"),
            agents=("b",),
        ),
        agent(
            "b",
            calls("agent_c", prompt="go"),
            reports("b1"),
            calls("ask_clarification", id="c-t1.c1", question="Really?"),
            reports("b2"),
            agents=("c",),
            is_chatty=True,
        ),
        agent("c", reports("c1"), reports("c2"), is_chatty=True),
    )
    assert report.text == "done"
    assert hall.order() == ["a", "b", "c", "b", "a", "b", "c", "b", "a"]
    assert "## CLARIFICATION REQUEST FROM a:b\n\nReally?" in hall.told("c", 2)


async def test_nobody_unknown_is_asked() -> None:
    hall = Hall()
    await hall.report(
        agent(
            "a",
            calls("agent_x", prompt="?"),
            calls("ask_clarification", id="zoe", question="?"),
            reports("ok"),
            agents=("x",),
        ),
        agent("x", reports("hi"), is_chatty=True),
    )
    assert answer(hall.told("a", 3))["status"] == "unknown_child"


async def test_questions_of_one_turn_are_heard_one_after_the_other_in_their_order() -> None:
    two: Json = [{"ask_clarification": {"id": "x-t1.c1", "question": one}} for one in ("first?", "second?")]
    cast = (
        agent("a", calls("agent_x", prompt="?"), {"calls": two}, reports("done"), agents=("x",)),
        agent("x", reports("here"), calls("look"), reports("one"), calls("look"), reports("two"), is_chatty=True),
    )
    memory = Memory()
    for hall in Hall(memory), Hall(memory):
        assert (await hall.report(*cast)).text == "done"
        if hall.asked:
            assert hall.told("a", 3).index('"content":"one"') < hall.told("a", 3).index('"content":"two"')
            assert hall.told("x", 2).endswith("first?")
            assert hall.told("x", 4).endswith("second?")
    assert [str(memory.all()[f"t1/c1/s/q{number}"].facts["text"])[-6:] for number in (1, 2)] == ["first?", "econd?"]


async def test_behind_a_question_that_is_put_off_the_next_one_waits() -> None:
    two: Json = [{"ask_clarification": {"id": "x-t1.c1", "question": one}} for one in ("first?", "second?")]
    first = agent("a", calls("agent_x", prompt="?"), {"calls": two}, reports("done"), agents=("x",))
    limited: Json = {"fail": "rate_limit", "wait": "300s"}
    memory = Memory()
    report = await Hall(memory).report(first, agent("x", reports("here"), limited, is_chatty=True))
    assert report.is_put_off
    hall = Hall(memory)
    answers = reports("here"), calls("look"), reports("one"), reports("two")
    assert (await hall.report(first, agent("x", *answers, is_chatty=True))).text == "done"
    assert (hall.told("x", 1)[-6:], hall.told("x", 3)[-7:]) == ("first?", "second?")


async def test_who_is_called_in_the_same_turn_is_not_there_yet_however_fast_it_answers() -> None:
    cast = (
        agent(
            "a",
            {"calls": [{"agent_x": {"prompt": "?"}}, {"agent_y": {"prompt": "?"}}]},
            {"calls": [{"agent_x": {"prompt": "?"}}, {"ask_clarification": {"id": "x-t2.c1", "question": "?"}}]},
            reports("done"),
            agents=("x", "y"),
        ),
        agent("x", {"say": "x1"}, {"say": "never"}, is_chatty=True),
        agent("y", reports("y1"), is_chatty=True),
    )
    memory, hall = Memory(), Hall()
    hall.journal = memory
    await hall.report(*cast)
    assert "unknown_child" in hall.told("a", 3)
    again = Hall(memory)
    assert (await again.report(*cast)).text == "done"
    assert again.asked == []


def alive() -> int:
    gc.collect()
    return sum(isinstance(one, Session) for one in gc.get_objects())


async def test_whoever_stays_to_be_asked_again_is_gone_with_those_above() -> None:
    hall, before = Hall(held={"top": asyncio.Event()}), alive()
    hall.held["top"].set()
    cast = (
        agent("top", calls("agent_mid", prompt="?"), reports("done"), agents=("mid",)),
        agent("mid", calls("agent_low", prompt="?"), reports("m"), agents=("low",), is_chatty=True),
        agent("low", reports("l"), is_chatty=True),
    )
    playing = asyncio.ensure_future(hall.report(*cast))
    await hall.until(lambda: "low" in hall.order())
    hall.held["top"].clear()
    await hall.until(lambda: hall.order().count("top") == 2)
    assert alive() == before + 3
    hall.held["top"].set()
    assert (await playing).text == "done"
    del playing
    assert alive() == before
