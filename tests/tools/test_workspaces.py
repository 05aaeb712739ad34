"""The workspace tools: with a host at work in a real repository, and what is refused before git is asked."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from moot.board import claims
from moot.board.claims import Holder
from moot.core.caller import Caller
from moot.core.errors import NotAllowed
from moot.core.ids import TaskId
from moot.core.json import Json
from moot.process import identity
from moot.registry.hosts import NewHost
from moot.runner import neighbours
from moot.runner.host import Host
from moot.runner.worktree_worker import WorktreeWorker
from moot.runner.worktrees import Worktrees
from moot.store.postgres import PostgresStore
from moot.store.store import Store
from moot.tools import isolation, workspaces
from tests.interleave import interleave
from tests.tools.desk import OPERATOR, Desk, member, open_desk
from tests.workspaces import repos
from tests.workspaces.repos import Repo

FULL: dict[str, Json] = {"permissions": {"edit": "allow", "shell": "allow", "network": "allow"}}


@asynccontextmanager
async def working(store: Store, repo: Repo) -> AsyncGenerator[None]:
    """A host that does nothing but this."""
    (repo.top / ".workflow").mkdir(exist_ok=True)
    worker = WorktreeWorker(Worktrees(store, repo.top, repo.top / ".workflow"))
    new = NewHost(neighbours.machine(), str(identity.current()), ("react", "work"), None)
    host = Host(store, new, lambda id: {isolation.WORKTREE: worker})
    is_ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(host.run(is_ready.set))
        await is_ready.wait()
        try:
            yield
        finally:
            host.stop()


@dataclass(frozen=True)
class Yard:
    desk: Desk
    repo: Repo
    coder: Caller


@pytest.fixture
async def yard(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Yard]:
    monkeypatch.setenv("HOME", str(tmp_path))
    desk = await open_desk(store)
    repo = repos.make(tmp_path / "project")
    coder = await desk.house.join("coder")
    async with working(store, repo):
        yield Yard(desk, repo, member(coder))


async def test_from_the_first_call_to_the_last(yard: Yard) -> None:
    made = await yard.desk.done(yard.coder, "workspace_create", branch="fix", base_branch="main")
    assert (made["status"], made["base_commit"]) == ("active", yard.repo.tip("main"))
    assert "waiting" not in made
    tree = Repo(Path(made["worktree_path"]))
    tree.write("a.txt", "done\n")
    merged = await yard.desk.done(yard.coder, "workspace_merge", id=made["id"])
    assert (merged["status"], merged["merge_commit"]) == ("merged", yard.repo.tip("main"))
    assert yard.repo.read("a.txt") == "done\n"
    gone = await yard.desk.done(yard.coder, "workspace_update", id=made["id"], status="merged", cleanup_worktree=True)
    assert (gone["status"], "worktree_path" in gone) == ("merged", False)
    assert (yard.repo.branches(), yard.repo.worktrees()) == (["main"], [yard.repo.top])
    (listed,) = (await yard.desk.done(OPERATOR, "workspace_list", status="merged"))["workspaces"]
    assert (listed["id"], listed["created_by"]) == (made["id"], "coder")
    assert (await yard.desk.done(OPERATOR, "workspace_list", status="active"))["workspaces"] == []


async def planned(desk: Desk, **more: Json) -> tuple[str, str]:
    """A workflow with a task."""
    made = await desk.done(OPERATOR, "workflow_create", name="w", source_type="prompt", source_content="x", **more)
    plan: Json = {"summary": "s", "approach": "a", "tasks": [{"name": "Fix it", "description": "d"}]}
    await desk.done(OPERATOR, "workflow_set_plan", id=made["id"], plan=plan)
    (task,) = (await desk.done(OPERATOR, "workflow_next_tasks", workflow_id=made["id"]))["tasks"]
    return made["id"], task["id"]


async def test_tasks_of_the_workflow_are_attached_and_named_in_the_merge(yard: Yard) -> None:
    workflow, task = await planned(yard.desk)
    made = await yard.desk.done(
        yard.coder, "workspace_create", branch="fix", workflow_id=workflow, task_ids=[task], create_worktree=True
    )
    assert (made["workflow_id"], made["task_ids"]) == (workflow, [task])
    Repo(Path(made["worktree_path"])).write("a.txt", "done\n")
    yard.repo.commit("ours", b__txt="ours\n")
    await yard.desk.done(yard.coder, "workspace_merge", id=made["id"])
    assert f"Task: {task} Fix it" in yard.repo.git("log", "-1", "--format=%B")
    found = await yard.desk.done(OPERATOR, "workspace_list", workflow_id=workflow)
    assert [one["id"] for one in found["workspaces"]] == [made["id"]]
    assert (await yard.desk.done(OPERATOR, "workspace_list", workflow_id="wf_x"))["workspaces"] == []


async def test_only_its_holder_says_where_a_task_is_done(yard: Yard) -> None:
    """The checks are made there, and whoever takes the task over goes on there."""
    workflow, task = await planned(yard.desk)
    other = member(await yard.desk.house.join("other"))
    await yard.desk.done(yard.coder, "task_claim", task_id=task)
    wanted: dict[str, Json] = {"workflow_id": workflow, "task_ids": [task]}
    assert await yard.desk.refused(other, "workspace_create", branch="theirs", **wanted) == "NOT_ALLOWED"
    made = await yard.desk.done(other, "workspace_create", branch="theirs", workflow_id=workflow)
    assert await yard.desk.refused(other, "workspace_update", id=made["id"], task_ids=[task]) == "NOT_ALLOWED"
    own = await yard.desk.done(yard.coder, "workspace_create", branch="own", **wanted)
    assert own["task_ids"] == [task]
    assert (await yard.desk.done(OPERATOR, "workspace_update", id=made["id"], task_ids=[task]))["task_ids"] == [task]


async def test_who_claims_a_task_meanwhile_says_where_it_is_done(pg_store: PostgresStore) -> None:
    desk = await open_desk(pg_store)
    _, task = await planned(desk)
    coder, other = await desk.house.join("coder"), await desk.house.join("other")
    holder = Holder(coder.id, coder.name, "hand")
    with pytest.raises(NotAllowed):
        await interleave(
            pg_store,
            lambda tx: claims.claim(tx, TaskId(task), holder, coder.stream),
            lambda tx: isolation.check_holders(tx, other.stream, other, [task]),
        )


async def test_conflicts_are_an_answer(yard: Yard) -> None:
    made = await yard.desk.done(yard.coder, "workspace_create", branch="fix")
    Repo(Path(made["worktree_path"])).write("a.txt", "theirs\n")
    yard.repo.commit("ours", a__txt="ours\n")
    refused = await yard.desk.done(yard.coder, "workspace_merge", id=made["id"])
    assert (refused["status"], refused["conflicts"]) == ("active", [{"file": "a.txt", "kind": "contents"}])
    assert "merge_commit" not in refused


async def test_the_same_asked_again_is_the_same_and_another_gets_another(yard: Yard) -> None:
    first = await yard.desk.done(yard.coder, "workspace_create", branch="fix")
    again = await yard.desk.done(yard.coder, "workspace_create", branch="fix")
    assert again == first
    other = member(await yard.desk.house.join("other"))
    assert await yard.desk.refused(other, "workspace_create", branch="fix") == "BRANCH_TAKEN"
    assert await yard.desk.refused(other, "workspace_create", branch="FIX") == "BRANCH_TAKEN"
    for tool in ("workspace_merge", "workspace_update"):
        assert await yard.desk.refused(other, tool, id=first["id"]) == "NOT_ALLOWED"
        assert await yard.desk.refused(yard.coder, tool, id="ws_x") == "WORKSPACE_NOT_FOUND"


@pytest.mark.parametrize("is_named_first", [True, False])
async def test_the_repository_of_the_project_is_the_same_named_or_not(yard: Yard, *, is_named_first: bool) -> None:
    named: dict[str, Json] = {"repo_path": str(yard.repo.top)}
    ways = [named, {}] if is_named_first else [{}, named]
    first, second = [await yard.desk.done(yard.coder, "workspace_create", branch="fix", **how) for how in ways]
    assert (second["id"], second["status"]) == (first["id"], "active")
    assert (await yard.desk.done(yard.coder, "workspace_create", branch="fix", repo_path="."))["id"] == first["id"]
    (only,) = (await yard.desk.done(OPERATOR, "workspace_list"))["workspaces"]
    assert only["repo_path"] == str(yard.repo.top)


async def test_what_cannot_be_made_is_told_and_leaves_the_branch_free(yard: Yard, tmp_path: Path) -> None:
    repos.make(tmp_path / "beside")
    create = "workspace_create"
    assert await yard.desk.refused(yard.coder, create, branch="a..b") == "BRANCH_REFUSED"
    assert await yard.desk.refused(yard.coder, create, branch="fix", base_branch="x") == "BRANCH_NOT_FOUND"
    beside = str(tmp_path / "beside")
    assert await yard.desk.refused(yard.coder, create, branch="fix", repo_path=beside) == "REPOSITORY_ELSEWHERE"
    assert await yard.desk.refused(yard.coder, create, branch="fix", repo_path="../beside") == "REPOSITORY_ELSEWHERE"
    assert await yard.desk.refused(yard.coder, create, branch="fix", workflow_id="wf_x") == "WORKFLOW_NOT_FOUND"
    assert await yard.desk.refused(yard.coder, create, branch="fix", task_ids=["tk_x"]) == "TASK_NOT_FOUND"
    assert (await yard.desk.done(yard.coder, create, branch="fix"))["status"] == "active"
    theirs = await yard.desk.done(OPERATOR, create, branch="fix", repo_path=beside)
    assert theirs["repo_path"] == beside


async def test_only_who_may_run_commands_has_a_setup(yard: Yard) -> None:
    refused = await yard.desk.refused(yard.coder, "workspace_create", branch="fix", setup="touch prepared")
    assert refused == "NOT_ALLOWED"
    made = await yard.desk.done(OPERATOR, "workspace_create", branch="fix", setup="touch prepared")
    assert (Path(made["worktree_path"]) / "prepared").exists()


async def test_who_may_not_change_files_merges_nothing(yard: Yard) -> None:
    asking = member(await yard.desk.house.join("asking", "scripted"))
    made = await yard.desk.done(asking, "workspace_create", branch="fix")
    assert await yard.desk.refused(asking, "workspace_merge", id=made["id"]) == "NOT_ALLOWED"
    assert (await yard.desk.done(OPERATOR, "workspace_merge", id=made["id"]))["status"] == "merged"


async def test_a_branch_can_be_noted_without_a_worktree_and_told_as_merged(yard: Yard) -> None:
    yard.repo.git("branch", "mine")
    made = await yard.desk.done(yard.coder, "workspace_create", branch="mine", create_worktree=False)
    assert (made["status"], "worktree_path" in made) == ("active", False)
    told = await yard.desk.done(
        yard.coder, "workspace_update", id=made["id"], status="merged", merge_commit="abc123", cleanup_worktree=True
    )
    assert (told["status"], told["merge_commit"]) == ("merged", "abc123")
    assert yard.repo.branches() == ["main", "mine"]
    assert (
        await yard.desk.refused(yard.coder, "workspace_update", id=made["id"], status="abandoned") == "WORKSPACE_CLOSED"
    )


async def test_an_abandoned_one_can_be_taken_up_again(yard: Yard) -> None:
    made = await yard.desk.done(yard.coder, "workspace_create", branch="fix")
    Repo(Path(made["worktree_path"])).write("new.txt", "new\n")
    gone = await yard.desk.done(
        yard.coder, "workspace_update", id=made["id"], status="abandoned", cleanup_worktree=True
    )
    assert (gone["status"], "worktree_path" in gone) == ("abandoned", False)
    back = await yard.desk.done(yard.coder, "workspace_update", id=made["id"], status="active")
    assert back["worktree_path"] == made["worktree_path"]
    assert Repo(Path(back["worktree_path"])).read("new.txt") == "new\n"


async def test_without_a_host_it_waits_and_the_same_call_goes_on_waiting(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(workspaces, "WAIT_SECONDS", 0.05)
    desk, repo = await open_desk(store), repos.make(tmp_path / "project")
    coder = member(await desk.house.join("coder"))
    call = {"branch": "fix"}
    first = (await desk.call(coder, "workspace_create", {**call}, key="k")).structured
    assert (first["status"], first["waiting"]) == ("active", "making")
    monkeypatch.setattr(workspaces, "WAIT_SECONDS", 20.0)
    async with working(store, repo):
        second = (await desk.call(coder, "workspace_create", {**call}, key="k")).structured
    assert (second["id"], second.get("waiting")) == (first["id"], None)
    assert Path(str(second["worktree_path"])).is_dir()


async def test_a_workflow_that_wants_it_has_a_worktree_for_each_task(yard: Yard) -> None:
    _, task = await planned(yard.desk, auto_create_workspaces=True)
    claimed = await yard.desk.done(yard.coder, "task_claim", task_id=task, agent_id=str(yard.coder.agent))
    made = await yard.desk.done(yard.coder, "workspace_update", id=claimed["workspace_id"])  # waits until it is there
    assert (made["branch"], made["task_ids"]) == ("moot/default/Fix-it", [task])
    Repo(Path(made["worktree_path"])).write("new.txt", "new\n")
    # Who takes the task over goes on there, and may merge it.
    other = await yard.desk.house.join("other")
    assert await yard.desk.refused(member(other), "workspace_merge", id=made["id"]) == "NOT_ALLOWED"
    await yard.desk.done(yard.coder, "task_release", task_id=task, agent_id=str(yard.coder.agent))
    again = await yard.desk.done(member(other), "task_claim", task_id=task, agent_id=other.id)
    assert again["workspace_id"] == made["id"]
    assert (await yard.desk.done(member(other), "workspace_merge", id=made["id"]))["status"] == "merged"
    assert yard.repo.read("new.txt") == "new\n"


async def test_a_task_that_is_done_again_goes_on_in_its_worktree_however_often_that_was_merged(yard: Yard) -> None:
    _, task = await planned(yard.desk, auto_create_workspaces=True)
    me = str(yard.coder.agent)
    places: set[str] = set()
    for number in range(3):
        claimed = await yard.desk.done(yard.coder, "task_claim", task_id=task, agent_id=me)
        made = await yard.desk.done(yard.coder, "workspace_update", id=claimed["workspace_id"])
        places.add(made["worktree_path"])
        Repo(Path(made["worktree_path"])).write(f"{number}.txt", "new\n")
        yard.repo.commit(**{f"other_{number}__txt": "new\n"})  # so that the merge has a commit of its own
        assert (await yard.desk.done(yard.coder, "workspace_merge", id=made["id"]))["status"] == "merged"
        Repo(Path(made["worktree_path"])).write(
            f"late_{number}.txt", "new\n"
        )  # so that it is not brought up to its base
        await yard.desk.done(yard.coder, "task_update_status", id=task, status="failed", error="not yet")
        await yard.desk.done(yard.coder, "task_update_status", id=task, status="pending")
    assert (len(places), yard.repo.branches()) == (1, ["main", "moot/default/Fix-it"])
    names = ("0", "late_0", "1", "late_1", "2")
    assert [yard.repo.read(f"{name}.txt") for name in names] == ["new\n"] * 5


async def test_a_workflow_that_does_not_want_it_has_none(yard: Yard) -> None:
    _, task = await planned(yard.desk)
    claimed = await yard.desk.done(yard.coder, "task_claim", task_id=task, agent_id=str(yard.coder.agent))
    assert (claimed["success"], "workspace_id" in claimed) == (True, False)
