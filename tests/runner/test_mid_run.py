"""What happens around an attempt while and after it runs: further mail, pauses of its provider, its conversation, and
what it used."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import pytest

from moot.backends.backend import Assignment, Conversation, Ended, Failure, Letter, Progress, Usage
from moot.bus.mailbox import Mail
from moot.core.caller import SYSTEM
from moot.core.ids import RequestId
from moot.core.json import Json
from moot.core.tx import ReadTx, Tx
from moot.ledger import pauses, usage
from moot.registry import agents, conversations, instances
from moot.registry.agents import NewAgent
from moot.requests import requests
from moot.requests.requests import Answerer
from moot.runner import more_mail
from moot.runner.begun import Begun
from moot.runner.pausing import PAUSED
from moot.store.store import Store
from moot.tools import asking
from moot.tools.asking import Question, Reply
from tests.runner.team import Team, gather, make_host, running


async def joined(store: Store, settings: dict[str, Json]) -> Team:
    """A coder with these settings."""
    team = await gather(store, {})

    def change(tx: Tx) -> None:
        agents.ensure(tx, instances.ensure(tx, "default"), NewAgent("coder", backend="scripted", settings=settings))

    await store.write(change, caller=SYSTEM)
    return team


def used(tx: ReadTx, team: Team) -> usage.Usage:
    return usage.total(tx, team.instance.stream)


async def test_mail_that_comes_meanwhile_is_handed_over_and_acknowledged(store: Store) -> None:
    team = await gather(store, {"coder": [{}]})
    seen: list[str] = []

    class Attentive:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            seen.extend(letter.body for letter in assignment.inbox)
            await team.say("@coder and this")
            seen.extend(letter.body for letter in await assignment.more())
            yield Ended()

    async with running(make_host(store, backend=Attentive())):
        await team.say("@coder go")
        await team.idle()
    assert seen == ["@coder go", "@coder and this"]
    assert len(await team.events("attempt_started")) == 1
    assert await team.inbox("coder") == []


async def test_further_mail_of_a_failed_attempt_comes_again_with_the_rest(store: Store) -> None:
    team = await gather(store, {"coder": [{}]})
    seen: list[list[str]] = []

    class FailsAtFirst:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            inbox = [letter.body for letter in assignment.inbox]
            seen.append(inbox)
            if assignment.number == 1:
                await team.say("@coder and this")
                inbox.extend(letter.body for letter in await assignment.more())
                yield Ended("error", "no")
            yield Ended()

    async with running(make_host(store, backend=FailsAtFirst())):
        await team.say("@coder go")
        await team.idle()
    assert seen == [["@coder go", "@coder and this"]] * 2


@pytest.mark.parametrize("is_held", [True, False])
async def test_an_answer_that_is_waited_for_in_a_call_is_no_mail(store: Store, is_held: bool) -> None:
    """Who waits in a call for leave is answered there; told twice, a program would take the second for another task."""
    team = await gather(store, {"coder": [{}]})
    question = Question(to=agents.PERSON, kind="permission", title="make release", body="", hash="h", lasts=None)
    seen: list[str] = []

    def ask(tx: Tx) -> RequestId:
        coder = agents.find(tx, team.instance.stream, "coder")
        request = asking.ask(tx, team.instance, coder, question)
        if is_held:
            requests.hold(tx, request.id, tx.now + timedelta(minutes=10))
        return request.id

    def approve(tx: Tx, id: RequestId) -> None:
        person = agents.get(tx, requests.get(tx, id).addressee_id)
        asking.answer(tx, team.instance, id, Reply("approved"), Answerer(person.name, person.id))

    class Asks:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            id = await store.write(ask, caller=SYSTEM)
            await store.write(lambda tx: approve(tx, id), caller=SYSTEM)
            await team.say("@coder and this")
            seen.extend(letter.kind for letter in await assignment.more())
            yield Ended()

    async with running(make_host(store, backend=Asks())):
        await team.say("@coder go")
        await team.idle()
    assert seen == (["message"] if is_held else ["permission_response", "message"])
    assert await team.inbox("coder") == []


async def test_mail_handed_to_one_who_does_not_wait_any_more_waits_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is acknowledged with the attempt only if it was shown to it."""
    team = await gather(store, {"coder": [{}]})
    seen: list[list[str]] = []
    handed = asyncio.Event()
    plain = more_mail.hand_out

    def hand_out(tx: Tx, begun: Begun, most: int) -> tuple[Mail, ...]:
        mail = plain(tx, begun, most)
        loop.call_soon_threadsafe(waiting[0].cancel)
        loop.call_soon_threadsafe(handed.set)
        return mail

    class Impatient:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            seen.append([letter.body for letter in assignment.inbox])
            if len(seen) == 1:
                waiting.append(asyncio.ensure_future(assignment.more()))
                await team.say("@coder and this")
                await handed.wait()
                await asyncio.wait(waiting)
            yield Ended()

    loop = asyncio.get_running_loop()
    waiting: list[asyncio.Future[tuple[Letter, ...]]] = []
    monkeypatch.setattr(more_mail, "hand_out", hand_out)
    async with running(make_host(store, backend=Impatient())):
        await team.say("@coder go")
        await team.idle()
    assert seen == [["@coder go"], ["@coder and this"]] or not waiting[0].cancelled()


async def test_a_provider_that_asks_to_wait_is_left_alone_by_all_until_then(store: Store) -> None:
    team = await gather(store, {"ann": [{}], "bob": [{}]})
    until = datetime.now(UTC) + timedelta(seconds=1)
    started: list[str] = []

    class Busy:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            started.append(assignment.agent)
            if len(started) == 1:
                yield Ended("rate_limit", "429 too many requests", wait_until=until)
            yield Ended()

    async with running(make_host(store, backend=Busy())):
        await team.say("@ann go")
        await team.until(lambda tx: pauses.live(tx) != [])
        await team.say("@bob go")
        await team.idle()
    assert started[0] == "ann"
    assert sorted(started[1:]) == ["ann", "bob"]
    assert all(event.at >= until for event in (await team.events("attempt_started"))[1:])
    (paused,) = await team.events(PAUSED)
    assert (paused.subject, paused.data["reason"]) == ("scripted", "429 too many requests")
    assert [event.data["failure"] for event in await team.events("attempt_failed")] == ["rate_limit"]


@pytest.mark.parametrize("failure", ["auth", "refused", "denied", "limit", "invalid", "reported"])
async def test_what_would_only_be_met_again_is_not_tried_again(store: Store, failure: Failure) -> None:
    team = await gather(store, {"coder": [{}]})

    class Hopeless:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            yield Ended(failure, "the key is wrong")

    async with running(make_host(store, backend=Hopeless())):
        await team.say("@coder go")
        await team.idle()
    assert len(await team.events("attempt_started")) == 1
    assert [one.body for one in await team.inbox("human")] == [
        "coder failed once: the key is wrong\nParked for it: 1 message."
    ]


async def test_a_conversation_is_gone_on_with_until_it_fails(store: Store) -> None:
    team = await joined(store, {"keeps_conversation": True})
    found: list[Conversation | None] = []

    class Talkative:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            found.append(assignment.conversation)
            kept = Conversation(f"talk-{len(found)}", Usage(10 * len(found), 1, cost=0.5))
            yield Ended("error", "no") if len(found) == 2 else Ended(usage=Usage(10, 1), conversation=kept)

    async with running(make_host(store, backend=Talkative())):
        for word in ("one", "two"):
            await team.say(f"@coder {word}")
            await team.idle()
    assert found == [None, Conversation("talk-1", Usage(10, 1, cost=0.5)), None]
    coder = await store.read(lambda tx: agents.named(tx, team.instance.stream, "coder"))
    kept = await store.read(lambda tx: conversations.of_agent(tx, coder.id, "scripted"))
    assert kept is not None
    assert (kept.handle, kept.input_tokens, kept.cost) == ("talk-3", 30, 500_000)


async def test_what_an_attempt_said_it_used_counts_though_it_never_ended(store: Store) -> None:
    team = await joined(store, {"retry": {"attempts": 1}, "timeout": "PT1S"})

    class Endless:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            yield Usage(input_tokens=7, cost=0.25)
            yield Usage(input_tokens=3, cost=0.25)
            await asyncio.Event().wait()
            yield Ended()

    async with running(make_host(store, backend=Endless())):
        await team.say("@coder go")
        await team.idle()
    found = await store.read(lambda tx: used(tx, team))
    assert (found.input_tokens, found.dollars) == (10, 0.5)
