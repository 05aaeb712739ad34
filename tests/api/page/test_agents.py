"""What every agent does is seen, and a person has it stop, go on, hurry or begin anew."""

import asyncio
from typing import Any

from moot.bus import mailbox
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.ledger.usage import Spent
from moot.registry import agents, runs
from moot.registry.runs import Run
from moot.runner.reactions.wake_agents import attempt_key
from moot.runner.retry import Retry
from moot.store.store import Store
from tests.api import books
from tests.api.books import Begun
from tests.api.desk import say
from tests.runner.team import SECONDS, gather, make_host, running
from tests.runner.test_interrupting import Stubborn
from tests.web.site import Browser


async def card(browser: Browser, name: str) -> Any:
    found = (await browser.get("/api/agents"))["agents"]
    return next(one for one in found if one["name"] == name)


async def test_an_agent_is_shown_with_what_it_does_has_used_and_said(browser: Browser, store: Store) -> None:
    def change(tx: Tx) -> Begun:
        agent = books.join(tx, "coder", model="opus")
        begun = books.begin(tx, agent, books.run(tx, "review"))
        begun.spend(tx, Spent(100, 20, 3, 0.25))
        return begun

    begun = await store.write(change, caller=SYSTEM)
    await say(store, begun.agent, "x" * 600)
    found = await card(browser, "coder")
    assert (found["model"], found["tokens"], found["turns"], found["cost"]) == ("opus", 120, 3, 0.25)
    assert found["last_words"]["message"] == "x" * 500 + "…"
    detail = await browser.get("/api/agents/coder")
    assert [one["id"] for one in detail["attempts_made"]] == [begun.attempt]
    assert [one["message"] for one in detail["messages"]] == ["x" * 600]
    assert await browser.refused("/api/agents/eve") == (404, "AGENT_NOT_FOUND")


async def test_a_stopped_agent_is_not_woken_until_it_is_released(browser: Browser, store: Store) -> None:
    team = await gather(store, {"coder": [{"say": "done"}]})
    assert (await browser.post("/api/agents/coder/stop", {}))["stopped"] == ["coder@default"]
    assert (await card(browser, "coder"))["may"] == ["release"]
    async with running(make_host(store)):
        await team.say("@coder hello")
        await team.idle_but_for_mail()
        assert await team.bodies() == ["human: @coder hello"]
        assert await browser.post("/api/agents/coder/release", {}) == {"released": True}
        await team.idle()
    assert await team.bodies() == ["human: @coder hello", "coder: done"]
    assert await browser.post("/api/agents/coder/release", {}) == {"released": False}


async def test_a_nudged_agent_does_not_wait_for_its_next_try(browser: Browser, store: Store) -> None:
    team = await gather(store, {"coder": [{"fail": "not yet", "fails": 1, "say": "done"}]})
    assert await browser.refused("/api/agents/coder/nudge", {}) == (409, "NOTHING_WAITS")
    async with running(make_host(store, retry=Retry(backoff=Retry().backoff * 1000))):
        await team.say("@coder hello")
        await team.until_event("attempt_failed")
        assert await browser.post("/api/agents/coder/nudge", {}) == {"woken": "coder"}
        await team.idle()
    assert await team.bodies() == ["human: @coder hello", "coder: done"]


async def test_an_interrupted_agent_begins_anew_with_what_it_is_told(browser: Browser, store: Store) -> None:
    team = await gather(store, {"coder": [{}]})
    backend = Stubborn()
    async with running(make_host(store, backend=backend)):
        await team.say("@coder hello")
        async with asyncio.timeout(SECONDS):
            await backend.started.wait()
            told = await browser.post("/api/agents/coder/interrupt", {"message": "stop that"})
            await backend.answer
        assert (told["recipients"], told["interrupted"]) == (["coder"], ["coder"])
        assert (await browser.post("/api/agents/coder/stop", {"now": True}))["stopped"] == ["coder@default"]
    assert [mail.body for mail in await team.inbox("coder")] == ["@coder hello", "stop that"]


async def test_mail_that_was_given_up_is_tried_again(browser: Browser, store: Store) -> None:
    team = await gather(store, {"coder": [{"say": "done"}]})
    said = await team.say("@coder hello")

    def park(tx: Tx) -> None:
        mailbox.park_message(tx, said.message.stream, said.message.seq)
        jobs.cancel(tx, attempt_key(agents.named(tx, said.message.stream, "coder")))

    await store.write(park, caller=SYSTEM)
    assert ((await card(browser, "coder"))["parked"], (await card(browser, "coder"))["may"]) == (
        1,
        ["stop", "nudge", "retry"],
    )
    assert await browser.post("/api/agents/coder/retry", {}) == {"revived": {"coder": 1}}
    assert (await card(browser, "coder"))["parked"] == 0


async def test_a_run_is_paused_and_stopped(browser: Browser, store: Store) -> None:
    def change(tx: Tx) -> Run:
        books.join(tx, "coder")
        return books.run(tx, "review")

    run = await store.write(change, caller=SYSTEM)
    assert await browser.post("/api/run/pause", {}) == {"workflow_id": run.id, "is_paused": True}
    assert (await browser.get("/api/overview"))["run"]["is_paused"] is True
    # Nobody attends it, so nobody can go on with it but by the command.
    assert await browser.refused("/api/run/resume", {}) == (409, "NOT_PAUSED")
    assert (await browser.post("/api/run/stop", {}))["stopped"] == ["review@default"]
    assert (await store.read(lambda tx: runs.get(tx, run.id))).state == "stopped"
    assert await browser.refused("/api/run/pause", {}) == (404, "RUN_NOT_FOUND")
    assert await browser.post("/api/run/retry", {}) == {"revived": {}}


async def test_who_comes_by_itself_is_not_stopped(browser: Browser, store: Store) -> None:
    await store.write(lambda tx: books.join(tx, "guest", backend="external"), caller=SYSTEM)
    for what in ("stop", "release", "nudge"):
        assert await browser.refused(f"/api/agents/guest/{what}", {}) == (404, "AGENT_NOT_FOUND")
