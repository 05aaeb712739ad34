"""What was done on a host reaches a collector, in the form of the protocol; and without one nobody waits."""

import logging
from dataclasses import dataclass
from typing import Any

import pytest

from moot.core.caller import SYSTEM, Caller
from moot.core.events import Event
from moot.core.ids import HostId, InstanceName
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.ledger import operations
from moot.ledger.journal import Closed
from moot.ledger.operations import Deed
from moot.registry import attempts
from moot.runner import telemetry
from moot.runner.telemetry import Collector
from moot.runner.trouble import LOGGER
from moot.store.store import Store
from moot.testing.clock import ManualClock
from tests.api import books
from tests.api.books import HOST, Asked, Begun
from tests.registry.house import House, build
from tests.runner.collector import Received, Span, collecting

KEY = "k"


@pytest.fixture
def clock() -> ManualClock:
    """No host runs here: time may stand still."""
    return ManualClock()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take its time to send what is left at the end."""
    monkeypatch.setattr(telemetry, "_GRACE_SECONDS", 60.0)


@dataclass(frozen=True)
class Played:
    house: House
    lead: Begun

    async def end(self, *, is_over: bool = True, state: attempts.State = "succeeded") -> None:
        def change(tx: Tx) -> None:
            if is_over:
                jobs.cancel(tx, KEY)
            finish(tx, self.lead, state)

        await self.house.write(change)


def finish(tx: Tx, begun: Begun, state: attempts.State = "succeeded") -> None:
    attempts.end(tx, begun.attempt, state, "words that nobody needs to see" if state == "failed" else None)
    kind = attempts.SUCCEEDED if state == "succeeded" else attempts.FAILED
    tx.announce(Event(begun.agent.stream, kind, begun.attempt, {"agent": begun.agent.id}, is_quiet=True))


async def play(store: Store, clock: ManualClock) -> Played:
    """A session that asks two models, calls a tool that fails, and a sub-agent whose call gets lost."""
    house = await build(store)

    def begin(tx: Tx) -> Begun:
        agent = books.join(tx, "lead", model="anthropic/opus")
        jobs.add(tx, NewJob(KEY, "attempt", agent.stream, agent.id))
        (job,) = jobs.live(tx, agent.stream)
        lead = books.begin(tx, agent, job_id=job.id)
        lead.grow(tx)
        lead.open(tx, books.opened("", "session", "lead", "lead", "root"))
        Asked("t1/m", "google/gemini-9", "lead").begin(tx, lead)
        return lead

    lead = await house.write(begin)
    clock.advance(2)

    def work(tx: Tx) -> None:
        more = {"cache_read_tokens": 60, "cache_write_tokens": 30, "reasoning_tokens": 4}
        Asked("t1/m", "google/gemini-9", "lead", "failed").end(tx, lead)
        books.ask(tx, lead, Asked("t1/m", "", "lead", cost=12_500, tokens=(100, 10), number=2, more=more))
        lead.open(tx, books.opened("t1/c1", "tool", "document_read", "lead"))
        lead.close(tx, Closed("t1/c1", 1, "done", '{"text":"a secret answer","is_error":true}'))
        lead.open(tx, books.opened("t1/c2/s", "session", "helper", "helper", "subagent"))
        lead.close(tx, Closed("", 1, "done", '{"text":"a secret report"}'))
        books.ask(tx, lead, Asked("t1/c2/s/t1/m", "haiku", "helper", "unknown", cost=7))

    await house.write(work)
    return Played(house, lead)


def environ(url: str, **more: str) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": url, **more}


async def sent(store: Store, clock: ManualClock) -> Received:
    played = await play(store, clock)
    async with collecting() as collector:
        named = environ(f"{collector.url}/", OTEL_SERVICE_NAME="fixer", OTEL_EXPORTER_OTLP_HEADERS="x-key=a%20b, y=2")
        async with telemetry.sending(store, lambda: HOST, named):
            await played.end()
            return await collector.next()


def by_name(received: Received) -> dict[str, Span]:
    return {one.name: one for one in received.spans}


async def test_a_finished_tree_is_sent_in_the_form_of_the_protocol(store: Store, clock: ManualClock) -> None:
    received = await sent(store, clock)
    assert (received.path, received.service) == ("/v1/traces", "fixer")
    assert (received.headers["x-key"], received.headers["y"]) == ("a b", "2")
    assert received.headers["content-type"] == "application/json"
    found = by_name(received)
    assert {name: one.kind for name, one in found.items()} == {
        "invoke_agent lead": 1,
        "chat gemini-9": 3,
        "chat opus": 3,
        "execute_tool document_read": 1,
        "invoke_agent helper": 1,
        "chat haiku": 3,
    }
    root = found["invoke_agent lead"]
    assert root.parent is None
    assert {one.trace for one in received.spans} == {root.trace}
    assert found["chat haiku"].parent == found["invoke_agent helper"].id
    below = [one.name for one in received.spans if one.parent == root.id]
    assert below == ["chat gemini-9", "chat opus", "execute_tool document_read", "invoke_agent helper"]
    assert (root.seconds, found["chat gemini-9"].seconds) == (2, 2)


async def test_spans_speak_the_language_of_the_conventions(store: Store, clock: ManualClock) -> None:
    found = by_name(await sent(store, clock))
    asked = found["chat opus"].attributes
    assert {name: value for name, value in asked.items() if name.startswith("gen_ai.usage")} == {
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "gen_ai.usage.cache_creation.input_tokens": 30,
        "gen_ai.usage.reasoning.output_tokens": 4,
    }
    assert facts(found["chat opus"], "operation.name", "provider.name", "request.model", "agent.name") == (
        "chat",
        "anthropic",
        "opus",
        "lead",
    )
    assert asked["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "end"}]}
    assert asked["moot.cost.dollars"] == 0.0125
    assert facts(found["invoke_agent helper"], "operation.name", "agent.name") == ("invoke_agent", "helper")
    assert found["invoke_agent helper"].attributes["moot.trigger"] == "subagent"
    assert facts(found["execute_tool document_read"], "operation.name", "tool.name", "tool.type") == (
        "execute_tool",
        "document_read",
        "function",
    )
    failed = {name: one.attributes["error.type"] for name, one in found.items() if one.is_error}
    assert failed == {
        "chat gemini-9": "unavailable",
        "execute_tool document_read": "tool_error",
        "chat haiku": "unknown",
        "invoke_agent helper": "unknown",
    }
    assert all(("error.type" in one.attributes) == one.is_error for one in found.values())
    assert found["chat gemini-9"].attributes["gen_ai.provider.name"] == "gcp.gemini"


def facts(span: Span, *names: str) -> tuple[Any, ...]:
    return tuple(span.attributes[f"gen_ai.{name}"] for name in names)


async def test_no_prompt_no_answer_and_no_error_is_sent(store: Store, clock: ManualClock) -> None:
    body = (await sent(store, clock)).body
    for words in ("secret", "it cannot be reached", "document_read"):
        assert (words in body) == (words == "document_read")


async def test_whoever_sends_again_sends_the_same_ids(store: Store, clock: ManualClock) -> None:
    first = await sent(store, clock)
    async with collecting() as collector, telemetry.sending(store, lambda: HOST, environ(collector.url)):

        def again(tx: Tx) -> None:
            attempt = first.spans[0].attributes["moot.attempt.id"]
            house = books.join(tx, "lead", model="anthropic/opus")
            tx.announce(Event(house.stream, attempts.SUCCEEDED, attempt, {}, is_quiet=True))

        await store.write(again, caller=SYSTEM)
        second = await collector.next()
    assert [(one.trace, one.id, one.parent) for one in second.spans] == [
        (one.trace, one.id, one.parent) for one in first.spans
    ]
    assert len({one.id for one in first.spans}) == len(first.spans)


@pytest.mark.parametrize("is_at_once", [False, True])
async def test_a_tree_that_is_gone_on_with_is_sent_when_it_is_over(
    store: Store, clock: ManualClock, is_at_once: bool
) -> None:
    played = await play(store, clock)

    def fail(tx: Tx) -> None:
        finish(tx, played.lead, "failed")

    def go_on(tx: Tx) -> None:
        if is_at_once:  # before anybody has looked what the first one did
            fail(tx)
        second = books.begin(tx, played.lead.agent, job_id=played.lead.job, number=2)
        books.ask(tx, second, Asked("t2/m", "", "lead", cost=3))
        jobs.cancel(tx, KEY)
        finish(tx, second)

    async with collecting() as collector:
        async with telemetry.sending(store, lambda: HOST, environ(collector.url)):
            if not is_at_once:
                await played.house.write(fail)
            await played.house.write(go_on)
        received = await collector.next()
        assert collector.received.empty()
        again = await store.read(lambda tx: telemetry.gathered(tx, [played.lead.attempt], HOST))
    assert again == [], "the end of the first attempt is no end of the tree"
    assert len(received.spans) == 7
    assert len({one.attributes["moot.attempt.id"] for one in received.spans}) == 2


async def test_an_attempt_that_finds_everything_done_tells_of_the_tree_all_the_same(
    store: Store, clock: ManualClock
) -> None:
    played = await play(store, clock)

    def end(tx: Tx) -> None:
        second = books.begin(tx, played.lead.agent, job_id=played.lead.job, number=2)
        jobs.cancel(tx, KEY)
        finish(tx, second)

    async with collecting() as collector:
        async with telemetry.sending(store, lambda: HOST, environ(collector.url)):
            await played.house.write(end)
        assert len((await collector.next()).spans) == 6


async def test_a_program_is_sent_with_the_tools_it_called(store: Store, clock: ManualClock) -> None:
    house = await build(store)

    def change(tx: Tx) -> None:
        begun = books.begin(tx, books.join(tx, "coder", backend="claude"))
        caller = Caller("coder", "member", InstanceName("default"), begun.agent.id, attempt=begun.attempt)
        operations.begin(tx, Deed("tool", "channel_send", ""), caller)
        finish(tx, begun, "failed")

    async with collecting() as collector:
        async with telemetry.sending(store, lambda: HOST, environ(collector.url)):
            await house.write(change)
        received = await collector.next()
    coder, call = received.spans
    assert (coder.name, coder.attributes["gen_ai.provider.name"]) == ("invoke_agent coder", "anthropic")
    assert (coder.is_error, coder.attributes["error.type"]) == (True, "failed")
    assert (call.name, call.parent, call.is_error) == ("execute_tool channel_send", coder.id, False)
    assert "nobody needs to see" not in received.body


async def test_what_another_host_has_done_is_for_that_one_to_send(store: Store, clock: ManualClock) -> None:
    played = await play(store, clock)
    async with collecting() as collector:
        async with telemetry.sending(store, lambda: HostId("ho_2"), environ(collector.url)):
            await played.end()
        assert collector.received.empty()
        assert not collector.asked.is_set()


@pytest.mark.parametrize("way", ["down", "refusing", "silent"])
async def test_a_collector_that_takes_nothing_costs_one_warning(
    store: Store, clock: ManualClock, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    played = await play(store, clock)
    async with collecting() as collector:
        collector.status, collector.is_silent = 503 if way == "refusing" else 200, way == "silent"
        url = "http://127.0.0.1:9" if way == "down" else collector.url
        patience = "100" if way == "silent" else "10000"
        named = environ(url, OTEL_EXPORTER_OTLP_TIMEOUT=patience, OTEL_EXPORTER_OTLP_HEADERS="x-key=hush")
        with caplog.at_level(logging.WARNING, LOGGER):
            async with telemetry.sending(store, lambda: HOST, named):
                await played.end()
                for _ in range(3):
                    await played.house.write(
                        lambda tx: finish(tx, books.begin(tx, books.join(tx, "bob", backend="codex")))
                    )
    (warning,) = caplog.records
    assert "does not take what was done" in warning.getMessage()
    assert "hush" not in caplog.text


async def test_one_that_never_answers_does_not_keep_the_host_from_its_end(
    store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry, "_GRACE_SECONDS", 0.01)
    played = await play(store, clock)
    async with collecting() as collector:
        collector.is_silent = True
        named = environ(collector.url, OTEL_EXPORTER_OTLP_TIMEOUT="3600000")
        async with telemetry.sending(store, lambda: HOST, named):
            await played.end()
            await collector.asked.wait()


@pytest.mark.parametrize(
    ("environ", "url"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, "http://c:4318/v1/traces"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c/x/"}, "http://c/x/v1/traces"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/t", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://d"}, "http://c/t"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "none"}, None),
    ],
)
def test_the_environment_names_the_collector(environ: dict[str, str], url: str | None) -> None:
    found = Collector.found(environ)
    assert (found and found.url) == url


def test_its_headers_are_shown_to_nobody() -> None:
    found = Collector.found({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=hush,bad"})
    assert found is not None
    assert found.headers == {"x-key": "hush"}
    assert "hush" not in repr(found)
