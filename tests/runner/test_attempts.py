"""What an attempt is shown, when its last word is posted, and what becomes of its mail at a deadline."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta

from moot.backends.backend import Assignment, Ended, Progress
from moot.core.caller import SYSTEM
from moot.core.ids import HostId, JobId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.process import identity
from moot.registry import agents
from moot.registry.hosts import NewHost
from moot.runner.attempts import AttemptWorker
from moot.runner.begun import Begun, Kit
from moot.runner.host import Host
from moot.runner.retry import Retry
from moot.runner.scene import RECENT
from moot.runner.worker import Worker
from moot.store import streams
from moot.store.store import Store
from moot.tools.toolbox import AttemptToolbox
from tests.runner.team import Team, gather, in_process, make_host, running


async def test_an_attempt_that_says_again_what_an_earlier_one_said_has_no_last_word_posted(store: Store) -> None:
    line = {"calls": [{"channel_send": {"message": "once"}}], "fail": "not yet", "fails": 1, "say": "not posted"}
    team = await gather(store, {"coder": [line]})
    async with running(make_host(store)):
        await team.say("@coder hello")
        await team.idle()
    assert len(await team.events("attempt_succeeded")) == 1
    assert await team.bodies() == ["human: @coder hello", "coder: once"]


async def test_an_attempt_that_is_silent_after_one_that_spoke_has_its_last_word_posted(store: Store) -> None:
    team = await gather(store, {"coder": [{}]})

    class SpeaksAtFirst:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            if assignment.number == 1:
                await assignment.toolbox.call("channel_send", {"message": "working on it"})
                yield Ended("error", "not yet")
            yield Ended(text="done")

    async with running(make_host(store, backend=SpeaksAtFirst())):
        await team.say("@coder hello")
        await team.idle()
    assert (await team.bodies())[1:] == ["coder: working on it", "coder: done"]


async def test_an_attempt_that_runs_into_its_deadline_has_its_mail_parked_and_the_person_told(store: Store) -> None:
    """However long it had waited to be begun."""
    team = await gather(store, {"coder": [{"hang": True}]})
    said = await team.say("@coder go")
    id = await add_attempt(store, team, said.message.seq, waits=timedelta(hours=1), ends=timedelta(seconds=1))
    async with running(make_host(store)):
        await team.idle()
    found = await store.read(lambda tx: jobs.get(tx, id))
    assert found is not None
    assert (found.state, found.error) == ("failed", "it ran into its deadline")
    assert [event.data["failure"] for event in await team.events("attempt_failed")] == ["timeout"]
    assert [one.state for one in await team.receipts(said)] == ["parked"]
    assert [one.body for one in await team.inbox("human")] == [
        "coder failed once: it ran into its deadline\nParked for it: 1 message."
    ]


async def test_mail_that_came_during_an_attempt_that_ran_into_its_deadline_starts_another(store: Store) -> None:
    team = await gather(store, {"coder": [{}]})
    said = await team.say("@coder go")
    await add_attempt(store, team, said.message.seq, waits=timedelta(0), ends=timedelta(seconds=1))
    inboxes: list[list[str]] = []

    class HangsAtFirst:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            inboxes.append([letter.body for letter in assignment.inbox])
            if len(inboxes) == 1:
                await team.say("@coder and this")
                await asyncio.Event().wait()
            yield Ended()

    async with running(make_host(store, backend=HangsAtFirst())):
        await team.idle()
    assert inboxes == [["@coder go"], ["@coder go", "@coder and this"]]  # parked mail joins the next once
    assert [event.data["parked"] for event in await team.events("attempt_failed")] == [1]


async def test_mail_whose_attempt_was_not_begun_before_its_deadline_is_parked_and_the_person_told(store: Store) -> None:
    team = await gather(store, {"coder": [{"say": "too late"}]})
    said = await team.say("@coder go")
    await add_attempt(store, team, said.message.seq, waits=timedelta(hours=1), ends=timedelta(0))
    async with running(make_host(store)):
        await team.idle()
    assert [one.state for one in await team.receipts(said)] == ["parked"]
    assert [one.body for one in await team.inbox("human")] == [
        "coder was not started before its deadline\nParked for it: 1 message."
    ]


async def test_a_failed_attempt_is_not_repeated_after_its_deadline(store: Store) -> None:
    team = await gather(store, {"coder": [{"fail": "broken"}]})
    said = await team.say("@coder go")
    await add_attempt(store, team, said.message.seq, waits=timedelta(0), ends=timedelta(hours=1))
    async with running(make_host(store, retry=Retry(backoff=timedelta(hours=2)))):
        await team.idle()
    assert [one.state for one in await team.receipts(said)] == ["parked"]
    assert [one.body.splitlines()[0] for one in await team.inbox("human")] == ["coder failed once: broken"]


async def add_attempt(store: Store, team: Team, seen: int, *, waits: timedelta, ends: timedelta) -> JobId:
    """A job for coder, with a deadline, instead of the one that a reaction would add."""

    def add(tx: Tx) -> JobId:
        coder = agents.named(tx, team.instance.stream, "coder")
        run_at, deadline = tx.now - waits, tx.now + ends
        new = NewJob(f"attempt:{coder.id}", "attempt", coder.stream, coder.id, run_at=run_at, deadline=deadline)
        jobs.add(tx, new)
        streams.reacted(tx, coder.stream, seen)
        return jobs.live(tx, coder.stream)[0].id

    return await store.write(add, caller=SYSTEM)


async def test_an_attempt_is_shown_what_was_said_last_before_it_starts(store: Store) -> None:
    """Read after the transaction that began it, which others wait for."""
    team = await gather(store, {"coder": [{}]})
    for number in range(RECENT):
        await team.say(f"message {number}")
    seen: list[str] = []

    class Curious:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            seen.append((await assignment.brief()).prompt)
            yield Ended()

    @asynccontextmanager
    async def equip(begun: Begun) -> AsyncGenerator[Kit]:
        await team.say("said meanwhile")
        yield in_process(AttemptToolbox(store, begun.caller, begun.job.id))

    def workers(host: HostId) -> Mapping[str, Worker]:
        return {"attempt": AttemptWorker(store, host, {"scripted": Curious()}, equip)}

    async with running(Host(store, NewHost("here", str(identity.current()), ("react", "run")), workers)):
        await team.say("@coder go")
        await team.idle()
    (prompt,) = seen
    expected = [*(f"message {number}" for number in range(2, RECENT)), "@coder go", "said meanwhile"]
    assert re.findall(r"^\[\d\d:\d\d:\d\d\] @human: (.*)$", prompt, re.MULTILINE) == expected
