"""`moot workspace`: without a host, in a real repository."""

from pathlib import Path

import pytest

from moot.api.connection import Connection
from moot.core.caller import SYSTEM
from moot.core.ids import WorkspaceId
from moot.core.tx import Tx
from moot.registry import instances
from moot.runner.worktrees import Worktrees
from moot.tools import isolation
from moot.workspaces import grounds, workspaces
from moot.workspaces.errors import GitFailed
from moot.workspaces.workspaces import NewWorkspace, Plan
from tests.cli.terminal import Ended, Terminal
from tests.workspaces import repos
from tests.workspaces.repos import Repo


@pytest.fixture
def repo(terminal: Terminal) -> Repo:
    return repos.make(terminal.folder)


def make(terminal: Terminal, branch: str, instance: str = "default") -> str:
    """A workspace that is asked for; the first command that wants something of it finds it made."""

    def change(tx: Tx) -> WorkspaceId:
        opened = instances.ensure(tx, instance)
        return isolation.create(tx, NewWorkspace(opened.stream, opened.name, branch, created_name="coder")).id

    async def work(connection: Connection) -> str:
        id = await connection.store.write(change, caller=SYSTEM)
        await Worktrees(connection.store, connection.project.root, connection.project.folder).carry_out(id)
        return id

    return terminal.act(work)


def come_to_nothing(terminal: Terminal, branch: str, instance: str) -> None:
    """A workspace that was about to be made when git failed; its branch is free for another."""

    def change(tx: Tx) -> None:
        opened = instances.ensure(tx, instance)
        made = isolation.create(tx, NewWorkspace(opened.stream, opened.name, branch, created_name="coder"))
        workspaces.settle(tx, made.id, grounds.place(terminal.folder))
        workspaces.plan(tx, made.id, Plan(str(terminal.folder), "none", "main", "abc", is_branch_ours=True))
        workspaces.refused(tx, made.id, GitFailed("git worktree failed.", "See what git says."))

    async def work(connection: Connection) -> None:
        await connection.store.write(change, caller=SYSTEM)

    terminal.act(work)


def lead_to(terminal: Terminal, id: str, branch: str) -> None:
    async def work(connection: Connection) -> None:
        await connection.store.write(lambda tx: workspaces.lead_to(tx, WorkspaceId(id), branch), caller=SYSTEM)

    terminal.act(work)


def tree_of(terminal: Terminal, id: str) -> Repo:
    return Repo(terminal.folder / ".workflow" / "worktrees" / id)


def told(ended: Ended) -> tuple[int, str]:
    return ended.code, ended.err.split("\n")[0].split(": ")[1] if ended.err else ""


def test_without_any_it_says_so(terminal: Terminal) -> None:
    assert terminal.ok("workspace", "ls").out == "no workspaces\n"
    assert terminal.ok("workspace", "ls", "--json").json == []
    assert not (terminal.folder / ".workflow").exists()


def test_list_diff_merge_and_clean(terminal: Terminal, repo: Repo) -> None:
    id = make(terminal, "fix")
    tree = tree_of(terminal, id)
    tree.commit("mine", a__txt="one\n2\nthree\n")
    tree.write("new.txt", "\x1b[31mred\n")
    assert id in terminal.ok("workspace", "ls").out
    (card,) = terminal.ok("workspace", "ls", "--json").json
    assert (card["id"], card["branch"], card["status"], card["created_by"]) == (id, "fix", "active", "coder")
    patch = terminal.ok("workspace", "diff", "fix").out
    assert "-two\n+2\n" in patch
    assert "+\x1b[31mred\n" in patch  # as it is, for programs
    shown = terminal.show("workspace", "diff", id)
    assert "\x1b[32m+2\x1b[0m" in shown
    assert "\\x1b[31mred" in shown
    assert "+2\n" in terminal.ok("workspace", "diff", id, "--json").json["diff"]
    assert tree.status() == ["?? new.txt"]
    merged = terminal.ok("workspace", "merge", "fix")
    assert merged.out == f"fix is merged into main ({repo.tip('main')[:12]})\n"
    assert repo.read("new.txt") == "\x1b[31mred\n"
    assert terminal.ok("workspace", "merge", "fix").out == merged.out
    assert terminal.ok("workspace", "clean").out == f"{id} is removed (fix, merged)\n"
    assert terminal.ok("workspace", "clean").out == "nothing to clean up\n"
    assert (terminal.ok("workspace", "ls").out, repo.branches()) == ("no workspaces\n", ["main"])
    assert [one["id"] for one in terminal.ok("workspace", "ls", "--all", "--json").json] == [id]


def test_a_conflict_ends_in_1_and_names_the_files(terminal: Terminal, repo: Repo) -> None:
    id = make(terminal, "fix")
    tree_of(terminal, id).commit("theirs", a__txt="theirs\n")
    before = repo.commit("ours", a__txt="ours\n")
    refused = terminal.run("workspace", "merge", "fix")
    assert told(refused) == (1, "MERGE_CONFLICT")
    assert "  contents: a.txt\n" in refused.err
    as_json = terminal.run("workspace", "merge", "fix", "--json")
    assert (as_json.code, as_json.json["conflicts"]) == (1, [{"file": "a.txt", "kind": "contents"}])
    assert (repo.tip("main"), repo.status()) == (before, [])


def test_what_is_named_and_not_merged_stays_on_its_branch(terminal: Terminal, repo: Repo) -> None:
    first, second = make(terminal, "one"), make(terminal, "two", "other")
    tree_of(terminal, first).write("new.txt", "new\n")
    assert terminal.ok("workspace", "clean", "one").out == f"{first} is removed (one, abandoned)\n"
    assert repo.show("one:new.txt") == "new"
    assert [one["id"] for one in terminal.ok("workspace", "ls", "--json").json] == [second]
    assert terminal.ok("workspace", "ls", "--instance", "default").out == "no workspaces\n"


def test_what_is_not_there_is_refused(terminal: Terminal, repo: Repo) -> None:
    make(terminal, "fix")
    for words in (["diff", "x"], ["merge", "x"], ["clean", "x"]):
        assert told(terminal.run("workspace", *words)) == (1, "WORKSPACE_NOT_FOUND")
    assert terminal.run("workspace", "merge").code == 2


def test_in_a_worktree_the_project_is_the_same(terminal: Terminal, repo: Repo) -> None:
    repo.commit("settings", **{".moot/config__yaml": "{}\n"})
    id = make(terminal, "fix")
    there = Terminal(Path(tree_of(terminal, id).top), terminal.bytecode)
    (there.folder / "home").mkdir()
    assert id in there.ok("workspace", "ls").out


def test_with_its_instance_worktrees_are_cleared_away_and_work_that_is_not_merged_is_kept_and_told(
    terminal: Terminal, repo: Repo
) -> None:
    unmerged, merged, nested = (make(terminal, name, "gone") for name in ("unmerged", "merged", "nested"))
    tree_of(terminal, unmerged).write("left.txt", "not committed\n")
    tree_of(terminal, merged).write("done.txt", "done\n")
    terminal.ok("workspace", "merge", "merged")
    repos.make(tree_of(terminal, nested).top / "clone")  # what no commit can hold
    other = make(terminal, "other")
    ended = terminal.ok("rm", "gone", "--yes")
    assert ended.out.splitlines() == [
        "gone is deleted",
        "  not merged, and kept: unmerged; merge it with: git merge unmerged",
    ]
    assert ended.err.startswith(f"  left as it is: {tree_of(terminal, nested).top}: ")
    assert repo.show("unmerged:left.txt") == "not committed"
    assert (repo.branches(), repo.worktrees()[1:]) == (
        ["main", "nested", "other", "unmerged"],
        sorted(tree_of(terminal, id).top for id in (nested, other)),
    )
    assert [one["id"] for one in terminal.ok("workspace", "ls", "--json").json] == [other]


def test_what_came_to_the_base_by_way_of_another_branch_is_merged(terminal: Terminal, repo: Repo) -> None:
    _, second = make(terminal, "first", "gone"), make(terminal, "second", "gone")
    tree_of(terminal, second).write("new.txt", "new\n")
    lead_to(terminal, second, "first")
    assert terminal.ok("workspace", "merge", "second").out.startswith("second is merged into first (")
    assert terminal.ok("workspace", "merge", "first").out.startswith("first is merged into main (")
    heading, *rows = [line.split()[:4] for line in terminal.ok("workspace", "ls").out.splitlines()]
    assert heading == ["ID", "STATUS", "BRANCH", "INTO"]
    assert [row[1:] for row in rows] == [["merged", "first", "main"], ["merged", "second", "first"]]
    into = [one["merge_into"] for one in terminal.ok("workspace", "ls", "--json").json]
    assert into == [None, "first"]
    terminal.ok("workspace", "clean", "first")
    assert terminal.ok("rm", "gone", "--yes").out == "gone is deleted\n"
    assert (repo.branches(), repo.read("new.txt")) == (["main"], "new\n")


def test_a_worktree_that_came_to_nothing_keeps_no_branch_of_another(terminal: Terminal, repo: Repo) -> None:
    come_to_nothing(terminal, "second", "gone")
    first, second = make(terminal, "first", "gone"), make(terminal, "second", "gone")
    tree_of(terminal, first).write("own.txt", "own\n")
    tree_of(terminal, second).write("new.txt", "new\n")
    lead_to(terminal, second, "first")
    terminal.ok("workspace", "merge", "second")
    assert terminal.ok("rm", "gone", "--yes").out.splitlines() == [
        "gone is deleted",
        "  not merged, and kept: first; merge it with: git merge first",
    ]
    assert repo.branches() == ["first", "main"]
