"""What a plan asks for is looked at before a task counts as done; what does not hold goes back to its holder."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from moot.board import checks, evidence, tasks
from moot.board.errors import PlanRefused
from moot.board.evidence import Command
from moot.core.ids import HostId, InstanceName, TaskId
from moot.core.json import Json
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.jobs.jobs import Appetite
from moot.process import identity
from moot.process.guardian import Guardian
from moot.proposals import proposals
from moot.registry.hosts import NewHost
from moot.requests import requests
from moot.runner import neighbours
from moot.runner.host import Host
from moot.runner.verify_worker import VerifyWorker
from moot.runner.worker import Task, Worker
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.tools import verifying
from moot.workspaces import workspaces
from moot.workspaces.workspaces import NewWorkspace, Plan, Workspace
from tests.runner.team import SECONDS, running
from tests.tools.desk import OPERATOR, Desk, open_desk

T = TypeVar("T")


@dataclass(frozen=True)
class Bench:
    """A task with checks that somebody holds, and a host that looks."""

    desk: Desk
    root: Path
    id: str

    async def complete(self, **detail: Json) -> str:
        done = await self.desk.done(
            OPERATOR, "task_update_status", id=self.id, status="completed", outcome="fine", outcome_detail=detail
        )
        return done["status"]

    async def task(self) -> dict[str, Any]:
        return await self.desk.done(OPERATOR, "task_get", id=self.id)

    async def becomes(self, status: str) -> dict[str, Any]:
        await until(self.desk.house.store, lambda tx: tasks.get(tx, TaskId(self.id)).status == status)
        return await self.task()

    async def said(self) -> str:
        return "\n".join(await self.desk.said())


async def held(store: Store, root: Path, *wanted: dict[str, Json]) -> Bench:
    """Without a host."""
    desk = await open_desk(store)
    worker = (await desk.done(OPERATOR, "agent_register", name="ann", runtime="x"))["id"]
    made = await desk.done(OPERATOR, "workflow_create", name="w")
    plan: dict[str, Json] = {"tasks": [{"name": "fix", "checks": [*wanted]}]}
    await desk.done(OPERATOR, "workflow_set_plan", id=made["id"], plan=plan)
    id = (await desk.done(OPERATOR, "workflow_get", id=made["id"]))["tasks"][0]["id"]
    await desk.done(OPERATOR, "task_claim", task_id=id, agent_id=worker)
    return Bench(desk, root, id)


@asynccontextmanager
async def bench(store: Store, root: Path, *wanted: dict[str, Json]) -> AsyncGenerator[Bench]:
    at = await held(store, root, *wanted)
    with Guardian() as guardian:

        def workers(host: HostId) -> Mapping[str, Worker]:
            return {verifying.VERIFY: VerifyWorker(store, Worktrees(store, root, root), guardian)}

        new = NewHost(neighbours.machine(), str(identity.current()), ("react", "work"))
        async with running(Host(store, new, workers)):
            yield at


async def until(store: Store, is_so: Callable[[ReadTx], T]) -> T:
    """Look after every commit until there is something."""
    async with asyncio.timeout(SECONDS):
        with store.listen() as signal:
            while True:
                signal.clear()
                if found := await store.read(is_so):
                    return found
                await signal.wait()


async def test_a_task_is_completed_when_all_that_is_asked_for_holds(store: Store, tmp_path: Path) -> None:
    (tmp_path / "made.txt").touch()
    schema: Json = {"required": ["files"]}
    wanted: list[dict[str, Json]] = [{"shell": "test -e made.txt"}, {"file": "made.txt"}, {"schema": schema}]
    async with bench(store, tmp_path, *wanted) as at:
        assert await at.complete(files=1) == "verifying"
        done = await at.becomes("completed")
        assert (done["outcome"], done["outcome_detail"]) == ("fine", {"files": 1})
        found = await store.read(lambda tx: checks.latest(tx, TaskId(at.id)))
        assert [one.state for one in found] == ["passed"] * 3


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"shell": "echo oh no; exit 3"}, "failed with exit code 3.\noh no"),
        ({"shell": "exit 0", "exit_code": 1}, "failed with exit code 0."),
        ({"shell": "sleep 60", "timeout": "100ms"}, "did not end in time"),
        ({"file": "missing.txt"}, "the file missing.txt is not there."),
        ({"file": "x" * 300}, "xxx is not there."),
        ({"schema": {"required": ["files"]}}, "its outcome_detail does not fit: 'files' is a required property"),
        ({"schema": {"$ref": "#/$defs/none"}}, "its outcome_detail does not fit: its schema cannot be applied to it"),
    ],
)
async def test_what_does_not_hold_goes_back_to_its_holder_with_the_reason(
    store: Store, tmp_path: Path, wanted: dict[str, Json], reason: str
) -> None:
    async with bench(store, tmp_path, wanted) as at:
        assert await at.complete() == "verifying"
        back = await at.becomes("in_progress")
        assert back["claimed_by"] is not None
        assert reason in await at.said()
        found = await store.read(lambda tx: checks.latest(tx, TaskId(at.id)))
        assert (found[0].state, reason in found[0].output) == ("failed", True)


async def test_where_no_command_can_be_run_the_task_goes_back_with_the_reason(store: Store, tmp_path: Path) -> None:
    root = tmp_path / "gone"
    root.mkdir()
    async with bench(store, root, {"shell": "true"}) as at:
        root.rmdir()
        assert await at.complete() == "verifying"
        await at.becomes("in_progress")
        assert "cannot start in" in await at.said()


async def test_the_next_time_all_of_it_is_looked_at_anew(store: Store, tmp_path: Path) -> None:
    async with bench(store, tmp_path, {"shell": "echo x >> ran"}, {"file": "there"}) as at:
        await at.complete()
        await at.becomes("in_progress")
        (tmp_path / "there").touch()
        await at.complete()
        await at.becomes("completed")
        assert (tmp_path / "ran").read_text() == "x\nx\n"


async def test_what_never_holds_fails_after_some_tries_and_whoever_claims_it_anew_has_as_many(
    store: Store, tmp_path: Path
) -> None:
    async with bench(store, tmp_path, {"file": "missing.txt"}) as at:
        for _ in range(verifying.MOST_TRIES - 1):
            await at.complete()
            await at.becomes("in_progress")
        await at.complete()
        failed = await at.becomes("failed")
        assert failed["error"] == "It did not hold 5 times: the file missing.txt is not there."
        await at.desk.done(OPERATOR, "task_update_status", id=at.id, status="pending")
        worker = (await at.desk.done(OPERATOR, "agent_get", id="ann"))["id"]
        await at.desk.done(OPERATOR, "task_claim", task_id=at.id, agent_id=worker)
        await at.complete()
        await at.becomes("in_progress")


async def test_a_person_approves_or_sends_it_back(store: Store, tmp_path: Path) -> None:
    async with bench(store, tmp_path, {"approval": "human"}) as at:

        async def answer(text: str, *, is_approved: bool) -> None:
            found = await until(store, lambda tx: requests.open_of(tx, stream))
            arguments: dict[str, Json] = {"request_id": found[0].id, "approve": is_approved, "answer": text}
            await at.desk.done(OPERATOR, "request_respond", **arguments)

        stream = (await store.read(lambda tx: tasks.get(tx, TaskId(at.id)))).stream
        await at.complete()
        await answer("not yet", is_approved=False)
        await at.becomes("in_progress")
        assert "human has denied it: not yet" in await at.said()
        assert await at.complete() == "verifying"
        assert await at.complete() == "verifying"
        await answer("", is_approved=True)
        await at.becomes("completed")


@pytest.mark.parametrize("is_here", [True, False])
async def test_it_is_looked_for_only_where_it_was_worked_on_and_once_that_is_there(
    store: Store, tmp_path: Path, *, is_here: bool
) -> None:
    (tmp_path / "made.txt").touch()  # in the project, where it does not count
    at = await held(store, tmp_path, {"schema": {}}, {"file": "made.txt"})
    (tree := tmp_path / "tree").mkdir()

    def attach(tx: Tx) -> Workspace:
        stream = tasks.get(tx, TaskId(at.id)).stream
        one = workspaces.add(tx, NewWorkspace(stream, InstanceName("default"), "fix", created_name="ann"))
        workspaces.attach(tx, one.id, (at.id,))
        return one

    one = await store.write(attach, caller=OPERATOR)
    with Guardian() as guardian:
        worker = VerifyWorker(store, Worktrees(store, tmp_path, tmp_path), guardian)
        place = worker.worktrees.place if is_here else "elsewhere:/project"

        def take(tx: Tx) -> Task | None:
            jobs.hurry(tx, f"{verifying.VERIFY}:{at.id}")
            (job,) = (job for job in jobs.take(tx, Appetite(HostId("ho_1"), others=9)) if job.kind == verifying.VERIFY)
            return worker.begin(tx, job)

        await at.complete()
        assert await store.write(take, caller=OPERATOR) is None  # its worktree is not made yet

        def make(tx: Tx) -> None:
            workspaces.settle(tx, one.id, place)
            workspaces.plan(tx, one.id, Plan(str(tmp_path), str(tree), "main", "c0", is_branch_ours=True))
            workspaces.made(tx, one.id)

        await store.write(make, caller=OPERATOR)
        task = await store.write(take, caller=OPERATOR)
        assert (task is not None) == is_here
        if task is not None:
            await task()
        assert (await at.task())["status"] == ("in_progress" if is_here else "verifying")


@pytest.mark.parametrize("by", ["human", "vote"])
async def test_who_was_asked_need_not_answer_when_the_task_is_taken_back(store: Store, tmp_path: Path, by: str) -> None:
    async with bench(store, tmp_path, {"approval": by}) as at:
        await at.desk.house.join("eve")
        stream = (await store.read(lambda tx: tasks.get(tx, TaskId(at.id)))).stream

        def asked(tx: ReadTx) -> bool:
            return bool(requests.open_of(tx, stream) or proposals.open_of(tx, stream))

        await at.complete()
        await until(store, asked)
        await at.desk.done(OPERATOR, "task_release", task_id=at.id)
        await until(store, lambda tx: not asked(tx))
        assert (await at.task())["status"] == "pending"


async def test_a_task_that_is_taken_back_meanwhile_is_not_ended_by_what_was_found(store: Store, tmp_path: Path) -> None:
    async with bench(store, tmp_path, {"shell": "until [ -e go ]; do sleep 0.01; done"}) as at:
        await at.complete()
        stream = (await store.read(lambda tx: tasks.get(tx, TaskId(at.id)))).stream
        await until(store, lambda tx: [one for one in jobs.live(tx, stream) if one.state == "running"])
        await at.desk.done(OPERATOR, "task_release", task_id=at.id)
        (tmp_path / "go").touch()
        await until(store, lambda tx: all(one.kind != verifying.VERIFY for one in jobs.live(tx, stream)))
        assert (await at.task())["status"] == "pending"


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"shell": "true", "file": "x"},
        {"shell": ""},
        {"shell": "true", "tiemout": "1s"},
        {"shell": "true", "timeout": "soon"},
        {"shell": "true", "exit_code": 256},
        {"shell": "true", "exit_code": True},
        {"file": "/etc/passwd"},
        {"file": "a/../../b"},
        {"schema": "x"},
        {"approval": 1},
        {"vote": "all"},
    ],
)
def test_what_is_no_check_is_refused_with_the_plan(wanted: dict[str, Json]) -> None:
    with pytest.raises(PlanRefused):
        evidence.parse(wanted)


def test_checks_have_a_time_limit() -> None:
    found = evidence.parse({"shell": "make test"})
    assert isinstance(found, Command)
    assert (found.timeout, found.exit_code) == (evidence.TIMEOUT, 0)
