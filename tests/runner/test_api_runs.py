"""Whole attempts of agents that are models, with a real store, the host, and a provider on loopback."""

import logging
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from moot.backends.backend import Backend
from moot.core.caller import SYSTEM
from moot.core.clock import Clock
from moot.core.json import Json
from moot.core.tx import Tx
from moot.ledger import journal, pauses, traces, usage
from moot.models.retrying import Patience
from moot.registry import agents, instances
from moot.registry.agents import NewAgent
from moot.runner.api_agents import ApiBackend, ScriptedModelBackend
from moot.runner.pausing import PAUSED
from moot.store.sqlite import SqliteStore
from moot.store.store import Store
from tests import fake_models
from tests.fake_models import Asked, Dropped, FakeModels, Status, Used, call, calls, rate_limited, say
from tests.runner.team import Team, gather, make_host, running

pytestmark = pytest.mark.usefixtures("loaded")

KEY = "canary-77aa01-key"
QUICK = Patience(tries=2, first=0.0)


async def joined(store: Store, *names: str, **settings: Json) -> Team:
    """Agents with these settings; the tests' host has one backend, whatever it is called."""
    team = await gather(store, {})

    def change(tx: Tx) -> None:
        instance = instances.ensure(tx, "default")
        for name in names:
            agents.ensure(tx, instance, NewAgent(name, backend="scripted", settings=settings))

    await store.write(change, caller=SYSTEM)
    return team


def api(server: FakeModels, clock: Clock) -> Backend:
    return ApiBackend({"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}, clock, QUICK)


def once(server: FakeModels, clock: Clock) -> Backend:
    """What is limited is not asked again from within."""
    environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
    return ApiBackend(environ, clock, Patience(tries=1))


async def test_models_talk_to_each_other_over_the_tools(store: Store, clock: Clock) -> None:
    def scenario(asked: Asked) -> fake_models.Answer:
        if "You are @ann" in asked.text:
            return say("") if asked.results else call("channel_send", message="@ben what do you think? 🦊")
        return say("I think so.")

    team = await joined(store, "ann", "ben", model="anthropic/claude-sonnet-5")
    async with fake_models.serve(scenario) as server, running(make_host(store, backend=api(server, clock))):
        await team.say("@ann ask ben")
        await team.idle()
    said = await team.bodies()
    assert said[1:] == ["ann: @ben what do you think? 🦊", "ben: I think so."]


async def test_usage_and_cost_are_recorded(store: Store, clock: Clock) -> None:
    team = await joined(store, "ann", model="anthropic/claude-sonnet-5")
    answers = [calls(fake_models.Call("inbox_check")), say("done", used=Used(2000, 300))]
    async with fake_models.serve(answers) as server, running(make_host(store, backend=api(server, clock))):
        await team.say("@ann go")
        await team.idle()
    found = await store.read(lambda tx: usage.total(tx, team.instance.stream))
    assert (found.input_tokens, found.output_tokens, found.turns, found.is_estimated) == (2100, 320, 2, True)
    assert found.cost > 0


async def test_a_second_try_has_a_line_of_its_own_and_what_broke_off_stays_counted(store: Store, clock: Clock) -> None:
    team = await joined(store, "ann", model="anthropic/claude-sonnet-5")
    answers = [Dropped(say("half of what it wanted to say"), after=6), say("done", used=Used(2000, 300))]
    async with fake_models.serve(answers) as server, running(make_host(store, backend=api(server, clock))):
        await team.say("@ann go")
        await team.idle()
    (ann,) = await store.read(lambda tx: [one for one in agents.members(tx, team.instance.stream) if one.name == "ann"])
    tree = await store.read(lambda tx: journal.last_tree(tx, ann.id))
    assert tree is not None
    first, second = [one for one in await store.read(lambda tx: traces.steps(tx, tree.root)) if one.kind == "model"]
    assert (first.number, first.state, first.stop, first.is_estimated) == (1, "failed", "unavailable", True)
    assert first.cost > 0
    assert (second.number, second.state, second.output_tokens) == (2, "done", 300)
    found = await store.read(lambda tx: usage.total(tx, team.instance.stream))
    assert (found.cost, found.turns) == (first.cost + second.cost, 1)


async def test_a_rate_limit_pauses_the_provider_and_fails_nobody(store: Store, clock: Clock) -> None:
    team = await joined(store, "ann", model="anthropic/claude-sonnet-5")
    before = clock.now()
    async with fake_models.serve([rate_limited(300)]) as server, running(make_host(store, backend=api(server, clock))):
        await team.say("@ann go")
        await team.until_event("attempt_failed")
    (paused,) = await team.events(PAUSED)
    waiting = datetime.fromisoformat(str(paused.data["until"])) - before
    assert timedelta(seconds=300) <= waiting < timedelta(seconds=360)
    assert (len(server.asked), server.surplus) == (1, 0)
    assert (await store.read(lambda tx: usage.total(tx, team.instance.stream))).attempts == 0  # it could not work


def tree(prompt: str) -> dict[str, Json]:
    """The settings of a scripted lead, whose helper asks a provider."""
    helper: Json = {"name": "helper", "backend": "api", "model": "anthropic/claude-sonnet-5"}
    asks: Json = {"calls": [{"agent_helper": {"prompt": prompt}}]}
    return {
        "answers": [asks, {"calls": [{"final_report": {"report": "ok"}}]}],
        "patterns": {"agents": ["helper"]},
        "cast": [helper],
    }


async def test_a_rate_limit_deep_in_a_tree_pauses_that_provider_for_all_and_fails_nobody(
    store: Store, clock: Clock
) -> None:
    team = await joined(store, "lead", **tree("help"))
    await joined(store, "ann", model="anthropic/claude-sonnet-5")
    until: list[datetime] = []

    def scenario(asked: Asked) -> fake_models.Answer:
        if not until:
            until.append(clock.now() + timedelta(seconds=1))
            return rate_limited(1)
        assert clock.now() >= until[0]
        return call("final_report", report="helped") if "help" in asked.text else say("I am here.")

    async with fake_models.serve(scenario) as server, running(make_host(store, backend=once(server, clock))):
        await team.say("@lead go")
        await team.until_event(PAUSED)
        await team.say("@ann go")
        await team.idle()
    assert sorted((await team.bodies())[2:]) == ["ann: I am here.", "lead: ok"]
    assert [one.subject for one in await team.events(PAUSED)][:1] == ["anthropic"]
    assert {str(one.data["failure"]) for one in await team.events("attempt_failed")} == {"rate_limit"}
    assert len(server.asked) == 3  # and nobody in vain but the first


async def test_who_is_under_way_leaves_a_paused_provider_alone(store: Store, clock: Clock) -> None:
    """The pause was asked for by somebody else, after it had begun."""
    team = await joined(store, "lead", **tree("help"))
    until = clock.now() + timedelta(seconds=300)
    await store.write(lambda tx: pauses.pause(tx, "anthropic", until, "429"), caller=SYSTEM)
    async with fake_models.serve([]) as server, running(make_host(store, backend=once(server, clock))):
        await team.say("@lead go")
        await team.until_event("attempt_failed")
    assert server.asked == []
    (failed,) = await team.events("attempt_failed")
    assert (failed.data["failure"], "anthropic asked to wait until" in str(failed.data["error"])) == (
        "rate_limit",
        True,
    )


async def test_who_has_a_model_of_another_provider_need_not_wait(store: Store, clock: Clock) -> None:
    busy = "http://127.0.0.1:1"
    fallbacks: Json = [{"model": "anthropic/claude-sonnet-5"}]
    team = await joined(store, "ann", model="openai/llama", base_url=busy, fallbacks=fallbacks)
    until = clock.now() + timedelta(seconds=300)
    await store.write(lambda tx: pauses.pause(tx, busy, until, "429"), caller=SYSTEM)
    async with fake_models.serve([say("I am here.")]) as server, running(make_host(store, backend=api(server, clock))):
        await team.say("@ann go")
        await team.idle()
    assert (await team.bodies())[1:] == ["ann: I am here."]


async def test_a_scripted_model_runs_the_same_loop_offline(store: Store, clock: Clock) -> None:
    answers: list[Json] = [
        {"fail": "unavailable", "fails": 1, "calls": [{"channel_send": {"message": "hello"}}]},
        {"say": "", "usage": {"input_tokens": 10, "output_tokens": 1, "cost": 0.5}},
    ]
    team = await joined(store, "ann", answers=answers)
    async with running(make_host(store, backend=ScriptedModelBackend(clock, QUICK))):
        await team.say("@ann go")
        await team.idle()
    assert (await team.bodies())[1:] == ["ann: hello"]
    found = await store.read(lambda tx: usage.total(tx, team.instance.stream))
    assert (found.dollars, found.turns) == (0.5, 2)


async def test_who_shares_a_channel_may_end_without_a_word(store: Store, clock: Clock) -> None:
    team = await joined(store, "ann", answers=[{"say": ""}])
    async with running(make_host(store, backend=ScriptedModelBackend(clock, QUICK))):
        await team.say("@ann for your information")
        await team.idle()
    found = await store.read(lambda tx: usage.total(tx, team.instance.stream))
    assert (found.turns, (await team.bodies())[1:]) == (1, [])


@pytest.mark.parametrize("status", [401, 429, 500])
async def test_a_key_stands_in_no_row_and_no_log(
    status: int,
    sqlite_store: SqliteStore,
    clock: Clock,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whatever a provider says of it."""
    caplog.set_level(logging.DEBUG)
    team = await joined(sqlite_store, "ann", model="anthropic/claude-sonnet-5", retry={"attempts": 1})
    headers = {"retry-after": "600", "x-echo": KEY}
    said = Status(status, f"{KEY} is not welcome, nor sk-ant-canary-5550123", headers)

    async with (
        fake_models.serve(lambda _: said) as server,
        running(make_host(sqlite_store, backend=api(server, clock))),
    ):
        await team.say("@ann go")
        await team.until_event("attempt_failed")
    assert KEY in str(server.asked[0].headers)
    (failed,) = await team.events("attempt_failed")
    assert "is not welcome" in str(failed.data)
    written = b"".join(path.read_bytes() for path in sorted((tmp_path / "store").iterdir()) if path.is_file())
    assert b"is not welcome" in written
    for canary in (KEY, "canary-5550123"):
        assert canary.encode() not in written
        assert canary not in caplog.text
