"""Jobs behave like a few lines of Python over a dictionary, whatever is done to them in whatever order."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from moot.core.ids import HostId, StreamId
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import LEASE, Appetite, Job, JobLost, NewJob
from tests.modelled import DATABASES, Bench, bench

_STREAMS = count()
KEYS = st.sampled_from(["a", "b", "attempt"])
HOSTS = st.sampled_from([HostId("ho_1"), HostId("ho_2")])
DELAYS = st.sampled_from([0, 7])


@dataclass(frozen=True)
class Live:
    """A job that is not over, as the model sees it."""

    state: str
    run_at: datetime
    fence: int = 0
    tries: int = 0
    losses: int = 0
    owner: HostId | None = None
    lease_until: datetime | None = None
    again: datetime | None = None


class JobsModel(RuleBasedStateMachine):
    """The key `b` belongs to jobs that must not be repeated blindly."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.stream = StreamId(f"in_{next(_STREAMS)}")
        self.live: dict[str, Live] = {}
        self.held: list[Job] = []

    @property
    def now(self) -> datetime:
        return self.bench.clock.now()

    def teardown(self) -> None:
        """Nothing that the next example could take stays behind."""

        def clear(tx: Tx) -> None:
            for job in jobs.take(tx, Appetite(HostId("broom"), 100, 100)):
                jobs.fail(tx, job, "over")

        for _ in range(4):  # lost jobs, timers and followers come in turns
            self.bench.clock.advance(100)
            self.bench.write(jobs.lost)
            self.bench.write(clear)

    @rule(seconds=st.sampled_from([1, 10, 31]))
    def time_goes_by(self, seconds: int) -> None:
        self.bench.clock.advance(seconds)

    @rule(key=KEYS, delay=DELAYS)
    def add(self, key: str, delay: int) -> None:
        self.bench.clock.advance(0.001)  # no two at the same time: it would be open which is taken first
        at = self.now + timedelta(seconds=delay)
        kind = "attempt" if key == "attempt" else "check"
        on_loss = "unknown" if key == "b" else "repeat"
        new = NewJob(f"{self.stream}:{key}", kind, self.stream, key, run_at=at, on_loss=on_loss)
        self.bench.write(lambda tx: jobs.add(tx, new))
        found = self.live.get(key)
        if found is None:
            self.live[key] = Live("queued", at)
        elif found.state != "queued":
            self.live[key] = replace(found, again=min(found.again or at, at))

    @rule(host=HOSTS, attempts=st.integers(0, 1), others=st.integers(1, 2))
    def take(self, host: HostId, attempts: int, others: int) -> None:
        taken = self.bench.write(lambda tx: jobs.take(tx, Appetite(host, attempts, others)))
        due = {key: one for key, one in self.live.items() if one.state == "queued" and one.run_at <= self.now}
        for is_attempt, limit in ((True, attempts), (False, others)):
            mine = {job.subject for job in taken if (job.kind == "attempt") == is_attempt}
            choice = {key: one.run_at for key, one in due.items() if (key == "attempt") == is_attempt}
            assert mine <= choice.keys()
            assert len(mine) == min(limit, len(choice))
            left = [choice[key] for key in choice.keys() - mine]
            assert all(choice[key] <= moment for key in mine for moment in left)
        for job in taken:
            before = self.live[job.subject]
            self.live[job.subject] = replace(
                before, state="running", owner=host, fence=before.fence + 1, lease_until=self.now + LEASE
            )
        self.held += taken

    @rule(data=st.data(), how=st.sampled_from(["finish", "fail", "retry", "put_back"]), delay=DELAYS)
    def report(self, data: st.DataObject, how: str, delay: int) -> None:
        """By anybody who ever held a job, in time or not."""
        if not self.held:
            return
        job = data.draw(st.sampled_from(self.held[-3:]))
        at = self.now + timedelta(seconds=delay)

        def change(tx: Tx) -> None:
            match how:
                case "finish":
                    jobs.finish(tx, job)
                case "fail":
                    jobs.fail(tx, job, "no")
                case "retry":
                    jobs.retry(tx, job, at=at, error="no")
                case _:
                    jobs.put_back(tx, job)

        found = self.live.get(job.subject)
        is_owner = found is not None and self.is_the_same(job, found)
        if not is_owner:
            with pytest.raises(JobLost):
                self.bench.write(change)
            return
        self.bench.write(change)
        assert found is not None
        free = replace(found, state="queued", owner=None, lease_until=None)
        if how in ("finish", "fail"):
            del self.live[job.subject]
            if found.again is not None:
                self.live[job.subject] = Live("queued", found.again)
        elif how == "retry":
            self.live[job.subject] = replace(free, run_at=at, tries=found.tries + 1, again=later(found.again, at))
        else:
            self.live[job.subject] = replace(free, again=later(found.again, self.now))

    def is_the_same(self, job: Job, found: Live) -> bool:
        stored = self.bench.read(lambda tx: jobs.get(tx, job.id))
        assert stored is not None
        is_this_one = stored.state in ("queued", "running", "unknown")
        return is_this_one and found.state == "running" and found.fence == job.fence

    @rule(host=HOSTS)
    def renew(self, host: HostId) -> None:
        everything = self.bench.write(lambda tx: [job.id for job in jobs.live(tx, self.stream)])
        owned = self.bench.write(lambda tx: jobs.renew(tx, host, everything))
        mine = [key for key, one in self.live.items() if one.state == "running" and one.owner == host]
        assert len(owned) == len(mine)
        for key in mine:
            self.live[key] = replace(self.live[key], lease_until=self.now + LEASE)

    @rule(host=HOSTS)
    def a_host_dies(self, host: HostId) -> None:
        self.bench.write(lambda tx: jobs.abandon(tx, host))
        for key, one in self.live.items():
            if one.state == "running" and one.owner == host:
                self.live[key] = replace(one, lease_until=self.now)
        self.lose()

    @rule(host=HOSTS)
    def jobs_change_hands(self, host: HostId) -> None:
        self.a_host_dies(host)
        self.take(host, 1, 2)

    @rule(key=KEYS)
    def somebody_asks_while_it_runs(self, key: str) -> None:
        self.add(key, 0)
        self.take(HostId("ho_1"), 1, 2)
        self.add(key, 0)

    @rule()
    def lose(self) -> None:
        lost = {job.subject for job in self.bench.write(jobs.lost)}
        assert lost == {key for key, one in self.live.items() if self.is_overdue(one)}
        for key in lost:
            found = self.live[key]
            again = found.again if key == "b" else later(found.again, self.now)
            self.live[key] = replace(
                found,
                state="unknown" if key == "b" else "queued",
                losses=found.losses + 1,
                lease_until=None,
                again=again,
            )

    def is_overdue(self, one: Live) -> bool:
        return one.state == "running" and one.lease_until is not None and one.lease_until <= self.now

    @invariant()
    def the_store_agrees(self) -> None:
        def look(tx: ReadTx) -> tuple[list[Job], datetime | None, datetime | None]:
            return (
                jobs.live(tx, self.stream),
                jobs.next_at(tx, attempts=True, others=True),
                jobs.next_loss(tx),
            )

        found, next_at, next_loss = self.bench.read(look)
        assert {job.subject: (job.state, job.run_at, job.fence, job.tries, job.losses) for job in found} == {
            key: (one.state, one.run_at, one.fence, one.tries, one.losses) for key, one in self.live.items()
        }
        waiting = [one.run_at for one in self.live.values() if one.state == "queued"]
        assert next_at == min(waiting, default=None)
        leases = [one.lease_until for one in self.live.values() if one.state == "running" and one.lease_until]
        assert next_loss == min(leases, default=None)


def later(again: datetime | None, moment: datetime) -> datetime | None:
    """What a repetition at this moment does not do for."""
    return again if again is not None and again > moment else None


@pytest.mark.parametrize("database", DATABASES)
def test_jobs_behave_like_their_model(request: pytest.FixtureRequest, database: str) -> None:
    with bench(database, request) as used:

        class OnThisStore(JobsModel):
            def __init__(self) -> None:
                super().__init__(used)

        run_state_machine_as_test(OnThisStore, settings=used.settings)
