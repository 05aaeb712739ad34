"""A team from the first command to the merge, through the program itself: real processes, real git, real worktrees."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.teams import stages
from tests.cli.terminal import Ended, Terminal
from tests.workspaces.repos import Repo

EXAMPLE = Path(__file__).parents[2] / "examples" / "team"
GOAL = "say hello in German, French and Italian"


@pytest.fixture
def project(terminal: Terminal) -> Terminal:
    """The example in a folder of its own, ready for a team."""
    shutil.copytree(EXAMPLE, terminal.folder, dirs_exist_ok=True)
    (terminal.folder / ".gitignore").write_text("home/\n", encoding="utf-8")
    terminal.ok("team", "setup")
    return terminal


def up(project: Terminal, *more: str, goal: str = GOAL, code: int = 0) -> Ended:
    ended = project.run("team", "up", goal, "--file", "team.yaml", "--json", *more)
    assert ended.code == code, ended
    return ended


def lines(ended: Ended, kind: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in ended.out.splitlines()]
    return [one for one in found if one["type"] == kind]


def team(project: Terminal) -> dict[str, Any]:
    (found,) = project.ok("team", "status", "--json").json
    return found


def test_a_team_plans_is_approved_works_is_reviewed_mends_and_merges(project: Terminal) -> None:
    waiting = up(project, code=4)
    assert [one["stage"] for one in lines(waiting, "stage")] == ["planning"]
    assert team(project)["stage"] == "planning"
    (request,) = team(project)["status"]["requests"]
    project.ok("approve", request)
    resumed = project.ok("resume", "@team", "--json")
    way = [(one["stage"], one["round"]) for one in lines(resumed, "stage")]
    assert way[-10:] == [
        ("delegating", 1),
        ("working", 1),
        ("reviewing", 1),
        ("comparing", 1),
        ("redelegating", 1),
        ("working", 2),
        ("reviewing", 2),
        ("comparing", 2),
        ("merging", 2),
        ("done", 2),
    ]
    repo = Repo(project.folder)
    words = {name: repo.show(f"moot/team/worker-1:words/{name}.txt") for name in ("de", "en", "fr", "it")}
    assert words == {"de": "Hallo", "en": "Hello", "fr": "Bonjour", "it": "Ciao"}
    # The branch that is checked out is as it was, and every message was read.
    assert repo.status() == []
    assert not (project.folder / "words" / "de.txt").exists()
    assert [one["unread"] for one in team(project)["status"]["agents"]] == [0] * 6
    found = {one["created_by"]: one["status"] for one in project.ok("workspace", "ls", "--json").json}
    assert found == {"worker-1": "active", "worker-2": "merged", "worker-3": "merged"}


def test_what_a_team_says_on_its_way_is_said_by_whom_it_concerns(project: Terminal) -> None:
    up(project, "--no-approve-plan")
    said = [(one["from"], one["kind"], one["message"]) for one in project.ok("log", "-n", "100", "--instance", "team",
                                                                            "--json").json]  # fmt: skip
    statuses = [body for sender, kind, body in said if (sender, kind) == ("system", "status")]
    assert statuses[0] == stages.LINE
    assert [one for one in statuses if one.startswith("online: ")] == [
        "online: lead (lead, scripted)",
        "online: reviewer-1 (reviewer, scripted)",
        "online: worker-1 (worker, command)",
        "online: worker-2 (worker, command)",
        "online: worker-3 (worker, command)",
    ]
    assert sum(one.startswith("offline: ") for one in statuses) == 5
    given = [body for sender, kind, body in said if (sender, kind) == ("lead", "task")]
    assert len(given) == 5  # three languages, one issue, the merge
    assert [sender for sender, kind, _ in said if kind == "blocker"] == ["worker-3"]
    assert [sender for sender, kind, _ in said if kind == "answer"] == ["lead"]
    synced = {sender for sender, kind, body in said if kind == "status" and body.startswith("peer-sync: ")}
    assert synced == {"worker-1", "worker-2", "worker-3"}


def test_before_anything_is_spent_it_is_said_who_runs_where(project: Terminal) -> None:
    shown = project.ok("team", "up", GOAL, "--file", "team.yaml", "--dry-run").out
    assert "worker-2    command     full, worktree" in shown
    assert "reviewer-1  scripted    read-only, shared" in shown
    assert "at most $10.00, 1 h 0 m, 200 attempts" in shown
    assert "moot/team/worker-1, moot/team/worker-2, moot/team/worker-3; merged into moot/team/worker-1, pushed" in shown
    assert "you approve the plan; at most 3 rounds of work and review" in shown
    assert project.ok("team", "status").out.startswith("no teams yet")


def test_what_is_pushed_is_pushed_only_if_that_was_asked_for(project: Terminal, tmp_path: Path) -> None:
    remote, repo = tmp_path / "remote.git", Repo(project.folder)
    repo.git("init", "--quiet", "--bare", str(remote))
    repo.git("remote", "add", "origin", str(remote))
    up(project, "--no-approve-plan")
    assert repo.git("ls-remote", "origin") == ""
    up(project, "--no-approve-plan", "--push", "--name", "second")
    assert [line.split("\t")[1] for line in repo.git("ls-remote", "origin").splitlines()] == [
        "refs/heads/moot/second/worker-1"
    ]
    assert repo.git("ls-remote", "origin").startswith(repo.tip("moot/second/worker-1"))


def test_a_team_whose_remote_cannot_be_reached_has_failed_and_says_so(project: Terminal, tmp_path: Path) -> None:
    Repo(project.folder).git("remote", "add", "origin", str(tmp_path / "nowhere.git"))
    ended = up(project, "--no-approve-plan", "--push", code=1)
    assert lines(ended, "end")[0]["reason"].startswith("it could not be pushed: ")
    assert team(project)["stage"] == "failed"


def test_the_goal_is_taken_as_it_is(project: Terminal) -> None:
    goal = "fix ${{ inputs.x }} and {{ y }} for @nobody and @all"
    up(project, "--no-approve-plan", goal=goal)
    assert team(project)["goal"] == goal


def test_a_denied_plan_goes_back_to_the_lead_and_ends_the_team_if_there_is_no_other(project: Terminal) -> None:
    up(project, code=4)
    (request,) = team(project)["status"]["requests"]
    project.ok("deny", request, "--text", "too much at once")
    ended = project.run("resume", "@team", "--json")
    assert ended.code == 1
    said = [one["message"] for one in lines(ended, "message")]
    assert any("human has denied the plan: too much at once" in one for one in said)
    assert team(project)["reason"] == "the plan was denied, and the lead has made no other"


def test_a_team_can_be_put_together_before_it_is_started_and_is_gone_when_it_is_deleted(project: Terminal) -> None:
    created = project.ok("teamcreate", GOAL, "--file", "team.yaml", "--no-approve-plan", "--json").json
    assert list(created["members"]) == ["lead", "reviewer-1", "worker-1", "worker-2", "worker-3"]
    assert (team(project)["stage"], team(project)["goal"]) == ("formed", GOAL)
    project.ok("team", "up", "--file", "team.yaml", "--no-approve-plan")
    deleted = project.ok("teamdelete", "--json").json
    assert deleted == {"name": "team", "status": "deleted", "branches": ["moot/team/worker-1"], "left": []}
    assert project.ok("team", "status", "--json").json == []
    assert Repo(project.folder).worktrees() == [project.folder]


def test_setup_makes_what_is_missing_and_changes_nothing_else(terminal: Terminal) -> None:
    shutil.copytree(EXAMPLE, terminal.folder, dirs_exist_ok=True)
    refused = terminal.run("team", "up", GOAL, "--file", "team.yaml")
    assert refused.code == 2
    assert "NOT_PREPARED: The workers of a team need worktrees, and there is no git repository." in refused.err
    assert "Run: moot team setup" in refused.err
    first = terminal.ok("team", "setup", "--json").json
    assert (first["repository"], first["identity"]) == (True, True)
    assert first["committed"] >= 5
    tip = Repo(terminal.folder).tip("main")
    nothing = {"folder": str(terminal.folder), "repository": False, "committed": None, "identity": False}
    assert terminal.ok("team", "setup", "--json").json == nothing
    assert Repo(terminal.folder).tip("main") == tip


def test_setup_says_where_the_project_is_that_it_makes_ready(terminal: Terminal) -> None:
    (terminal.folder / ".moot").mkdir(exist_ok=True)
    inside = terminal.folder / "inside"
    inside.mkdir()
    said = replace(terminal, folder=inside).ok("team", "setup").out
    assert f"the project is in {terminal.folder}\nmade a git repository" in said
    assert (terminal.folder / ".git").is_dir()


@pytest.mark.parametrize(
    ("env", "fact"),
    [
        ({"CODEX_EXPERIMENTAL_AGENT_TEAMS": "0"}, "Teams are switched off by CODEX_EXPERIMENTAL_AGENT_TEAMS=0."),
        ({"CODEX_TEAMS_GATE_TENGU_AMBER_FLINT": "0"}, "switched off by CODEX_TEAMS_GATE_TENGU_AMBER_FLINT=0."),
        ({"TEAMMATE_MODE": "tmux"}, "TEAMMATE_MODE is 'tmux'."),
        ({"INPROCESS_POLL_MS": "soon"}, "INPROCESS_POLL_MS is 'soon'."),
    ],
)
def test_the_switches_of_the_protocol_are_heeded(project: Terminal, env: dict[str, str], fact: str) -> None:
    refused = project.run("team", "up", GOAL, "--file", "team.yaml", "--dry-run", env=env)
    assert (refused.code, fact in refused.err) == (2, True), refused.err
    known = {"TEAMMATE_MODE": "in-process-shared", "INPROCESS_POLL_MS": "250", "CODEX_EXPERIMENTAL_AGENT_TEAMS": "1"}
    project.ok("team", "up", GOAL, "--file", "team.yaml", "--dry-run", "--backend", "auto", env=known)


def test_a_person_leads_from_the_terminal_where_the_team_runs(project: Terminal) -> None:
    with project.typing("team", "up", GOAL, "--file", "team.yaml", "--lead", "human", "--workers", "1") as session:
        session.until("[GOAL]")
        session.until("Type /plan FILE with a plan in a file, or /go to give everybody the goal.")
        session.type("/issues")
        session.until("There is no /issues. See /help.")
        session.type("/changes ;")
        session.until("/changes names no issue. Write /changes A; B.")
        session.type("/go")
        session.until("the goal goes to 1 workers")
        session.until("Review round 1")
        session.until("At a terminal type /approved, or /changes A; B.")
        session.type("/approved")
        session.until("reported: approved")
        session.until("Review round 2")
        session.type("/approved")
        session.until("done in")
    assert session.code == 0


def test_a_person_takes_the_seat_of_the_lead_from_another_terminal(project: Terminal) -> None:
    plan = "tasks: [{name: german, agent: worker-1}, {name: french, agent: worker-2}]\n"
    (project.folder / "plan.yaml").write_text(plan, encoding="utf-8")
    how = ("--lead", "external", "--workers", "2", "--no-approve-plan", "--json")
    running = project.start("team", "up", GOAL, "--file", "team.yaml", *how)
    try:
        until_told(running, "expected")
        with project.typing("team", "attach") as session:
            session.until("team is planning; you are lead")
            session.type("/approved")
            session.until("Nobody has asked lead for a review now.")
            session.type("/plan plan.yaml")
            session.until("2 tasks planned")
            session.until("Review round 1")
            session.type("/changes the French is wrong; it has no tests")
            session.until("reported: changes")
            session.until("Review round 2")
            session.type("/approved")
            session.until("the run is over: done")
            session.interrupt()
        assert running.wait(60) == 0
    finally:
        running.kill()
        running.communicate()
    assert team(project)["stage"] == "done"
    said = {(one["round"], one["by"]): [each["text"] for each in one["issues"]] for one in team(project)["reviews"]}
    assert said[1, "lead"] == ["the French is wrong", "it has no tests"]


def until_told(running: "subprocess.Popen[bytes]", kind: str) -> None:
    """Until a line of this type has come from a team that runs."""
    assert running.stdout is not None
    for line in running.stdout:
        if json.loads(line)["type"] == kind:
            return
    raise AssertionError(f"it ended without {kind}")


def test_a_team_works_on_either_database(project: Terminal, url: str) -> None:
    there = Terminal(project.folder, project.bytecode, url)
    up(there, "--no-approve-plan")
    assert (team(there)["stage"], team(there)["round"]) == ("done", 2)
    assert Repo(project.folder).show("moot/team/worker-1:words/fr.txt") == "Bonjour"
    assert [one for one in team(there)["status"]["agents"] if one["unread"]] == []


def test_a_team_works_in_the_background(project: Terminal) -> None:
    told = up(project, "--no-approve-plan", "--background").json
    assert (told["name"], told["status"]) == ("team", "live")
    with project.typing("team", "attach") as session:
        session.until("the run is over: done")
        session.interrupt()
    assert team(project)["stage"] == "done"
