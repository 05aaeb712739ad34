"""Commands of an agent from inside its attempt: on its store, and through its server where only that can be reached."""

import asyncio
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from moot.api.connection import Connection
from moot.bus import mailbox
from moot.cli import program
from moot.core.caller import SYSTEM, Role
from moot.core.ids import AgentId, AttemptId, HostId, JobId
from moot.core.tx import ReadTx, Tx
from moot.ledger import operations
from moot.mcp import server
from moot.mcp.server import Endpoints
from moot.proposals.proposals import NewProposal
from moot.registry import agents, attempts, instances, tokens
from moot.registry.agents import NewAgent
from moot.registry.attempts import NewAttempt
from moot.registry.tokens import Grant
from moot.tools import voting
from moot.tools.table import TOOLS
from tests.cli.terminal import Ended, Terminal

SECONDS = 60.0
# One of each thing that a command does, with the tool that does the same, or None: only the person may.
DEEDS: Mapping[str, str | None] = {
    "send hi": "channel_send",
    "context send hi": "channel_send",
    "context read": "channel_read",
    "log": "channel_read",
    "log --events": "channel_read",
    "log --raw reviewer@pr-1": "channel_read",
    "watch @pr-1": "channel_read",
    "search words": "channel_search",
    "inbox": "inbox_check",
    "inbox --reply hi": "inbox_check",
    "doc list": "document_list",
    "doc show plan.md": "document_read",
    "doc history plan.md": "document_history",
    "doc write plan.md": "document_write",
    "doc write plan.md --append": "document_append",
    "doc edit plan.md": "document_write",
    "doc rm plan.md": "document_delete",
    "vote": "proposal_status",
    "vote prop-001": "proposal_status",
    "vote prop-001 yes": "vote",
    "vote prop-001 --cancel": "proposal_cancel",
    "request why --to reviewer": "request_create",
    "request --cancel req_1": "request_create",
    "request": "request_list",
    "approve req_1": "request_respond",
    "deny req_1": "request_respond",
    "list": "agent_list",
    "list --json": "agent_list",
    "status": "agent_list",
    "workspace ls": "workspace_list",
    "workspace diff fix": "workspace_list",
    "workspace merge fix": None,
    "workspace clean": None,
    "plan ls": "workflow_list",
    "plan show": "workflow_progress",
    "plan draw": "workflow_list",
    "plan apply plan.yaml": None,
    "plan save again": None,
    "task ls": "workflow_list",
    "task show fix": "task_get",
    "task claim fix": "task_claim",
    "task release fix": "task_release",
    "task done fix --outcome fine": "task_update_status",
    "task fail fix --error no": "task_update_status",
    "task skip fix": "task_update_status",
    "task retry fix": "task_update_status",
    "flow ls": "workflow_debug_info",
    "flow state": "workflow_state_read",
    "flow trace": "workflow_trace_transformations",
    "flow step": None,
    "new helper --backend scripted": None,
    "stop reviewer@pr-1": None,
    "pause @pr-1": None,
    "resume @pr-1": None,
    "retry @pr-1": None,
    "rm @pr-1": None,
    "export": None,
    "trace": None,
    "cost": None,
    "ui": None,
    "ui --sign-out": None,
    "team status": "agent_list",
    "team attach": "agent_list",
    "team down": None,
    "teamdelete": None,
}
# They look at no store, or are a host or a client of their own, which has its own token.
OTHERS = {
    *("init", "demo", "examples", "doctor", "completion", "check", "help", "hook"),
    *("run", "start", "ask", "serve", "mcp", "teamcreate"),
}
OVER_SERVER = ("context read", "log", "doc list", "doc write plan.md", "doc rm plan.md", "vote prop-001 yes")
# Through the server only when there is time: each command loads a client there, and one test below has one of each.
SELDOM = pytest.mark.parametrize("coder", ["store", pytest.param("server", marks=pytest.mark.chaos)], indirect=True)


@dataclass(frozen=True)
class Agent:
    """An agent at work: where it runs commands, and what its environment says."""

    terminal: Terminal
    env: Mapping[str, str]
    id: AgentId
    attempt: AttemptId
    home: Terminal

    def run(self, *words: str, stdin: bytes = b"") -> Ended:
        return self.terminal.run(*words, stdin=stdin, env=self.env)

    def ok(self, *words: str, stdin: bytes = b"") -> Ended:
        ended = self.run(*words, stdin=stdin)
        assert ended.code == 0, ended
        return ended


def at_work(
    terminal: Terminal, instance: str, role: Role = "member", groups: tuple[str, ...] | None = None
) -> tuple[AgentId, AttemptId, str]:
    """Whom moot has started, and the token of the attempt."""
    text = tokens.new_text()

    def change(tx: Tx) -> tuple[AgentId, AttemptId, str]:
        opened = instances.ensure(tx, instance)
        agent = agents.ensure(tx, opened, NewAgent("coder", backend="command"))
        agents.ensure(tx, opened, NewAgent("reviewer", backend="scripted"))
        attempt = attempts.start(tx, NewAttempt(agent.id, opened.stream, JobId("jb_1"), 1, 1, HostId("ho_1")))
        tokens.mint(tx, text, Grant("attempt", opened.name, role, agent.id, groups, attempt))
        return agent.id, attempt, text

    return terminal.act(lambda connection: connection.store.write(change, caller=SYSTEM))


@contextmanager
def served(terminal: Terminal) -> Generator[str]:
    """The address of a server of the project's store, in a thread with a loop of its own."""
    told: list[str] = []
    is_ready, stop = threading.Event(), threading.Event()

    async def serve(connection: Connection) -> None:
        async with server.serving(connection.store, Endpoints(None)) as address:
            told.append(str(address.url))
            is_ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: terminal.act(serve))
    thread.start()
    try:
        assert is_ready.wait(SECONDS)
        yield told[0]
    finally:
        stop.set()
        thread.join(SECONDS)


@pytest.fixture(params=["store", "server"])
def coder(request: pytest.FixtureRequest, terminal: Terminal, tmp_path: Path) -> Iterator[Agent]:
    """In the project, or in another place from which only the server is reached."""
    id, attempt, token = at_work(terminal, "pr-1")
    env = {"MOOT_TOKEN": token, "MOOT_AGENT": "coder@pr-1", "MOOT_INSTANCE": "pr-1"}
    if request.param == "store":
        yield Agent(terminal, env, id, attempt, terminal)
        return
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "home").mkdir(parents=True)
    with served(terminal) as url:
        yield Agent(Terminal(elsewhere, terminal.bytecode), {**env, "MOOT_URL": url}, id, attempt, terminal)
    assert not (elsewhere / ".workflow").exists()


@SELDOM
def test_it_speaks_as_itself(coder: Agent) -> None:
    assert coder.ok("send", "please look, @reviewer and @nobody").out == "sent to reviewer\n"
    assert coder.ok("send", "to you", "--to", "reviewer", "--json").json["recipients"] == ["reviewer"]
    assert coder.ok("context", "send", "this too").out == "sent\n"
    assert coder.ok("context", "send", "and this", "--agent", "coder@pr-1").out == "sent\n"
    said = [(one["from"], one["message"]) for one in coder.home.ok("log", "--json", "--instance", "pr-1").json]
    assert said == [
        ("coder", "please look, @reviewer and @nobody"),
        ("coder", "to you"),
        ("coder", "this too"),
        ("coder", "and this"),
    ]


def test_what_it_said_is_not_said_again_at_its_end(coder: Agent) -> None:
    coder.ok("send", "done")

    def look(tx: ReadTx) -> bool:
        return operations.has_called(tx, coder.attempt, "channel_send")

    assert coder.home.act(lambda connection: connection.store.read(look))


def test_it_speaks_for_nobody_else(coder: Agent) -> None:
    for words in (["context", "send", "hi", "--agent", "reviewer@pr-1"], ["send", "hi", "--instance", "default"]):
        refused = coder.run(*words)
        assert (refused.code, "NOT_ALLOWED" in refused.err) == (1, True), refused


@SELDOM
def test_it_interrupts_nobody_and_says_nothing_then(coder: Agent) -> None:
    refused = coder.run("send", "drop it", "--to", "reviewer", "--now")
    assert (refused.code, refused.err.split(": ")[:2]) == (1, ["error", "NOT_ALLOWED"])
    assert coder.ok("log", "--json").json == []


@SELDOM
def test_it_reads_what_was_said(coder: Agent) -> None:
    assert "nothing was said yet" in coder.ok("log").out
    coder.home.ok("send", "good morning", "--to", "coder@pr-1")
    assert coder.ok("log").out.endswith("human  good morning\n")
    assert [one["message"] for one in coder.ok("log", "--json").json] == ["good morning"]
    assert [one["message"] for one in coder.ok("context", "read").json] == ["good morning"]


@SELDOM
def test_it_reads_its_inbox_and_what_it_saw_is_handed_out(coder: Agent) -> None:
    assert coder.ok("inbox").out == "nothing waits for you\n"
    coder.home.ok("send", "first", "--to", "coder@pr-1")
    assert "human  first" in coder.ok("inbox").out
    assert [one["message"] for one in coder.ok("inbox", "--json").json] == ["first"]

    def done(tx: Tx) -> int:
        return mailbox.ack_attempt(tx, coder.id, coder.attempt)

    coder.home.ok("send", "second", "--to", "coder@pr-1")
    assert coder.home.act(lambda connection: connection.store.write(done, caller=SYSTEM)) == 1
    assert [one["message"] for one in coder.ok("inbox", "--ack", "--json").json] == ["second"]
    assert coder.ok("inbox", "--json").json == []


@SELDOM
def test_sending_hands_no_mail_out(coder: Agent) -> None:
    coder.home.ok("send", "hello", "--to", "coder@pr-1")
    coder.ok("send", "working")
    (mail,) = coder.home.ok("inbox", "coder@pr-1", "--json").json
    assert mail["state"] == "queued"


@SELDOM
def test_it_keeps_documents(coder: Agent) -> None:
    assert coder.ok("doc", "write", "plan.md", stdin=b"1. look\n").out == "written plan.md (version 1)\n"
    assert coder.ok("doc", "write", "plan.md", "--append", stdin=b"2. mend\n").out == "appended plan.md (version 2)\n"
    assert coder.ok("doc", "show", "plan.md").out == "1. look\n2. mend\n"
    assert coder.ok("doc", "show", "plan.md", "--version", "1", "--json").json["content"] == "1. look\n"
    (listed,) = coder.ok("doc", "--json").json
    assert (listed["file"], listed["version"], listed["author"]) == ("plan.md", 2, "coder")
    assert [one["action"] for one in coder.ok("doc", "history", "plan.md", "--json").json] == ["written", "appended"]
    assert "plan.md" in coder.ok("doc", "list").out
    assert coder.ok("doc", "rm", "plan.md").out == "deleted plan.md (version 3)\n"
    missing = coder.run("doc", "show", "plan.md")
    assert (missing.code, "DOCUMENT_NOT_FOUND" in missing.err) == (1, True)


@SELDOM
def test_it_votes(coder: Agent) -> None:
    assert coder.ok("vote").out == "nothing to vote on\n"
    id = propose(coder)
    assert id in coder.ok("vote").out
    assert coder.ok("vote", id, "yes", "--reason", "green").out == 'voted for "Approve"; 1/2 votes received\n'
    assert coder.ok("vote", id, "yes").out == 'vote already recorded for "Approve"\n'
    assert coder.ok("vote", id, "--json").json["result"]["votes"] == {"coder": "yes"}
    assert "coder" in coder.ok("vote", id).out


def propose(coder: Agent) -> str:
    """What coder and reviewer can vote on."""

    def change(tx: Tx) -> str:
        instance = instances.get(tx, "pr-1")
        reviewer = agents.named(tx, instance.stream, "reviewer")
        new = NewProposal(
            stream=instance.stream, instance=instance.name, type="approval", title="Merge?", description="",
            options={}, creator="reviewer", creator_id=reviewer.id,
            electors=voting.electorate(tx, instance, ("coder", "reviewer")), rule="plurality", quorum=None,
            tie_breaker="first", is_binding=False, lasts=timedelta(minutes=5),
        )  # fmt: skip
        return voting.start(tx, instance, new).id

    return coder.home.act(lambda connection: connection.store.write(change, caller=SYSTEM))


@SELDOM
def test_an_attempt_that_has_ended_is_told_so(coder: Agent) -> None:
    def end(tx: Tx) -> None:
        attempts.end(tx, coder.attempt, "lost")

    coder.home.act(lambda connection: connection.store.write(end, caller=SYSTEM))
    for words in (["send", "hello"], ["inbox"], ["doc"], ["vote"], ["log"], ["context", "read"]):
        refused = coder.run(*words)
        assert refused.code == 1, (words, refused)
        assert "NOT_AUTHENTICATED" in refused.err
        assert "attempt is over" in refused.err
        assert "Traceback" not in refused.err


@pytest.mark.parametrize("coder", ["server"], indirect=True)
def test_every_command_finds_its_server(coder: Agent) -> None:
    coder.home.ok("send", "good morning", "--to", "coder@pr-1")
    assert [one["message"] for one in coder.ok("log", "--json").json] == ["good morning"]
    assert [one["message"] for one in coder.ok("inbox", "--ack", "--json").json] == ["good morning"]
    assert coder.ok("doc", "write", "plan.md", stdin=b"1. look\n").out == "written plan.md (version 1)\n"
    assert coder.ok("doc", "show", "plan.md").out == "1. look\n"
    assert coder.ok("vote", propose(coder), "yes").out == 'voted for "Approve"; 1/2 votes received\n'


def test_waiting_for_an_answer_works_from_inside(coder: Agent) -> None:
    late = coder.run("send", "@reviewer well?", "--wait", "--timeout", "300ms")
    assert (late.code, "NO_REPLY" in late.err) == (3, True)


def test_what_needs_the_store_says_so(terminal: Terminal, tmp_path: Path) -> None:
    _, _, token = at_work(terminal, "default")
    elsewhere = Terminal(tmp_path, terminal.bytecode)
    (tmp_path / "home").mkdir()
    env = {"MOOT_TOKEN": token, "MOOT_AGENT": "coder@default", "MOOT_URL": "http://127.0.0.1:9/mcp"}
    for words in (["log", "--events"], ["search", "x"], ["vote", "--all"], ["inbox", "--reply", "yes"]):
        refused = elsewhere.run(*words, env=env)
        assert (refused.code, "ONLY_SERVER" in refused.err) == (1, True), (words, refused)


def test_a_server_that_is_gone_is_told(terminal: Terminal, tmp_path: Path) -> None:
    _, _, token = at_work(terminal, "default")
    (tmp_path / "home").mkdir()
    env = {"MOOT_TOKEN": token, "MOOT_AGENT": "coder@default", "MOOT_URL": "http://127.0.0.1:9/mcp"}
    refused = Terminal(tmp_path, terminal.bytecode).run("send", "hello", env=env)
    assert (refused.code, "does not answer" in refused.err) == (1, True), refused
    assert token not in refused.err


def test_without_a_server_an_agent_in_the_wrong_place_makes_no_store_there(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    for words in (["send", "hello"], ["inbox"], ["doc"]):
        refused = Terminal(tmp_path, terminal.bytecode).run(*words, env={"MOOT_TOKEN": "moot_x"})
        assert refused.code == 1
        assert "the store that it belongs to is not here" in refused.err
    assert not (tmp_path / ".workflow").exists()


def inside(terminal: Terminal, role: Role, groups: tuple[str, ...] | None) -> dict[str, str]:
    """The environment of an agent that holds no more than these."""
    _, _, token = at_work(terminal, "pr-1", role, groups)
    return {"MOOT_TOKEN": token, "MOOT_AGENT": "coder@pr-1", "MOOT_INSTANCE": "pr-1"}


def test_each_command_does_what_some_tool_does() -> None:
    assert {words.split()[0] for words in DEEDS} | OTHERS == {*program.MODULES, *program.HIDDEN}


def each_deed() -> Iterator[Any]:
    """Of one command's ways that need the same tool, one; the others when there is time."""
    seen: set[tuple[str, str | None]] = set()
    for words, tool in DEEDS.items():
        key = (words.split()[0], tool)
        yield pytest.param(words, marks=pytest.mark.chaos if key in seen else ())
        seen.add(key)


@pytest.mark.parametrize("words", [*each_deed()])
def test_who_does_not_hold_a_tool_cannot_use_its_command_either(terminal: Terminal, words: str) -> None:
    tool = DEEDS[words]
    (terminal.folder / "plan.yaml").write_text("tasks: [{name: one}]\n")
    env = inside(terminal, "member", () if tool is None else tuple(one for one in TOOLS if one != tool))
    refused = terminal.run(*words.split(), env=env)
    assert (refused.code, refused.out) == (1, "")
    fact = "coder may not start or stop others" if tool is None else f"coder (member) may not use {tool}"
    assert ("NOT_ALLOWED" in refused.err, f"{fact}." in refused.err) == (True, True), refused


@pytest.mark.chaos
def test_the_server_says_the_same(terminal: Terminal, tmp_path: Path) -> None:
    env = inside(terminal, "member", ("inbox", "channel_send"))
    with served(terminal) as url:
        for words in OVER_SERVER:
            direct = terminal.run(*words.split(), env=env)
            distant = terminal.run(*words.split(), env={**env, "MOOT_URL": url, "MOOT_THROUGH": "server"})
            assert (direct.code, "NOT_ALLOWED" in direct.err) == (1, True), words
            assert direct == distant, words


@pytest.mark.parametrize("words", ["send hi", "doc write plan.md", "vote prop-001 yes", "request why --to reviewer"])
def test_who_only_watches_changes_nothing_by_commands(terminal: Terminal, words: str) -> None:
    refused = terminal.run(*words.split(), env=inside(terminal, "observer", None))
    assert (refused.code, refused.err.startswith("error: NOT_ALLOWED: coder (observer) may not use")) == (1, True)


def test_a_tool_or_its_group_is_enough(terminal: Terminal) -> None:
    for held in (("document_write",), ("documents",)):
        env = inside(terminal, "member", held)
        assert terminal.run("doc", "write", f"{held[0]}.md", stdin=b"x\n", env=env).code == 0


def test_it_reads_nobody_elses_mail(coder: Agent) -> None:
    refused = coder.run("inbox", "reviewer@pr-1")
    assert (refused.code, "NOT_ALLOWED" in refused.err) == (1, True), refused
