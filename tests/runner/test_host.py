"""A host wakes agents, acknowledges what they were given, and survives what they do."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from functools import partial

import pytest

from moot.backends.backend import Assignment, Ended, Progress, Usage
from moot.core.caller import SYSTEM
from moot.core.ids import AgentId, HostId, JobId
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite, Job, NewJob
from moot.process import identity
from moot.registry import agents, hosts, runs, tokens
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.registry.runs import NewRun
from moot.registry.tokens import Grant
from moot.runner import attempts, endings, neighbours, phases, react
from moot.runner.attempts import MOST_LOSSES, AttemptWorker
from moot.runner.begun import Begun
from moot.runner.host import Host, Pace
from moot.runner.retry import Retry
from moot.runner.worker import Task
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Workflow
from tests.interleave import interleave
from tests.runner.team import SECONDS, Team, gather, make_host, make_worker, running


async def test_a_mention_wakes_the_agent_and_its_answer_is_posted_in_the_thread(store: Store) -> None:
    team = await gather(store, {"coder": [{"on": "fix", "say": "done"}]})
    async with running(make_host(store)):
        said = await team.say("@coder fix it")
        await team.idle()
    asked, answer = await team.channel()
    assert (answer.sender, answer.body, answer.reply_to) == ("coder", "done", asked.id)
    assert [one.state for one in await team.receipts(said)] == ["acked"]


async def test_agents_wake_each_other_until_nobody_is_mentioned(store: Store) -> None:
    team = await gather(store, {"a": [{"on": "go", "say": "@b your turn"}], "b": [{"on": "turn", "say": "over"}]})
    async with running(make_host(store)):
        await team.say("@a go")
        await team.idle()
    assert await team.bodies() == ["human: @a go", "a: @b your turn", "b: over"]


async def test_mail_from_before_the_start_is_handled(store: Store) -> None:
    team = await gather(store, {"coder": [{"say": "here"}]})
    await team.say("@coder hello")
    async with running(make_host(store)):
        await team.idle()
    assert (await team.bodies())[-1] == "coder: here"


async def test_an_agent_that_spoke_by_itself_has_no_last_word_posted(store: Store) -> None:
    line = {"calls": [{"channel_send": {"message": "said by tool"}}], "say": "not posted"}
    team = await gather(store, {"coder": [line]})
    async with running(make_host(store)):
        await team.say("@coder hello")
        await team.idle()
    assert await team.bodies() == ["human: @coder hello", "coder: said by tool"]


async def test_a_failed_attempt_is_repeated_and_says_nothing_twice(store: Store) -> None:
    line = {"calls": [{"channel_send": {"message": "once"}}], "fail": "not yet", "fails": 2}
    team = await gather(store, {"coder": [line]})
    async with running(make_host(store)):
        said = await team.say("@coder hello")
        await team.idle()
    assert await team.bodies() == ["human: @coder hello", "coder: once"]
    assert len(await team.events("attempt_failed")) == 2
    assert [one.state for one in await team.receipts(said)] == ["acked"]


async def test_after_the_last_try_mail_is_parked_and_the_person_told(store: Store) -> None:
    team = await gather(store, {"coder": [{"fail": "broken"}]})
    async with running(make_host(store, retry=Retry(attempts=2, backoff=timedelta(milliseconds=1)))):
        said = await team.say("@coder hello")
        await team.idle()
    assert [one.state for one in await team.receipts(said)] == ["parked"]
    assert len(await team.events("attempt_failed")) == 2
    (notice,) = await team.inbox("human")
    assert notice.sender == "system"
    assert "coder failed 2 times: broken" in notice.body


async def test_parked_mail_joins_new_mail_once(store: Store) -> None:
    team = await gather(store, {"coder": [{"on": "bad", "fail": "broken"}, {"on": "good", "say": "fine"}]})
    async with running(make_host(store, retry=Retry(attempts=2, backoff=timedelta(milliseconds=1)))):
        bad = await team.say("@coder bad")
        await team.idle()
        good = await team.say("@coder good")
        await team.idle()
    assert [one.state for one in await team.receipts(bad)] == ["parked"]
    assert [one.state for one in await team.receipts(good)] == ["acked"]
    failed = await team.events("attempt_failed")
    assert [event.data["number"] for event in failed] == [1, 2, 1]


async def test_mail_that_came_between_the_tries_is_not_given_up_with_what_fails(store: Store) -> None:
    team = await gather(store, {"coder": [{"on": "bad", "fail": "broken"}, {"on": "good", "say": "fine"}]})
    async with running(make_host(store, retry=Retry(attempts=2, backoff=timedelta(milliseconds=300)))):
        bad = await team.say("@coder bad")
        await team.until_event("attempt_failed")
        good = await team.say("@coder good")
        await team.idle()
    assert [one.state for one in await team.receipts(bad)] == ["parked"]
    assert [one.state for one in await team.receipts(good)] == ["acked"]
    assert [event.data["number"] for event in await team.events("attempt_failed")] == [1, 2, 1]
    assert "Parked for it: 1 message." in (await team.inbox("human"))[0].body


async def test_a_crash_of_one_agent_does_not_touch_the_others(store: Store) -> None:
    team = await gather(store, {"bad": [{"crash": True}], "good": [{"say": "fine"}]})
    async with running(make_host(store)):
        await team.say("@bad and @good")
        await team.idle()
    assert "good: fine" in await team.bodies()
    assert len(await team.events("attempt_failed")) == 3


async def test_the_pause_before_a_repetition_grows(store: Store) -> None:
    retry = Retry(attempts=4, backoff=timedelta(seconds=1), multiplier=2)
    assert [retry.delay(failures).total_seconds() for failures in (1, 2, 3)] == [1, 2, 4]


async def test_mail_that_comes_during_an_attempt_starts_another(store: Store) -> None:
    team = await gather(store, {"coder": [{"on": "first", "takes": "200ms", "say": "one"}, {"say": "two"}]})
    async with running(make_host(store)):
        await team.say("@coder first")
        await team.until_event("attempt_started")
        await team.say("@coder second")
        await team.idle()
    assert (await team.bodies())[2:] == ["coder: one", "coder: two"]


async def test_a_stopping_host_lets_an_attempt_finish(store: Store) -> None:
    team = await gather(store, {"coder": [{"takes": "200ms", "say": "finished"}]})
    host = make_host(store)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(host.run())
        await team.say("@coder go")
        await team.until_event("attempt_started")
        host.stop()
    assert (await team.bodies())[-1] == "coder: finished"


async def test_stopping_now_interrupts_and_the_mail_waits_for_the_next_host(store: Store) -> None:
    team = await gather(store, {"coder": [{"hang": True, "fails": 1, "say": "later"}]})
    host = make_host(store)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(host.run())
        said = await team.say("@coder go")
        await team.until_event("attempt_started")
        host.stop(now=True)
    assert [one.state for one in await team.receipts(said)] == ["queued"]
    assert len(await team.events("attempt_interrupted")) == 1
    assert await store.read(hosts.alive) == []


async def test_two_hosts_handle_each_message_once(store: Store) -> None:
    names = [f"agent{number}" for number in range(6)]
    team = await gather(store, {name: [{"say": "answer"}] for name in names})
    async with running(make_host(store)), running(make_host(store)):
        for turn in range(5):
            await team.say(f"@all turn {turn}")
        await team.idle()
    answers = [one for one in await team.channel() if one.body.startswith("answer")]
    assert len(await team.events("attempt_failed")) == 0
    handled = [event.data["agent"] for event in await team.events("attempt_succeeded")]
    assert len(handled) == len(await team.events("attempt_started"))
    assert {one.sender for one in answers} == set(names)


async def test_work_of_a_host_whose_process_is_gone_is_taken_over_at_once(store: Store) -> None:
    team = await gather(store, {"coder": [{"say": "taken over"}]})
    dead = NewHost(neighbours.machine(), "999999999:1", ("run",))
    id = await store.write(lambda tx: hosts.register(tx, dead), caller=SYSTEM)
    await team.say("@coder go")
    stream = team.instance.stream
    await store.write(lambda tx: jobs.add(tx, NewJob("attempt:x", "elsewhere", stream, "x")), caller=SYSTEM)
    taken = await store.write(lambda tx: jobs.take(tx, Appetite(id, others=5)), caller=SYSTEM)
    assert len(taken) == 1
    async with running(make_host(store, pace=Pace(watch_seconds=0.01))):
        await team.idle()
    assert (await team.bodies())[-1] == "coder: taken over"
    assert await store.read(hosts.alive) == []


async def test_an_agent_whose_client_was_killed_is_offline_at_once(store: Store) -> None:
    team = await gather(store, {})
    grant = Grant("operator", team.instance.name, "operator", process=f"{neighbours.machine()}#999999999:1")

    def join(tx: Tx) -> AgentId:
        token = tokens.mint(tx, tokens.new_text(), grant)
        return agents.register(tx, team.instance, NewAgent(name="ann", registered_by=token)).id

    ann = await store.write(join, caller=SYSTEM)
    async with running(make_host(store, pace=Pace(watch_seconds=0.01))):
        await team.until(lambda tx: agents.get(tx, ann).presence(tx.now) == "offline")


async def test_a_host_does_not_take_more_attempts_than_it_may(store: Store) -> None:
    team = await gather(store, {"a": [{"hang": True}], "b": [{"say": "never"}]})
    async with running(make_host(store, pace=Pace(attempts=1, grace_seconds=0))):
        await team.say("@a go")
        await team.until_event("attempt_started")
        await team.say("@b go")
        await team.until(lambda tx: len(jobs.live(tx, team.instance.stream)) == 2)
    assert len(await team.events("attempt_started")) == 1


async def test_what_waits_for_room_is_taken_as_soon_as_there_is_some(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.store.sqlite.store._BACKSTOP_SECONDS", 1_000_000.0)
    team = await gather(store, {name: [{"say": "done"}] for name in "abcdef"})
    async with running(make_host(store, pace=Pace(attempts=1))):
        await team.say("@a @b @c @d @e @f go")
        await team.idle()
    assert sorted(await team.bodies())[:-1] == [f"{name}: done" for name in "abcdef"]


@pytest.mark.parametrize(
    ("text", "posted"),
    [("a\0b", "a\\0b"), ("lone \ud83d", "lone ?"), ("x" * 1_000_001, "x" * 999_975 + "\n… (the rest was cut off)")],
)
async def test_last_words_are_posted_as_far_as_the_channel_takes_them(store: Store, text: str, posted: str) -> None:
    team = await gather(store, {"coder": []})

    class Odd:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            yield Ended(text=text)

    async with running(make_host(store, backend=Odd())):
        said = await team.say("@coder hello")
        await team.idle()
    assert [one.state for one in await team.receipts(said)] == ["acked"]
    assert (await team.channel())[-1].body == posted


async def test_an_end_that_cannot_be_written_down_is_a_failure_and_not_a_job_for_ever(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    team, close = await gather(store, {"coder": [{"say": "hello"}]}), endings.close

    def broken(tx: Tx, begun: Begun, ended: Ended, retry: Retry, told: Usage) -> None:
        if ended.failure is None:
            raise OverflowError("too large")
        close(tx, begun, ended, retry, told)

    monkeypatch.setattr(endings, "close", broken)
    async with running(make_host(store, retry=Retry(attempts=1))):
        said = await team.say("@coder hello")
        await team.idle()
    assert [one.state for one in await team.receipts(said)] == ["parked"]
    (failed,) = await team.events("attempt_failed")
    assert failed.data["error"] == "its end cannot be written down: too large"


async def test_agents_of_a_run_that_nobody_attends_wait_for_whoever_resumes_it(store: Store) -> None:
    team = await gather(store, {"coder": [{"say": "hello"}]})
    host = await store.write(lambda tx: _start(tx, team), caller=SYSTEM)
    await store.write(lambda tx: hosts.stop(tx, host), caller=SYSTEM)
    async with running(make_host(store)) as at_work:
        await team.say("@coder hello")
        await team.until(lambda tx: [one.fence for one in _put_off(tx, team)] == [1])
        assert await team.events("attempt_started") == []
        await store.write(lambda tx: _attend(tx, team, at_work.id), caller=SYSTEM)
        await team.idle()
    assert (await team.channel())[-1].body == "hello"


async def test_a_run_whose_host_overslept_and_woke_up_again_finds_what_waits(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another host was there meanwhile, and found that nobody attends the run."""
    monkeypatch.setattr(attempts, "UNATTENDED", timedelta(milliseconds=50))
    team = await gather(store, {"coder": [{"say": "hello"}]})
    asleep = await store.write(lambda tx: _start(tx, team), caller=SYSTEM)
    await store.write(lambda tx: hosts.stop(tx, asleep), caller=SYSTEM)
    async with running(make_host(store)):
        await team.say("@coder hello")
        await team.until(lambda tx: [one.fence >= 1 for one in _put_off(tx, team)] == [True])
        await store.write(lambda tx: hosts.renew(tx, asleep), caller=SYSTEM)
        await team.idle()
    assert (await team.channel())[-1].body == "hello"


async def test_a_run_is_resumed_while_another_host_finds_that_nobody_attends_it(pg_store: PostgresStore) -> None:
    """The one gives back what a dead host had been given, the other looks for what waits; neither sees the other."""
    team = await gather(pg_store, {"coder": [{"say": "hello"}]})
    dead = await pg_store.write(lambda tx: _start(tx, team), caller=SYSTEM)
    await team.say("@coder hello")
    await pg_store.write(lambda tx: _taken(tx, make_worker(pg_store, dead)), caller=SYSTEM)
    await pg_store.write(lambda tx: _gone(tx, dead), caller=SYSTEM)
    new = await pg_store.write(lambda tx: hosts.register(tx, NewHost("m", "2", ("run",))), caller=SYSTEM)
    worker = make_worker(pg_store, new)
    met = await interleave(pg_store, lambda tx: _taken(tx, worker), lambda tx: _attend(tx, team, new))
    assert met.second_waited
    now = await pg_store.read(lambda tx: tx.now)
    assert [(one.state, one.run_at <= now) for one in await pg_store.read(lambda tx: _put_off(tx, team))] == [
        ("queued", True)
    ]


def _start(tx: Tx, team: Team) -> HostId:
    host = hosts.register(tx, NewHost("elsewhere", "1", ("run",)))
    workflow = Workflow("talk", "talk.yaml", (AgentDefinition("coder", "scripted"),))
    run = runs.start(tx, team.instance, NewRun("talk", "talk.yaml", "run", stored.to_json(workflow), {}, host))
    runs.enter(tx, run, "talk")
    return host


def _gone(tx: Tx, host: HostId) -> None:
    hosts.stop(tx, host)
    jobs.abandon(tx, host)


def _taken(tx: Tx, worker: AttemptWorker) -> None:
    """As a host takes its work."""
    react.react(tx)
    for job in jobs.lost(tx):
        worker.lost(tx, job)
    for job in jobs.take(tx, Appetite(worker.host, attempts=1)):
        worker.begin(tx, job)


def _put_off(tx: ReadTx, team: Team) -> list[Job]:
    return [one for one in jobs.live(tx, team.instance.stream) if one.state == "queued"]


def _attend(tx: Tx, team: Team, host: HostId) -> None:
    phases.carry_on(tx, runs.resume(tx, team.instance.name, host), {})


async def test_an_error_with_odd_characters_is_kept_in_a_form_the_database_takes(store: Store) -> None:
    team = await gather(store, {"coder": [{"crash": True}]})

    class Odd:
        async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
            yield Ended("error", "bad \0 thing")

    async with running(make_host(store, retry=Retry(attempts=1), backend=Odd())):
        await team.say("@coder hello")
        await team.idle()
    (failed,) = await team.events("attempt_failed")
    assert failed.data["error"] == "bad \\0 thing"


async def test_mail_that_loses_its_host_too_often_is_parked_and_the_person_told(store: Store) -> None:
    team = await gather(store, {"coder": [{"hang": True}]})
    said = await team.say("@coder go")
    for _ in range(MOST_LOSSES):
        host = await store.write(lambda tx: hosts.register(tx, NewHost("m", "1:1", ("run",))), caller=SYSTEM)
        worker = make_worker(store, host)

        def lose(tx: Tx, host: HostId = host, worker: AttemptWorker = worker) -> None:
            react.react(tx)
            for job in jobs.take(tx, Appetite(host, attempts=1)):
                worker.begin(tx, job)
            jobs.abandon(tx, host)
            for job in jobs.lost(tx):
                worker.lost(tx, job)

        await store.write(lose, caller=SYSTEM)
    assert [one.state for one in await team.receipts(said)] == ["parked"]
    assert [one.body.splitlines()[0] for one in await team.inbox("human")] == ["coder lost its host 10 times"]


async def test_a_job_that_cannot_be_begun_fails_alone(store: Store) -> None:
    team = await gather(store, {"coder": [{"say": "fine"}]})
    broken = NewJob("attempt:gone", "attempt", team.instance.stream, "ag_gone")
    await store.write(lambda tx: jobs.add(tx, broken), caller=SYSTEM)
    await team.say("@coder hello")
    async with running(make_host(store)):
        await team.idle()
    assert (await team.bodies())[-1] == "coder: fine"


async def test_a_job_past_its_deadline_is_not_begun(store: Store) -> None:
    team = await gather(store, {})

    def add(tx: Tx) -> JobId:
        late = tx.now - timedelta(seconds=1)
        jobs.add(tx, NewJob("late", "attempt", team.instance.stream, "ag_x", run_at=late, deadline=late))
        return jobs.live(tx, team.instance.stream)[0].id

    id = await store.write(add, caller=SYSTEM)
    async with running(make_host(store)):
        await team.until(lambda tx: not jobs.live(tx, team.instance.stream))
    found = await store.read(lambda tx: jobs.get(tx, id))
    assert found is not None
    assert (found.state, found.error) == ("failed", "its deadline passed before it was begun")


async def test_a_host_with_nothing_to_do_does_not_look_for_work(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks after its neighbours again and again, and that is no reason to look for work."""
    looks, rounds = 0, 0
    has_news, vanished, is_enough = react.has_news, neighbours.vanished_hosts, asyncio.Event()
    loop = asyncio.get_running_loop()

    def look(tx: ReadTx) -> bool:
        nonlocal looks
        looks += 1
        return has_news(tx)

    def watch(tx: ReadTx) -> list[hosts.Host]:
        nonlocal rounds
        rounds += 1
        if rounds == 30:
            loop.call_soon_threadsafe(is_enough.set)
        return vanished(tx)

    monkeypatch.setattr(react, "has_news", look)
    monkeypatch.setattr(neighbours, "vanished_hosts", watch)
    async with running(make_host(store, pace=Pace(watch_seconds=0.001))):
        await asyncio.wait_for(is_enough.wait(), 20)
    assert looks < 10


async def test_a_host_wakes_up_when_the_lease_of_another_runs_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one on another machine, whose process nobody here can see."""
    team = await gather(store, {"coder": [{"say": "taken over"}]})
    await team.say("@coder go")

    def take(tx: Tx) -> list[Job]:
        react.react(tx)
        host = hosts.register(tx, NewHost("elsewhere", "1:1", ("run",)))
        return jobs.take(tx, Appetite(host, attempts=1))

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "LEASE", timedelta(seconds=0.3))
        assert len(await store.write(take, caller=SYSTEM)) == 1
    async with running(make_host(store, pace=Pace(watch_seconds=3600))):
        await team.idle()
    assert (await team.bodies())[-1] == "coder: taken over"


async def test_what_another_host_plays_or_records_is_left_to_it(store: Store) -> None:
    """Or it would be done for real, and be missing on the tape."""
    team = await gather(store, {"coder": [{"say": "here"}]})

    def begin(tx: Tx) -> None:
        other = hosts.register(tx, NewHost(neighbours.machine(), "1 1", ("run",)))
        run = runs.start(tx, team.instance, NewRun("w", "w.yaml", "taped", {}, {}, other))
        runs.enter(tx, run, "talk")

    await store.write(begin, caller=SYSTEM)
    async with running(make_host(store)):
        await team.say("@coder hello")
        await team.until(lambda tx: any(job.fence and not job.tries for job in jobs.live(tx, team.instance.stream)))
    assert [job.state for job in await store.read(lambda tx: jobs.live(tx, team.instance.stream))] == ["queued"]
    assert await team.events("attempt_started") == []


class Patient:
    """Says when it has begun, and is at work until it is told to end."""

    def __init__(self) -> None:
        self.said: asyncio.Queue[str] = asyncio.Queue()

    def begin(self, tx: Tx, job: Job) -> Task:
        return partial(self._carry_out, job)

    def late(self, tx: Tx, job: Job) -> None:
        raise AssertionError("it has no deadline")

    def lost(self, tx: Tx, job: Job) -> None:
        """Nothing is half done."""

    async def _carry_out(self, job: Job) -> None:
        self.said.put_nowait(f"begun {job.fence}")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.said.put_nowait(f"ended {job.fence}")


async def test_a_host_that_takes_its_own_job_anew_ends_what_it_did_and_knows_what_it_does(store: Store) -> None:
    team, patient = await gather(store, {}), Patient()
    new = NewHost(neighbours.machine(), str(identity.current()), ("react", "work"))
    host = Host(store, new, lambda _: {"patient": patient})

    def oversleep(tx: Tx) -> None:
        jobs.abandon(tx, host.id)
        tx.wake()

    async with asyncio.timeout(SECONDS), running(host):
        await store.write(lambda tx: jobs.add(tx, NewJob("one", "patient", team.instance.stream, "x")), caller=SYSTEM)
        assert await patient.said.get() == "begun 1"
        await store.write(oversleep, caller=SYSTEM)
        assert sorted([await patient.said.get(), await patient.said.get()]) == ["begun 2", "ended 1"]
        await store.write(lambda tx: jobs.cancel(tx, "one"), caller=SYSTEM)
        assert await patient.said.get() == "ended 2"
