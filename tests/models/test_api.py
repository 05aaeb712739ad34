import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from moot.core import json, quota
from moot.core.clock import SystemClock
from moot.models import opening
from moot.models.endpoints import Wire
from moot.models.model import Again, Call, Kind, ModelFailed, Request, Result, Results, Said, Stop
from moot.models.model import Answer as Before
from tests import fake_models
from tests.fake_models import (
    Answer,
    Cut,
    Dropped,
    ErrorEvent,
    Hang,
    Malformed,
    Reply,
    Status,
    Text,
    Used,
    call,
    calls,
    rate_limited,
    say,
)
from tests.models import asking
from tests.models.asking import KEY, QUICK, WIRES

pytestmark = pytest.mark.parametrize("wire", WIRES)
BERN, URI = '{"city":"Bern"}', '{"city":"Uri"}'
LONG = say("a text that takes several events 🌦 to tell")


async def test_text_comes_in_pieces_and_then_as_an_answer(wire: Wire) -> None:
    async with asking.model(wire, [LONG]) as (server, model):
        got = await asking.answer(model, asking.request("grüß dich"))
    assert (got.text, got.calls, got.stop) == ("a text that takes several events 🌦 to tell", (), "end")
    asked = server.asked[0]
    assert (asked.last_text, asked.system, asked.tools) == ("grüß dich", "Be kind.", ("weather",))


async def test_calls_in_parallel_go_out_and_their_results_go_back(wire: Wire) -> None:
    first = calls(
        fake_models.Call("weather", {"city": "Bern"}, "c1"), fake_models.Call("weather", {"city": "Uri"}, "c2")
    )
    async with asking.model(wire, [first, say("done")]) as (server, model):
        given = asking.request()
        got = await asking.answer(model, given)
        assert got.calls == (Call("c1", "weather", BERN), Call("c2", "weather", URI))
        assert got.stop == "tools"
        one, other = got.calls
        results = Results((Result(one, "sunny"), Result(other, "no such place", is_error=True)), "You have mail.")
        await asking.answer(model, replace(given, messages=(*given.messages, got, results)))
    asked = server.asked[1]
    bern, uri = asked.results
    assert (bern.id, bern.name, uri.id, uri.name) == ("c1", "weather", "c2", "weather")
    assert "sunny" in bern.text
    assert "no such place" in uri.text
    assert uri.is_error or "error" in uri.text
    assert asked.last_text == "You have mail."
    assert [one.name for turn in asked.turns for one in turn.calls] == ["weather", "weather"]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
async def test_an_answer_says_why_it_ends(wire: Wire, stop: Stop) -> None:
    async with asking.model(wire, [say("I would rather", stop=stop)]) as (_, model):  # pyright: ignore[reportArgumentType]
        got = await asking.answer(model, asking.request())
    assert (got.stop, got.text) == (stop, "I would rather")


async def test_an_answer_without_a_word_is_an_answer(wire: Wire) -> None:
    async with asking.model(wire, [Reply(())]) as (_, model):
        got = await asking.answer(model, asking.request())
    assert (got.text, got.calls, got.stop) == ("", (), "end")


async def test_an_answer_without_a_word_can_be_gone_on_with(wire: Wire) -> None:
    async with asking.model(wire, [Reply(()), say("oh")]) as (server, model):
        given = asking.request()
        first = await asking.answer(model, given)
        await asking.answer(model, replace(given, messages=(*given.messages, first, Said("and?"))))
    assert server.asked[1].last_text.endswith("and?")
    said = server.asked[1].body.get("messages", ())
    assert '"text":""' not in json.dumps(said)


async def test_arguments_that_are_no_json_come_as_they_are(wire: Wire) -> None:
    if wire == "google":
        pytest.skip("its arguments are an object on the wire")
    torn = Reply((fake_models.Call("weather", id="c1", raw='{"city": "Be'),), "max_tokens")
    async with asking.model(wire, [torn]) as (_, model):
        got = await asking.answer(model, asking.request())
    assert got.calls == (Call("c1", "weather", '{"city": "Be'),)
    assert got.stop == "max_tokens"


async def test_usage_is_what_the_provider_tells(wire: Wire) -> None:
    async with asking.model(wire, [say("hi", used=Used(1000, 50, cache_read=400))]) as (_, model):
        got = await asking.answer(model, asking.request())
    assert (got.usage.input_tokens, got.usage.output_tokens, got.usage.cache_read_tokens) == (1000, 50, 400)
    assert got.usage.cost > 0
    assert got.usage.is_estimated  # at an address that is not the provider's, nobody knows the price


FAULTS: list[tuple[Answer, Kind]] = [
    (Status(400, "too odd"), "refused"),
    (Status(401, "wrong key"), "auth"),
    (Status(403, "not yours"), "auth"),
    (Status(404, "no such model"), "refused"),
    (rate_limited(7), "rate_limit"),
    (Status(500, "oh"), "unavailable"),
    (Status(529, "Overloaded"), "unavailable"),
    (Dropped(), "unavailable"),
    (Dropped(LONG, after=2), "unavailable"),
    (Cut(LONG, after=2), "unavailable"),
    (ErrorEvent(LONG, after=1), "unavailable"),
    (Malformed(), "error"),
    (Malformed(LONG, after=2), "error"),
]


@pytest.mark.parametrize(("fault", "kind"), FAULTS, ids=[str(one)[:30] for one, _ in FAULTS])
async def test_every_fault_has_its_kind_and_is_made_once(wire: Wire, fault: Answer, kind: Kind) -> None:
    async with asking.model(wire, [fault]) as (server, model):
        with pytest.raises(ModelFailed) as caught:
            await asking.progress(model, asking.request())
    assert (caught.value.kind, server.surplus) == (kind, 0)


@pytest.mark.parametrize("told", ["90", "90.5", "date"])
async def test_a_rate_limit_says_until_when(wire: Wire, told: str) -> None:
    before = datetime.now(UTC)
    after = format_datetime(before + timedelta(seconds=95), usegmt=True) if told == "date" else told
    async with asking.model(wire, [Status(429, "slower", {"retry-after": after})]) as (_, model):
        with pytest.raises(ModelFailed) as caught:
            await asking.progress(model, asking.request())
    assert caught.value.until is not None
    assert 90 <= (caught.value.until - before).total_seconds() < 120


async def test_an_account_that_is_used_up_is_not_waited_for(wire: Wire) -> None:
    words = "You exceeded your current quota, please check your plan and billing details."
    kinds: list[tuple[str, str]] = []
    for answer in (Status(429, words), Status(429, words, {"retry-after": "7"}), Status(429, words + " Retry in 7s.")):
        async with asking.model(wire, [answer]) as (_, model):
            with pytest.raises(ModelFailed) as caught:
                await asking.progress(model, asking.request())
        kinds.append((caught.value.kind, str(caught.value).rpartition("). ")[2]))
    assert kinds[0] == ("refused", quota.REMEDY)
    assert [kind for kind, _ in kinds[1:]] == ["rate_limit", "rate_limit"]


@pytest.mark.parametrize("after", [0, 3])
async def test_a_model_that_falls_silent_has_failed(wire: Wire, after: int) -> None:
    hang = Hang(LONG, after=after) if after else Hang()
    async with asking.model(wire, [hang], idle=0.3) as (server, model):
        with pytest.raises(ModelFailed) as caught:
            await asking.progress(model, asking.request())
        await server.until_quiet()
    assert caught.value.kind == "timeout"


async def test_nobody_at_the_address_is_unavailable(wire: Wire) -> None:
    nobody = asking.endpoint(wire, fake_models.nobody())
    async with opening.opened(nobody, SystemClock(), asking.ONCE) as model:
        with pytest.raises(ModelFailed) as caught:
            await asking.progress(model, asking.request())
    assert caught.value.kind == "unavailable"


async def test_what_may_go_better_is_asked_again_and_told(wire: Wire) -> None:
    answers = [Status(500), Dropped(LONG, after=3), Status(529), say("at last")]
    async with asking.model(wire, answers, QUICK) as (server, model):
        *before, last = await asking.progress(model, asking.request())
    assert [one.kind for one in before if isinstance(one, Again)] == ["unavailable"] * 3
    assert getattr(last, "text", "") == "at last"
    assert (len(server.asked), server.surplus) == (4, 0)


@pytest.mark.parametrize("fault", [Dropped(LONG, after=3), Cut(LONG, after=3)], ids=["dropped", "cut"])
async def test_an_answer_that_broke_off_may_have_been_billed(wire: Wire, fault: Answer) -> None:
    if wire == "chat" and isinstance(fault, Cut):
        pytest.skip("servers that are compatible need not say why they end: see below")
    async with asking.model(wire, [fault, say("at last")], QUICK) as (_, model):
        told = await asking.progress(model, asking.request())
    (used,) = [one.used for one in told if isinstance(one, Again)]
    assert used.is_estimated
    assert used.input_tokens > 0
    assert used.output_tokens > 0
    assert used.cost > 0


async def test_asking_again_has_an_end(wire: Wire) -> None:
    async with asking.model(wire, lambda _: Status(500, "still broken"), QUICK) as (server, model):
        with pytest.raises(ModelFailed, match="still broken"):
            await asking.progress(model, asking.request())
    assert len(server.asked) == QUICK.tries


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_what_would_fail_again_is_not_asked_again(wire: Wire, status: int) -> None:
    async with asking.model(wire, [Status(status)], QUICK) as (server, model):
        with pytest.raises(ModelFailed):
            await asking.progress(model, asking.request())
    assert server.surplus == 0


async def test_cancelling_ends_the_request(wire: Wire) -> None:
    async with asking.model(wire, [Hang(LONG, after=3)]) as (server, model):
        asking_for_it = asyncio.create_task(asking.progress(model, asking.request()))
        await server.until_asked()
        asking_for_it.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking_for_it
        await server.until_quiet()


async def test_a_huge_prompt_arrives_whole(wire: Wire) -> None:
    huge = "длинный 长 " * 100_000
    async with asking.model(wire, [say("read")]) as (server, model):
        await asking.answer(model, Request((Said(huge),)))
    assert server.asked[0].last_text == huge


@pytest.mark.parametrize("fault", [Status(401, f"wrong key {KEY}"), Status(500, f"for {KEY}: sk-ant-api03-XyZ12345")])
async def test_no_key_stands_in_an_error(wire: Wire, fault: Status) -> None:
    async with asking.model(wire, [fault]) as (server, model):
        with pytest.raises(ModelFailed) as caught:
            await asking.progress(model, asking.request())
    error = caught.value
    assert KEY in str(server.asked[0].headers)  # it was sent, so that it could have come back
    for text in (str(error), repr(error), error.fact, error.remedy):
        assert KEY not in text
        assert "XyZ12345" not in text
    assert error.__suppress_context__


async def test_a_call_without_arguments_has_an_empty_object(wire: Wire) -> None:
    async with asking.model(wire, [call("weather")]) as (_, model):
        got = await asking.answer(model, asking.request())
    assert [one.arguments for one in got.calls] == ["{}"]


async def test_an_answer_made_elsewhere_can_be_gone_on_with(wire: Wire) -> None:
    """What was said by another model, or by none, is told again in this wire's words."""
    async with asking.model(wire, [say("go on")]) as (server, model):
        asked = Call("x1", "weather", BERN)
        before = Before("let me look", (asked,), "tools")
        given = replace(asking.request(), messages=(Said("hi"), before, Results((Result(asked, "sunny"),))))
        await asking.answer(model, given)
    assert [one.name for turn in server.asked[0].turns for one in turn.calls] == ["weather"]
    assert "sunny" in server.asked[0].text


async def test_text_and_calls_keep_their_order(wire: Wire) -> None:
    both = Reply((Text("First I look."), fake_models.Call("weather", {"city": "Bern"}, "c1")), "tools")
    async with asking.model(wire, [both]) as (_, model):
        got = await asking.answer(model, asking.request())
    assert (got.text, got.calls) == ("First I look.", (Call("c1", "weather", BERN),))


async def test_an_answer_is_bound_to_what_is_set_aside_for_it(wire: Wire) -> None:
    async with asking.model(wire, [say("ok")]) as (server, model):
        await asking.progress(model, replace(asking.request(), max_tokens=900, bound=700))
    (asked,) = server.asked
    assert "700" in str(asked.body)
    assert "900" not in str(asked.body)
