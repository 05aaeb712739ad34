"""The fake server against the providers' own clients, which check what it says more strictly than any assert."""

from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google import genai
from google.genai import types
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

from tests import fake_models
from tests.fake_models import (
    Asked,
    Call,
    Dropped,
    ErrorEvent,
    FakeModels,
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

TOOL = {"type": "object", "properties": {"city": {"type": "string"}}}
BOTH = calls(Call("weather", {"city": "Bern"}, "c1"), Call("weather", {"city": "Uri"}, "c2"), text="Let me look. 🌦")


def anthropic_client(server: FakeModels) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=server.url, api_key="none", max_retries=0)


def openai_client(server: FakeModels) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=server.v1, api_key="none", max_retries=0)


def google_client(server: FakeModels) -> genai.Client:
    return genai.Client(api_key="none", http_options=types.HttpOptions(base_url=server.url))


async def ask_anthropic(client: anthropic.AsyncAnthropic, **more: Any) -> anthropic.types.Message:
    said: Any = [{"role": "user", "content": "hi"}]
    async with client.messages.stream(model="claude-x", max_tokens=100, messages=said, **more) as stream:
        return await stream.get_final_message()


async def test_messages_streams_text_and_parallel_calls() -> None:
    async with fake_models.serve([BOTH]) as server, anthropic_client(server) as client:
        tools: Any = [{"name": "weather", "input_schema": TOOL}]
        got = await ask_anthropic(client, system="Be kind.", tools=tools)
    assert got.model_dump(include={"content": {"__all__": {"type", "text", "name", "input"}}})["content"] == [
        {"type": "text", "text": "Let me look. 🌦"},
        {"type": "tool_use", "name": "weather", "input": {"city": "Bern"}},
        {"type": "tool_use", "name": "weather", "input": {"city": "Uri"}},
    ]
    assert got.stop_reason == "tool_use"
    assert (got.usage.input_tokens, got.usage.output_tokens) == (100, 20)
    (asked,) = server.asked
    assert (asked.wire, asked.model, asked.system, asked.tools) == ("anthropic", "claude-x", "Be kind.", ("weather",))
    assert (asked.last_text, asked.is_stream) == ("hi", True)


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "pause"])
async def test_messages_knows_every_stop_reason(stop: Any) -> None:
    async with fake_models.serve([say("…", stop=stop)]) as server, anthropic_client(server) as client:
        got = await client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
    assert got.stop_reason == {"max_tokens": "max_tokens", "refusal": "refusal", "pause": "pause_turn"}[stop]
    assert not server.asked[0].is_stream


async def test_a_scenario_sees_the_results_of_tools() -> None:
    def scenario(asked: Asked) -> fake_models.Answer:
        seen = asked.result_of("weather")
        return call(asked.tool("weather"), city="Bern") if seen is None else say(f"It is {seen}.")

    async with fake_models.serve(scenario) as server, anthropic_client(server) as client:
        tools: Any = [{"name": "mcp__x__weather", "input_schema": TOOL}, {"name": "weather", "input_schema": TOOL}]
        said: Any = [{"role": "user", "content": "hi"}]
        first = await client.messages.create(model="m", max_tokens=9, messages=said, tools=tools)
        assert first.content[0].type == "tool_use"
        result = {"type": "tool_result", "tool_use_id": first.content[0].id, "content": "sunny"}
        said += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        second = await client.messages.create(model="m", max_tokens=9, messages=said, tools=[tools[1]])
    assert second.content[0].type == "text"
    assert second.content[0].text == "It is sunny."


@pytest.mark.parametrize("is_stream", [True, False])
async def test_responses_tells_text_and_parallel_calls(is_stream: bool) -> None:
    async with fake_models.serve([BOTH]) as server, openai_client(server) as client:
        if is_stream:
            async with client.responses.stream(model="gpt-x", input="hi", instructions="Be kind.") as stream:
                got = await stream.get_final_response()
        else:
            got = await client.responses.create(model="gpt-x", input="hi", instructions="Be kind.")
    text, *called = got.output
    assert isinstance(text, ResponseOutputMessage)
    assert got.output_text == "Let me look. 🌦"
    assert [one.arguments for one in called if isinstance(one, ResponseFunctionToolCall)] == [
        '{"city":"Bern"}',
        '{"city":"Uri"}',
    ]
    assert got.usage is not None
    assert (got.usage.input_tokens, got.usage.output_tokens) == (100, 20)
    assert (server.asked[0].system, server.asked[0].last_text) == ("Be kind.", "hi")


async def test_responses_puts_the_tools_of_a_namespace_under_one_name() -> None:
    tools: Any = [{"type": "namespace", "name": "mcp__moot", "tools": [{"type": "function", "name": "inbox_check"}]}]

    def scenario(asked: Asked) -> fake_models.Answer:
        return call(asked.tool("inbox_check"), wait=1)

    async with fake_models.serve(scenario) as server, openai_client(server) as client:
        got = await client.responses.create(model="m", input="hi", tools=tools)
    assert server.asked[0].tools == ("mcp__moot__inbox_check",)
    (called,) = got.model_dump()["output"]
    assert (called["namespace"], called["name"]) == ("mcp__moot", "inbox_check")


@pytest.mark.parametrize("is_stream", [True, False])
async def test_chat_tells_text_and_parallel_calls(is_stream: bool) -> None:
    said: Any = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]
    async with fake_models.serve([BOTH]) as server, openai_client(server) as client:
        if is_stream:
            async with client.chat.completions.stream(model="m", messages=said) as stream:
                got = await stream.get_final_completion()
        else:
            got = await client.chat.completions.create(model="m", messages=said)
    (choice,) = got.choices
    assert choice.message.content == "Let me look. 🌦"
    assert [one.function.arguments for one in choice.message.tool_calls or () if one.type == "function"] == [
        '{"city":"Bern"}',
        '{"city":"Uri"}',
    ]
    assert choice.finish_reason == "tool_calls"
    assert (server.asked[0].system, server.asked[0].last_text) == ("Be kind.", "hi")


@pytest.mark.parametrize("is_stream", [True, False])
async def test_google_tells_text_and_parallel_calls(is_stream: bool) -> None:
    config = types.GenerateContentConfig(system_instruction="Be kind.")
    async with fake_models.serve([BOTH]) as server, google_client(server).aio as client:
        models: Any = client.models
        if is_stream:
            stream = await models.generate_content_stream(model="gem", contents="hi", config=config)
            got = [chunk async for chunk in stream]
        else:
            got = [await models.generate_content(model="gem", contents="hi", config=config)]
    parts: list[types.Part] = [part for one in got for part in (one.parts or ())]
    assert "".join(part.text or "" for part in parts) == "Let me look. 🌦"
    assert [part.function_call.args for part in parts if part.function_call] == [{"city": "Bern"}, {"city": "Uri"}]
    assert (server.asked[0].model, server.asked[0].system, server.asked[0].last_text) == ("gem", "Be kind.", "hi")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 529])
async def test_a_status_comes_in_the_words_of_the_wire(status: int) -> None:
    async with fake_models.serve([Status(status, "no luck")] * 2) as server:
        async with anthropic_client(server) as one:
            with pytest.raises(anthropic.APIStatusError, match="no luck") as first:
                await ask_anthropic(one)
        async with openai_client(server) as other:
            with pytest.raises(openai.APIStatusError, match="no luck") as second:
                await other.responses.create(model="m", input="hi")
    assert (first.value.status_code, second.value.status_code) == (status, status)


async def test_a_rate_limit_says_how_long() -> None:
    async with fake_models.serve([rate_limited(7)]) as server, anthropic_client(server) as client:
        with pytest.raises(anthropic.RateLimitError) as caught:
            await ask_anthropic(client)
    assert caught.value.response.headers["retry-after"] == "7"


@pytest.mark.parametrize(
    "fault",
    [
        Dropped(),
        Dropped(say("a long text that is cut"), after=4),
        Malformed(),
        Malformed(say("a long text"), after=3),
        ErrorEvent(say("a long text")),
    ],
)
async def test_a_broken_answer_is_an_error_for_the_client(fault: fake_models.Answer) -> None:
    async with fake_models.serve([fault]) as server, anthropic_client(server) as client:
        with pytest.raises((anthropic.AnthropicError, httpx2.HTTPError, ValueError)):
            await ask_anthropic(client)


async def test_a_hanging_answer_ends_when_the_client_goes() -> None:
    async with fake_models.serve([Hang(say("a long text"), after=3)]) as server, anthropic_client(server) as client:
        said: Any = [{"role": "user", "content": "hi"}]
        async with client.messages.stream(model="m", max_tokens=9, messages=said) as stream:
            async for _event in stream:
                break
        await server.until_quiet()


async def test_an_order_of_answers_that_has_ended_says_so() -> None:
    async with fake_models.serve([]) as server, anthropic_client(server) as client:
        with pytest.raises(anthropic.InternalServerError, match="no more answers"):
            await ask_anthropic(client)
    assert server.surplus == 1


async def test_connections_are_refused_until_it_comes_back() -> None:
    async with fake_models.serve([say("hello")]) as server, anthropic_client(server) as client:
        await server.refuse()
        with pytest.raises(anthropic.APIConnectionError):
            await ask_anthropic(client)
        await server.come_back()
        got = await ask_anthropic(client)
    assert got.stop_reason == "end_turn"


async def test_probes_and_counts_are_answered_beside_the_scenario() -> None:
    async with fake_models.serve([]) as server, anthropic_client(server) as client:
        said: Any = [{"role": "user", "content": "hi"}]
        counted = await client.messages.count_tokens(model="m", messages=said)
        assert [one async for one in client.models.list()] == []
    assert counted.input_tokens > 0
    assert (server.asked, server.surplus, len(server.others)) == ([], 0, 2)


async def test_usage_tells_what_the_cache_gave() -> None:
    reply = Reply((Text("hi"),), used=Used(1000, 5, cache_read=700, cache_write=200))
    async with fake_models.serve([reply]) as server, anthropic_client(server) as client:
        got = await ask_anthropic(client)
    used = got.usage
    assert (used.input_tokens, used.cache_read_input_tokens, used.cache_creation_input_tokens) == (100, 700, 200)


async def test_what_a_scenario_raises_fails_the_test() -> None:
    def scenario(asked: Asked) -> fake_models.Answer:
        raise LookupError("a mistake of the test")

    async def use() -> None:
        async with fake_models.serve(scenario) as server, anthropic_client(server) as client:
            with pytest.raises(anthropic.InternalServerError):
                await ask_anthropic(client)

    with pytest.raises(LookupError, match="a mistake of the test"):
        await use()
