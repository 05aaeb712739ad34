from dataclasses import replace

from moot.models.model import Answer, Said
from tests.fake_models import Used, say
from tests.models import asking

EPHEMERAL = {"type": "ephemeral", "ttl": "5m"}


async def test_tools_system_prompt_and_conversation_are_cached_at_anthropic() -> None:
    async with asking.model("anthropic", [say("hi")]) as (server, model):
        await asking.answer(model, asking.request())
    body = server.asked[0].body
    assert body["system"][-1]["cache_control"] == EPHEMERAL
    assert body["tools"][-1]["cache_control"] == EPHEMERAL
    assert body["cache_control"] == EPHEMERAL  # the provider puts it on the last block, and moves it as the talk grows


async def test_a_single_request_need_not_be_cached() -> None:
    async with asking.model("anthropic", [say("hi")]) as (server, model):
        await asking.answer(model, replace(asking.request(), is_cached=False))
    assert "cache_control" not in str(server.asked[0].body)


async def test_the_beginning_of_the_next_request_is_the_one_before() -> None:
    """Only what is the same to the letter is found in the cache."""
    async with asking.model("anthropic", [say("one"), say("two")]) as (server, model):
        given = asking.request()
        first = await asking.answer(model, given)
        await asking.answer(model, replace(given, messages=(*given.messages, first, Said("and now?"))))
    before, after = (one.body for one in server.asked)
    assert (after["system"], after["tools"]) == (before["system"], before["tools"])
    assert after["messages"][: len(before["messages"])] == before["messages"]


async def test_what_the_cache_gives_costs_less() -> None:
    async def cost(used: Used) -> Answer:
        async with asking.model("anthropic", [say("hi", used=used)]) as (_, model):
            return await asking.answer(model, asking.request())

    plain, cached = await cost(Used(10_000, 10)), await cost(Used(10_000, 10, cache_read=9_000))
    assert cached.usage.cache_read_tokens == 9_000
    assert cached.usage.cost < plain.usage.cost / 2


async def test_servers_that_are_only_compatible_get_no_settings_of_a_cache() -> None:
    async with asking.model("chat", [say("hi")]) as (server, model):
        await asking.answer(model, asking.request())
    assert "cache" not in str(server.asked[0].body)


async def test_a_model_that_pauses_says_so() -> None:
    async with asking.model("anthropic", [say("let me", stop="pause"), say("think")]) as (server, model):
        given = asking.request()
        first = await asking.answer(model, given)
        assert first.stop == "pause"
        await asking.answer(model, replace(given, messages=(*given.messages, first)))
    assert [turn.role for turn in server.asked[1].turns] == ["user", "assistant"]
