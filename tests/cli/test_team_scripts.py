"""The scripts of teams as they are called: which team is meant, what they show, and what they change in the store."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from moot.api.connection import Connection
from moot.core.caller import SYSTEM
from moot.core.ids import InstanceName
from moot.core.tx import Tx
from moot.registry import agents, instances, tokens
from moot.registry.agents import NewAgent
from moot.registry.tokens import Grant
from moot.teams import teams
from moot.teams.teams import NewTeam
from moot.tools import asking, talk
from moot.tools.asking import Question
from moot.tools.talk import Words
from tests.cli.terminal import Ended, Terminal
from tests.tools.team import MEMBERS
from tests.views import shown

SESSION = InstanceName("alpha")


@pytest.fixture
def team(either: Terminal) -> Terminal:
    """A team `alpha` whose lead comes from outside: a task for a worker, a question and a plan for the lead."""

    async def form(connection: Connection) -> None:
        def change(tx: Tx) -> None:
            instance = instances.ensure(tx, SESSION)
            found = {
                name: agents.ensure(tx, instance, NewAgent(name, backend=backend(part)))
                for name, part in MEMBERS.items()
            }
            teams.form(tx, NewTeam(SESSION, instance.stream, "a goal", MEMBERS))
            talk.say(tx, instance, found["lead"], Words("begin", to=("worker-1",), kind="task"))
            talk.say(tx, instance, found["worker-1"], Words("which port?", to=("lead",), kind="question"))
            asking.ask(tx, instance, found["worker-1"], Question("lead", "plan_approval", "the plan", "1. tests"))

        await connection.store.write(change, caller=SYSTEM)

    either.act(form)
    return either


def backend(part: str) -> str:
    return "external" if part == "lead" else "scripted"


def script(terminal: Terminal, name: str, *words: str, env: Mapping[str, str] | None = None) -> Ended:
    return terminal.run(f"team_{name}.sh", *words, env=env)


def mailbox(terminal: Terminal, *words: str, env: Mapping[str, str] | None = None) -> Any:
    """The JSON that a call prints which must succeed."""
    ended = script(terminal, "mailbox", *words, "--json", env=env)
    assert ended.code == 0, ended
    return ended.json


def control(terminal: Terminal, *words: str, env: Mapping[str, str] | None = None) -> Any:
    ended = script(terminal, "control", *words, "--json", env=env)
    assert ended.code == 0, ended
    return ended.json


def refused(ended: Ended) -> str:
    """The code of a refusal, which is told in words."""
    assert ended.code != 0, ended
    assert "Traceback" not in ended.err
    assert ended.err.startswith("error: ")
    return ended.err.removeprefix("error: ").partition(":")[0]


@pytest.mark.parametrize("mode", ["fs", "db", "auto"])
def test_an_inbox_is_shown_from_files_and_store_alike(team: Terminal, mode: str) -> None:
    found = mailbox(team, "--repo", ".", "--session", SESSION, "--mode", mode, "inbox", "lead", "--unread")
    assert [(one["from"], one["kind"], one["read"], one["request_id"] is not None) for one in found] == [
        ("worker-1", "question", False, False),
        ("worker-1", "plan_approval_request", False, True),
    ]
    assert json.loads((shown.folder(team.folder, SESSION) / "inboxes/lead.json").read_text()) == found


def test_a_team_is_found_by_its_database_from_anywhere_though_the_file_is_not_there(team: Terminal) -> None:
    path = team.folder / ".codex-teams" / SESSION / "bus.sqlite"
    elsewhere = Terminal(team.folder.parent / "elsewhere", team.bytecode, team.url)
    (elsewhere.folder / "home").mkdir(parents=True)
    ended = script(elsewhere, "mailbox", "--room", "main", "inbox", "lead", "--unread", env={"TEAM_DB": str(path)})
    assert ended.code == 0, ended
    assert "worker-1 [question]  which port?" in ended.out
    assert "no. 2  unread" in ended.out
    assert path.is_file(), "whoever reads it finds it up to date"
    path.write_bytes(b"spoilt")
    mailbox(team, "inbox", "lead", env={"TEAM_DB": str(path)})
    assert path.read_bytes().startswith(b"SQLite format 3")
    relative = f".codex-teams/{SESSION}/bus.sqlite"
    assert len(mailbox(team, "--db", relative, "inbox", "worker-1")) == 1


def test_what_is_marked_as_read_is_read_in_the_store_and_in_the_files(team: Terminal) -> None:
    assert mailbox(team, "mark-read", "lead", "--id", "1") == {"agent": "lead", "marked": 0}
    assert mailbox(team, "mark-read", "lead", "--id", "2") == {"agent": "lead", "marked": 1}
    read = ["--repo", ".", "--session", SESSION, "--mode", "fs"]
    assert [one["read"] for one in mailbox(team, *read, "inbox", "lead")] == [True, False]
    assert mailbox(team, *read, "mark-read", "lead", "--all")["marked"] == 1
    assert mailbox(team, *read, "inbox", "lead", "--unread") == []
    assert json.loads((shown.folder(team.folder, SESSION) / "inboxes/lead.json").read_text())[1]["read"] is True
    assert len(mailbox(team, *read, "pending", "lead")) == 1, "it is read, and still waits for its answer"


def test_what_is_shown_can_be_marked_in_the_same_go(team: Terminal) -> None:
    assert len(mailbox(team, "inbox", "lead", "--unread", "--mark-read")) == 2
    assert mailbox(team, "inbox", "lead", "--unread") == []
    assert mailbox(team, "mark-read", "lead", "--all") == {"agent": "lead", "marked": 0}


def test_nobody_marks_the_mail_of_an_agent_that_moot_starts(team: Terminal) -> None:
    assert refused(script(team, "mailbox", "mark-read", "worker-1", "--all")) == "NOT_ALLOWED"
    assert refused(script(team, "mailbox", "inbox", "worker-1", "--mark-read")) == "NOT_ALLOWED"
    assert [one["read"] for one in mailbox(team, "inbox", "worker-1")] == [False]


@pytest.mark.parametrize(
    ("flag", "status", "approve"), [("--approve", "approved", True), ("--reject", "rejected", False)]
)
def test_a_request_is_answered_once_by_whom_it_is_for(team: Terminal, flag: str, status: str, approve: bool) -> None:
    (asked,) = mailbox(team, "pending", "lead")
    assert (asked["type"], asked["status"], asked["title"]) == ("plan_approval", "pending", "the plan")
    answer = ("respond", "--request-id", asked["request_id"], flag)
    assert refused(script(team, "control", *answer, "worker-2")) == "NOT_ALLOWED"
    found = control(team, *answer, "lead", "--to", "worker-1", "well", "done")
    assert (found["status"], found["approve"], found["answer"], found["answered_by"]) == (
        status,
        approve,
        "well done",
        "lead",
    )
    assert mailbox(team, "pending", "lead") == []
    (kept,) = mailbox(team, "pending", "lead", "--all-status")
    assert kept == found
    assert shown.read(team.folder, SESSION, "control.json")["requests"] == [found]
    told = mailbox(team, "inbox", "worker-1")[-1]
    assert (told["kind"], told["request_id"], told["approve"]) == (
        "plan_approval_response",
        asked["request_id"],
        approve,
    )
    other = "--reject" if flag == "--approve" else "--approve"
    again = script(team, "control", "respond", "--request-id", asked["request_id"], other, "lead")
    assert refused(again) == "REQUEST_CLOSED"


def test_the_person_answers_for_a_lead_from_outside(team: Terminal) -> None:
    (asked,) = mailbox(team, "pending", "lead")
    found = control(team, "respond", "--request-id", asked["request_id"], "--approve", "go on")
    assert (found["answered_by"], found["answer"]) == ("human", "go on")


def test_moot_approve_answers_for_a_lead_from_outside(team: Terminal) -> None:
    assert "answer with: moot approve rq_" in team.ok("status", f"@{SESSION}").out
    assert team.ok("approve").out == "approved: the plan\n"
    assert mailbox(team, "pending", "lead") == []


@pytest.mark.parametrize(
    ("kind", "more"),
    [("plan_approval", []), ("shutdown", []), ("permission", []), ("mode_set", ["--mode", "read-only"])],
)
def test_each_type_of_request_has_an_id_that_stays_and_arrives(team: Terminal, kind: str, more: list[str]) -> None:
    words = ("request", "--type", kind, *more, "lead", "worker-1", "please\nall of it", "--summary", "in short")
    found = control(team, *words)
    assert (found["type"], found["from"], found["to"], found["status"]) == (kind, "lead", "worker-1", "pending")
    assert (found["title"], found["body"]) == ("in short", "please\nall of it")
    assert control(team, *words)["request_id"] == found["request_id"]
    (asked,) = mailbox(team, "pending", "worker-1")
    assert asked["request_id"] == found["request_id"]
    assert mailbox(team, "inbox", "worker-1")[-1]["kind"] == f"{kind}_request"


def test_agents_speak_for_themselves_by_their_token(team: Terminal) -> None:
    async def token(connection: Connection) -> str:
        text = tokens.new_text()

        def change(tx: Tx) -> None:
            worker = agents.named(tx, instances.get(tx, SESSION).stream, "worker-1")
            tokens.mint(tx, text, Grant("member", SESSION, "member", worker.id))

        await connection.store.write(change, caller=SYSTEM)
        return text

    env = {"MOOT_TOKEN": team.act(token)}
    asked = control(team, "request", "--type", "permission", "worker-1", "lead", "run make", env=env)
    assert (asked["from"], asked["title"]) == ("worker-1", "run make")
    as_lead = ("request", "--type", "permission", "lead", "worker-1", "run it")
    assert refused(script(team, "control", *as_lead, env=env)) == "NOT_ALLOWED"
    respond = ("respond", "--request-id", asked["request_id"], "--approve")
    assert refused(script(team, "control", *respond, env=env)) == "OWN_REQUEST"
    assert refused(script(team, "control", *respond, "lead", env=env)) == "NOT_ALLOWED"
    assert len(mailbox(team, "inbox", "worker-1", env=env)) == 1
    assert refused(script(team, "mailbox", "inbox", "lead", env=env)) == "NOT_ALLOWED"
    assert mailbox(team, "mark-read", "worker-1", "--all", env=env)["marked"] == 1


WRONG: dict[tuple[str, ...], str] = {
    ("mailbox", "--room", "other", "inbox", "lead"): "INVALID_INPUT",
    ("mailbox", "--session", "beta", "inbox", "lead"): "TEAM_NOT_FOUND",
    ("mailbox", "--session", "../alpha", "inbox", "lead"): "NAME_REFUSED",
    ("mailbox", "--db", "notes.sqlite", "inbox", "lead"): "INVALID_INPUT",
    ("mailbox", "--repo", "nowhere", "inbox", "lead"): "INVALID_INPUT",
    ("mailbox", "inbox", "nobody"): "AGENT_NOT_FOUND",
    ("mailbox", "mark-read", "lead"): "USAGE",
    ("mailbox", "mark-read", "lead", "--all", "--id", "3"): "USAGE",
    ("control", "respond", "--request-id", "rq_none", "--approve", "lead"): "REQUEST_NOT_FOUND",
    ("control", "respond", "--request-id", "rq_none"): "USAGE",
    ("control", "request", "--type", "order", "lead", "worker-1"): "USAGE",
    ("control", "request", "--type", "mode_set", "lead", "worker-1"): "REQUEST_REFUSED",
    ("control", "request", "--type", "shutdown", "worker-2", "worker-1"): "NOT_ALLOWED",
    ("control", "request", "--type", "shutdown", "lead", "nobody"): "AGENT_NOT_FOUND",
}


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_what_is_wrong_is_told_with_a_code(team: Terminal, words: tuple[str, ...]) -> None:
    assert refused(script(team, *words)) == WRONG[words]
    assert mailbox(team, "inbox", "worker-1", "--unread")[-1]["kind"] == "task"


def test_a_project_without_a_team_has_no_mailboxes(either: Terminal) -> None:
    either.join("coder")
    assert refused(script(either, "mailbox", "inbox", "lead")) == "TEAM_NOT_FOUND"
    assert not (either.folder / ".codex-teams").exists()


def test_members_are_listed(team: Terminal) -> None:
    found = {one["name"]: one["role"] for one in mailbox(team, "members")}
    assert found == {**MEMBERS, "monitor": "service", "orchestrator": "service", "system": "service"}


@pytest.mark.parametrize("mode", [(), ("--mode", "db"), ("--mode", "fs")])
def test_moot_inbox_shows_the_same_by_every_mode(team: Terminal, mode: tuple[str, ...]) -> None:
    for flags, kinds in (
        ((), ["question", "plan_approval_request"]),
        (("--pending",), ["plan_approval_request"]),
        (("--unread",), ["question", "plan_approval_request"]),
    ):
        found = team.ok("inbox", f"lead@{SESSION}", *flags, *mode, "--json").json
        assert [one["kind"] for one in found] == kinds
    text = team.ok("inbox", f"lead@{SESSION}", *mode).out
    assert "which port?" in text
    assert "[REQUEST:rq_" in text


def test_moot_inbox_acknowledges_what_it_shows_from_files(team: Terminal) -> None:
    team.ok("send", "--to", f"human@{SESSION}", "--kind", "message", "note to self", "--instance", SESSION)
    team.act(_tell_person)
    assert [one["message"] for one in team.ok("inbox", "--instance", SESSION, "--mode", "fs", "--json").json] == [
        "look here"
    ]
    assert team.ok("inbox", "--instance", SESSION, "--mode", "fs", "--ack").out.count("look here") == 1
    assert team.ok("inbox", "--instance", SESSION, "--mode", "fs", "--json").json == []
    assert team.ok("inbox", "--instance", SESSION, "--json").json == []


async def _tell_person(connection: Connection) -> None:
    def change(tx: Tx) -> None:
        instance = instances.get(tx, SESSION)
        talk.say(tx, instance, agents.named(tx, instance.stream, "worker-1"), Words("look here", to=("human",)))

    await connection.store.write(change, caller=SYSTEM)


def test_a_team_without_files_has_mailboxes_all_the_same(team: Terminal) -> None:
    async def change(connection: Connection) -> None:
        def without(tx: Tx) -> None:
            found = teams.get(tx, SESSION)
            teams.form(tx, NewTeam(SESSION, found.stream, "a goal", MEMBERS, has_views=False))

        await connection.store.write(without, caller=SYSTEM)

    team.act(change)
    shutil.rmtree(team.folder / ".codex-teams", ignore_errors=True)  # from the time when it had some
    assert len(mailbox(team, "inbox", "lead")) == 2
    assert refused(script(team, "mailbox", "--mode", "fs", "inbox", "lead")) == "NO_TEAM_FILES"
    assert not (team.folder / ".codex-teams").exists()


def test_the_log_shows_all_traffic_of_a_team_and_changes_nothing(team: Terminal) -> None:
    shows = team.ok("log", "--instance", SESSION, "--receipts").out
    for line in ("lead [task]  begin", "worker-1 [question]  which port?", "-> lead queued", "-> worker-1 queued"):
        assert line in shows
    assert [one["read"] for one in mailbox(team, "inbox", "lead")] == [False, False]


def test_files_that_cannot_be_written_keep_nobody_from_the_store(team: Terminal, tmp_path: Path) -> None:
    (asked,) = mailbox(team, "pending", "lead")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    inboxes = team.folder / ".codex-teams" / SESSION / "inboxes"
    shutil.rmtree(inboxes)
    inboxes.symlink_to(elsewhere)
    blocked = script(team, "mailbox", "--mode", "fs", "inbox", "lead")
    assert (blocked.code, "error: VIEWS_BLOCKED: " in blocked.err) == (1, True), blocked
    found = script(team, "mailbox", "inbox", "lead", "--json")
    assert (found.code, len(found.json)) == (0, 2), found
    assert "warning: The files of the team alpha cannot be written: Not a directory" in found.err
    answered = script(team, "control", "respond", "--request-id", asked["request_id"], "--approve", "lead", "--json")
    assert (answered.code, answered.json["status"]) == (0, "approved"), answered
    assert list(elsewhere.iterdir()) == []
