from contextlib import suppress
from datetime import timedelta
from typing import cast

import pytest

from moot.core.json import Json
from moot.models import scripted
from moot.models.model import Answer, Call, ModelFailed, Piece, Request, Result, Results, Said, Usage
from moot.models.scripted import ScriptedModel, ScriptInvalid
from moot.testing.clock import ManualClock
from tests.models import asking

ASKED = Request((Said("hi"),))


def test_only_what_is_known_can_be_written() -> None:
    with pytest.raises(ScriptInvalid, match="sya"):
        scripted.parse([{"sya": "hello"}])
    with pytest.raises(ScriptInvalid):
        scripted.parse([{"wait": "soon", "fail": "rate_limit"}])
    with pytest.raises(ScriptInvalid, match="takes"):
        scripted.parse([{"takes": "long"}])


async def test_answers_come_in_order_whatever_is_said(clock: ManualClock) -> None:
    lines = scripted.parse([{"calls": [{"vote": {"choice": "a"}}, {"inbox_check": {}}]}, {"say": "done"}])
    model = ScriptedModel(lines, clock)
    first = await asking.answer(model, ASKED)
    assert first.calls == (Call("call_0_0", "vote", '{"choice":"a"}'), Call("call_0_1", "inbox_check", "{}"))
    assert first.stop == "tools"
    results = Results(tuple(Result(one, "ok") for one in first.calls))
    second = await asking.answer(model, Request((Said("hi"), first, results)))
    assert (second.text, second.stop) == ("done", "end")


async def test_long_words_come_in_pieces(clock: ManualClock) -> None:
    *pieces, answer = await asking.progress(ScriptedModel(scripted.parse([{"say": "ab" * 50}]), clock), ASKED)
    assert pieces == [Piece("ab" * 20), Piece("ab" * 20), Piece("ab" * 10)]
    assert answer == Answer("ab" * 50)


async def test_a_failure_lasts_as_often_as_the_script_says(clock: ManualClock) -> None:
    model = ScriptedModel(scripted.parse([{"fail": "unavailable", "fails": 2, "say": "at last"}]), clock)
    for _ in range(2):
        with pytest.raises(ModelFailed) as caught:
            await asking.progress(model, ASKED)
        assert caught.value.kind == "unavailable"
    assert (await asking.answer(model, ASKED)).text == "at last"


async def test_a_rate_limit_has_its_moment(clock: ManualClock) -> None:
    model = ScriptedModel(scripted.parse([{"fail": "rate_limit", "wait": "90s"}]), clock)
    with pytest.raises(ModelFailed) as caught:
        await asking.progress(model, ASKED)
    assert caught.value.until == clock.now() + timedelta(seconds=90)


async def test_usage_is_what_the_script_says(clock: ManualClock) -> None:
    used = {"input_tokens": 10, "output_tokens": 5, "cost": 0.25, "estimated": True}
    got = await asking.answer(ScriptedModel(scripted.parse([{"say": "hi", "usage": used}]), clock), ASKED)
    assert got.usage == Usage(10, 5, cost=0.25, is_estimated=True)


async def test_a_script_that_has_ended_says_so(clock: ManualClock) -> None:
    model = ScriptedModel(scripted.parse([{"say": "hi"}]), clock)
    with pytest.raises(ModelFailed, match="has 1 answer, and was asked for one more") as caught:
        await asking.progress(model, Request((Said("hi"), Answer("hi"), Said("and?"))))
    assert caught.value.kind == "refused"  # which nobody tries again


async def test_a_script_that_has_ended_names_the_calls_that_had_failed(clock: ManualClock) -> None:
    model = ScriptedModel(scripted.parse([{"calls": [{"fly": {}}, {"walk": {}}]}]), clock)
    first = await asking.answer(model, ASKED)
    results = Results((Result(first.calls[0], "there is no\ntool 'fly'", is_error=True), Result(first.calls[1], "ok")))
    with pytest.raises(ModelFailed) as caught:
        await asking.progress(model, Request((Said("hi"), first, results)))
    told = "The script has 1 answer, and was asked for one more. Its call of fly had failed: there is no tool 'fly'"
    assert str(caught.value) == told


@pytest.mark.parametrize("line", [{"say": "at last"}, {"fail": "unavailable"}])
async def test_an_answer_and_a_failure_take_their_time(clock: ManualClock, line: Json) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    model = ScriptedModel(scripted.parse([{**cast(dict[str, Json], line), "takes": "2s"}]), clock, sleep)
    with suppress(ModelFailed):
        await asking.progress(model, ASKED)
    assert slept == [2.0]
