"""Runs at work come to their end at a limit: told once, one last attempt, and their mail waits."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from moot.backends.backend import Assignment, Ended, Progress
from moot.core.caller import SYSTEM
from moot.core.ids import AgentId
from moot.core.tx import Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite
from moot.ledger import pauses, stops, usage
from moot.registry import agents, hosts, instances, runs
from moot.registry.agents import NewAgent
from moot.registry.hosts import NewHost
from moot.registry.runs import NewRun, Run
from moot.runner import limit_workers, limits, lookout, phases
from moot.runner.lookout import Look
from moot.runner.reactions.wake_agents import attempt_key
from moot.store.store import Store
from moot.workflow import stored
from moot.workflow.workflow import AgentDefinition, Budget, Context, Limits, Retry, Workflow
from tests.runner.team import Line, Team, gather, make_host, running

TALK: dict[str, list[Line]] = {"ann": [{"say": "@bob your turn"}], "bob": [{"say": "@ann your turn"}]}
PLAIN = AgentDefinition("", backend="scripted")
UNOWNED = Context(owner_rule="none")
ENDLESS = Limits(hops=None, ping_pong=None)


@dataclass(frozen=True)
class Play:
    """A run of some scripts that has been kicked off."""

    team: Team
    run: Run

    async def look(self) -> Look:
        return await self.team.store.read(lambda tx: lookout.look(tx, self.run.id))

    async def until_limit(self) -> str:
        await self.team.until(lambda tx: lookout.look(tx, self.run.id).limit is not None)
        return str((await self.look()).limit)

    async def attempts(self) -> int:
        return (await self.team.store.read(lambda tx: usage.total(tx, self.run.id))).attempts

    async def warnings(self) -> list[str]:
        return [one.body for one in await self.team.channel() if one.kind == "system"]

    async def close(self) -> None:
        await self.team.store.write(lambda tx: phases.close(tx, self.run.id, "limit", "here"), caller=SYSTEM)


async def play(
    store: Store,
    scripts: Mapping[str, list[Line]] = TALK,
    budget: Budget | None = None,
    guards: Limits = ENDLESS,
    own: AgentDefinition = PLAIN,
    context: Context = UNOWNED,
) -> Play:
    """`own` is what the first agent's definition says besides."""
    found = [replace(PLAIN, name=name, script=tuple(lines)) for name, lines in scripts.items()]
    found[0] = replace(own, name=found[0].name, script=found[0].script)
    workflow = Workflow(
        "talk", "talk.yaml", tuple(found), context=context, budget=budget or Budget(),
        kickoff=f"@{found[0].name} go", limits=guards,
    )  # fmt: skip
    members = [NewAgent(name=one.name, backend="scripted", settings=stored.settings(one)) for one in found]

    def change(tx: Tx) -> tuple[Team, Run]:
        instance = instances.ensure(tx, "default")
        host = hosts.register(tx, NewHost("here", "1", ("run",)))
        new = NewRun("talk", "talk.yaml", "run", stored.to_json(workflow), {"instance": "default"}, host)
        run = phases.launch(tx, instance, new, members)
        jobs.cancel(tx, f"setup:{run.id}")
        phases.begin(tx, run)
        return Team(store, instance), run

    return Play(*await store.write(change, caller=SYSTEM))


async def test_two_agents_who_never_stop_are_stopped_by_the_budget(store: Store) -> None:
    found = await play(store, budget=Budget(attempts=5))
    async with running(make_host(store)):
        assert await found.until_limit() == "budget: 5 attempts"
    assert await found.attempts() == 6  # the last one, to finish and sum up
    assert await found.warnings() == ["The run has reached its budget: 5 attempts. One last attempt, then it ends."]
    assert [one.body for one in await found.team.inbox("ann")] == ["@ann your turn"]  # waits for resume


async def test_the_last_attempt_is_announced_before_it_begins(store: Store) -> None:
    found = await play(store, budget=Budget(attempts=2))
    async with running(make_host(store)):
        await found.until_limit()
    (warning,) = [one for one in await found.team.channel() if one.kind == "system"]
    assert warning.seq < (await found.team.events("attempt_started"))[-1].seq


async def test_a_run_goes_on_where_a_limit_stopped_it(store: Store) -> None:
    found = await play(store, budget=Budget(attempts=2))
    async with running(make_host(store)):
        await found.until_limit()
        await found.close()
    await store.write(lambda tx: _resume(tx, found.run, {"attempts": 4}), caller=SYSTEM)
    async with running(make_host(store)):
        assert await found.until_limit() == "budget: 4 attempts"
    assert (await found.attempts(), len(await found.warnings())) == (5, 2)


def _resume(tx: Tx, run: Run, changes: Mapping[str, int | None]) -> None:
    phases.carry_on(tx, runs.resume(tx, run.instance, hosts.register(tx, NewHost("here", "1", ("run",)))), changes)


async def test_what_failed_attempts_use_counts(store: Store) -> None:
    line: Line = {"fail": "no", "usage": {"tokens": 100, "turns": 2, "cost": 0.25, "estimated": True}}
    found = await play(store, {"ann": [line]})
    async with running(make_host(store)):
        await found.team.idle()
    used = await store.read(lambda tx: usage.total(tx, found.run.id))
    assert (used.attempts, used.tokens, used.turns, used.dollars, used.is_estimated) == (3, 300, 6, 0.75, True)


async def test_after_a_limit_nothing_is_tried_again_and_its_mail_waits(store: Store) -> None:
    own = replace(PLAIN, retry=Retry(attempts=2))
    found = await play(store, {"ann": [{"fail": "no", "usage": {"cost": 1.0}}]}, Budget(cost=1.0), own=own)
    async with running(make_host(store)):
        assert await found.until_limit() == "budget: $1.00"
    assert await found.attempts() == 2
    assert [one.state for one in await found.team.inbox("ann")] == ["queued"]


async def test_when_the_time_is_up_who_hangs_is_interrupted(store: Store) -> None:
    found = await play(store, {"ann": [{"hang": True}]}, Budget(time=timedelta(milliseconds=200)))
    async with running(make_host(store)):
        assert await found.until_limit() == "budget: 0.2 s"
    assert len(await found.warnings()) == 1
    assert len(await found.team.events("attempt_interrupted")) == 1
    assert [one.state for one in await found.team.inbox("ann")] == ["queued"]


async def test_who_works_is_interrupted_in_time_though_another_limit_was_reached_before(store: Store) -> None:
    found = await play(store, {"ann": [{"hang": True}]}, Budget(time=timedelta(microseconds=1)))

    def time_is_up(tx: Tx) -> None:
        stops.reach(tx, found.run.id, "budget: 1 attempts")
        host = hosts.register(tx, NewHost("here", "2", ("work",)))
        [timer] = [job for job in jobs.take(tx, Appetite(host, attempts=0, others=9)) if job.kind == limits.TIME]
        limit_workers.end_in_time(tx, timer)

    await store.write(time_is_up, caller=SYSTEM)
    keys = [job.key for job in await live(found.team) if job.kind == limits.TIME]
    assert keys == [limits.over_key(found.run)]
    assert await found.warnings() == []


async def test_the_timer_of_a_run_that_has_ended_is_gone(store: Store) -> None:
    found = await play(store, {"ann": [{}]}, Budget(time=timedelta(hours=1)))
    assert limits.TIME in {job.kind for job in await live(found.team)}
    async with running(make_host(store)):
        await found.team.idle()
        await found.close()
    assert limits.TIME not in {job.kind for job in await live(found.team)}


async def live(team: Team) -> list[jobs.Job]:
    return await team.store.read(lambda tx: jobs.live(tx, team.instance.stream))


async def test_an_agent_over_its_own_limit_is_stopped_and_the_others_go_on(store: Store) -> None:
    scripts: dict[str, list[Line]] = {**TALK, "cyd": [{"say": "still here"}]}
    found = await play(store, scripts, own=replace(PLAIN, budget=Budget(attempts=2)))
    async with running(make_host(store)):
        await found.team.idle()
        await found.team.say("@cyd are you there")
        await found.team.idle()
    assert (await found.look()).stopped == ("ann: budget: 2 attempts",)
    assert await found.warnings() == [
        "ann has reached its budget: 2 attempts. One last attempt, then it is stopped.",
        "ann is stopped (budget: 2 attempts).\nParked for it: 1 message.",
    ]
    assert await found.attempts() == 3 + 3 + 1
    assert (await found.team.bodies())[-1] == "cyd: still here"
    assert [one.state for one in await found.team.inbox("ann")] == ["parked"]


async def test_talk_in_circles_ends_a_run_after_one_last_attempt(store: Store) -> None:
    found = await play(store, guards=Limits(hops=None, ping_pong=6))
    async with running(make_host(store)):
        reason = await found.until_limit()
    assert reason == "ping-pong: bob and ann have sent each other 6 messages in turn"
    assert await found.attempts() == 7
    assert await found.warnings() == [
        f"Talk goes round in circles ({reason}). One last attempt, by ann, then the run ends; moot resume goes on."
    ]
    assert await found.team.inbox("ann") == []  # the message that was held back is dealt with
    assert [one.state for one in await found.team.inbox("bob")] == ["queued"]  # and wakes nobody


async def test_the_last_attempt_of_talk_in_circles_is_that_of_whom_the_message_was_for(store: Store) -> None:
    found = await play(store, guards=Limits(hops=None, ping_pong=2))
    await store.write(lambda tx: stops.reach(tx, found.run.id, "hops", heir=AgentId("ag_other")), caller=SYSTEM)
    async with running(make_host(store)):
        assert await found.until_limit() == "hops"
    assert await found.attempts() == 0
    assert [one.state for one in await found.team.inbox("ann")] == ["queued"]


async def test_where_moot_starts_nobody_of_them_talk_in_circles_ends_without_a_last_attempt(store: Store) -> None:
    found = await play(store, {"ann": [{"say": "@guest on"}]}, guards=Limits(hops=1, ping_pong=None))
    await store.write(
        lambda tx: agents.register(tx, found.team.instance, NewAgent(name="guest", backend="external")), caller=SYSTEM
    )
    async with running(make_host(store)):
        reason = await found.until_limit()
    assert await found.warnings() == [f"Talk goes round in circles ({reason}). The run ends; moot resume goes on."]


async def test_a_long_chain_of_agents_ends_a_run(store: Store) -> None:
    scripts: dict[str, list[Line]] = {
        "ann": [{"say": "@bob on"}], "bob": [{"say": "@cyd on"}], "cyd": [{"say": "@ann on"}]
    }  # fmt: skip
    found = await play(store, scripts, guards=Limits(hops=7, ping_pong=3))
    async with running(make_host(store)):
        assert await found.until_limit() == "hops: 7 messages in one chain"
    assert await found.attempts() == 8


async def test_without_a_run_mail_that_goes_round_in_circles_is_parked_and_the_person_told(store: Store) -> None:
    team = await gather(store, TALK)
    async with running(make_host(store)):
        await team.say("@ann go")
        await team.idle()
    assert [one.state for one in await team.inbox("ann")] == ["parked"]
    (told,) = await team.inbox("human")
    assert told.body.endswith("Parked: 1 message; moot retry goes on.")


async def test_an_agents_own_retry_and_timeout_go_before_the_projects(store: Store) -> None:
    own = replace(PLAIN, retry=Retry(attempts=2), timeout=timedelta(milliseconds=50))
    found = await play(store, {"ann": [{"hang": True}]}, own=own)
    async with running(make_host(store)):
        await found.team.idle()
    failures = await found.team.events("attempt_failed")
    assert [event.data["error"] for event in failures] == ["it ran longer than 0.1 s"] * 2


async def test_a_provider_that_asks_to_wait_does_not_use_up_the_last_attempt(store: Store) -> None:
    found = await play(store, budget=Budget(attempts=0))
    until = datetime.now(UTC) + timedelta(hours=1)
    await store.write(lambda tx: pauses.pause(tx, "scripted", until, "429"), caller=SYSTEM)
    async with running(make_host(store)):
        await found.team.until(lambda tx: any(job.run_at >= until for job in jobs.live(tx, found.run.stream)))
        assert (await found.attempts(), len(await found.warnings())) == (0, 1)
        await store.write(lambda tx: _go_on(tx, found), caller=SYSTEM)
        assert await found.until_limit() == "budget: 0 attempts"
    assert (await found.attempts(), len(await found.warnings())) == (1, 1)


def _go_on(tx: Tx, found: Play) -> None:
    pauses.lift(tx, "scripted")
    jobs.hurry(tx, attempt_key(agents.named(tx, found.run.stream, "ann")))


class TurnedAway:
    """Is asked to wait by its provider, once."""

    def __init__(self) -> None:
        self.times = 0

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        self.times += 1
        yield Ended("rate_limit", "429") if self.times == 1 else Ended(text="summed up")


async def test_a_last_attempt_that_its_provider_turned_away_is_made_later(store: Store) -> None:
    found = await play(store, {"ann": []}, Budget(attempts=0))
    async with running(make_host(store, backend=TurnedAway())):
        assert await found.until_limit() == "budget: 0 attempts"
    assert "ann: summed up" in await found.team.bodies()
    assert len(await found.warnings()) == 1


async def test_a_failure_in_an_agents_last_attempt_stops_it(store: Store) -> None:
    own = replace(PLAIN, budget=Budget(attempts=1))
    found = await play(store, {"ann": [{"fail": "no"}]}, own=own)
    async with running(make_host(store)):
        await found.team.idle()
    assert await found.attempts() == 2
    assert (await found.look()).stopped == ("ann: budget: 1 attempt",)
    assert [one.state for one in await found.team.inbox("ann")] == ["parked"]


async def test_an_agent_that_has_summed_up_at_its_own_limit_is_told_of_at_the_end(store: Store) -> None:
    found = await play(store, {"ann": [{"say": "done"}]}, own=replace(PLAIN, budget=Budget(attempts=1)))
    async with running(make_host(store)):
        await found.team.idle()
        assert (await found.look()).stopped == ()  # it has not wanted more than it may
        await found.team.say("@ann again")
        await found.team.idle()
    assert (await found.look()).stopped == ("ann: budget: 1 attempt",)
    assert (await found.attempts(), (await found.look()).parked) == (2, 0)
