"""The inbox: what waits for whom, and acknowledging exactly what was seen."""

from moot.api.connection import Connection
from moot.bus import mailbox
from moot.core.caller import SYSTEM
from moot.core.ids import AgentId, AttemptId
from moot.core.tx import Tx
from moot.registry import agents, instances, tokens
from moot.registry.tokens import Grant
from moot.tools import talk
from moot.tools.talk import Words
from tests.cli.terminal import Terminal


def test_what_is_said_to_the_person_waits(both: Terminal) -> None:
    both.join("coder")
    both.act(lambda connection: _say(connection, "coder", "done, @human"))
    first, about = both.ok("inbox").out.splitlines()
    assert first.endswith(" coder  done, @human")
    assert about.strip().startswith("ms_")
    assert both.ok("inbox", "--unread").out.splitlines()[0] == first


def test_an_empty_inbox_says_so_and_makes_no_store(terminal: Terminal) -> None:
    assert terminal.ok("inbox").out == "nothing waits for you\n"
    assert terminal.ok("inbox", "--json").json == []
    assert not (terminal.folder / ".workflow").exists()


def test_looking_acknowledges_nothing(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: _say(connection, "coder", "done, @human"))
    assert terminal.ok("inbox").out == terminal.ok("inbox").out != "nothing waits for you\n"


def test_exactly_what_was_printed_is_acknowledged(both: Terminal) -> None:
    both.join("coder")
    for body in ("one @human", "two @human", "three @human"):
        both.act(lambda connection, body=body: _say(connection, "coder", body))
    assert [one["message"] for one in both.ok("inbox", "--ack", "--limit", "2", "--json").json] == [
        "one @human",
        "two @human",
    ]
    assert [one["message"] for one in both.ok("inbox", "--json").json] == ["three @human"]


def test_nobody_acknowledges_for_another(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.ok("send", "hello", "--to", "coder")
    refused = terminal.run("inbox", "coder", "--ack")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("error: NOT_ALLOWED: Only coder can acknowledge what waits for coder.\n")
    assert [one["state"] for one in terminal.ok("inbox", "coder", "--json").json] == ["queued"]


def test_the_person_may_be_named_too(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: _say(connection, "coder", "done, @human"))
    assert len(terminal.ok("inbox", "human", "--ack", "--json").json) == 1
    assert terminal.ok("inbox", "human").out == "nothing waits for human\n"


def test_an_agent_sees_and_acknowledges_its_own(both: Terminal) -> None:
    coder = both.join("coder")
    both.ok("send", "hello", "--to", "coder")
    env = {"MOOT_TOKEN": both.act(lambda connection: _token(connection, coder.id))}
    assert [one["message"] for one in both.ok("inbox", "--ack", "--json", env=env).json] == ["hello"]
    assert both.ok("inbox", env=env).out == "nothing waits for you\n"
    both.ok("send", "done, @human", env=env)
    assert both.ok("inbox", "--json").json[0]["from"] == "coder"


def test_a_token_that_is_nobodys_is_refused(terminal: Terminal) -> None:
    terminal.join("coder")
    refused = terminal.run("inbox", env={"MOOT_TOKEN": "moot_wrong"})
    assert refused.code == 1
    assert "NOT_AUTHENTICATED" in refused.err


def test_a_token_is_good_for_its_own_instance_only(terminal: Terminal) -> None:
    coder = terminal.join("coder", instance="pr-1")
    token = terminal.act(lambda connection: _token(connection, coder.id, "pr-1"))
    terminal.ok("inbox", env={"MOOT_TOKEN": token})
    refused = terminal.run("send", "hello", "--instance", "default", env={"MOOT_TOKEN": token})
    assert refused.code == 1
    assert "NOT_ALLOWED" in refused.err


def test_an_agent_of_another_instance_is_found(terminal: Terminal) -> None:
    terminal.join("coder", instance="pr-1")
    terminal.ok("send", "hello", "--to", "coder@pr-1")
    assert [one["message"] for one in terminal.ok("inbox", "coder@pr-1", "--json").json] == ["hello"]
    assert [one["message"] for one in terminal.ok("inbox", "coder", "--instance", "pr-1", "--json").json] == ["hello"]


def test_mail_that_was_given_up_is_shown_and_marked(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    terminal.ok("send", "urgent: look", "--to", "coder")
    terminal.act(lambda connection: _park(connection, coder.id))
    assert terminal.ok("inbox", "coder").out.splitlines()[1].endswith("  high  parked")
    assert terminal.ok("inbox", "coder", "--json").json[0]["state"] == "parked"


def test_an_unknown_agent_is_an_error(terminal: Terminal) -> None:
    terminal.join("coder")
    refused = terminal.run("inbox", "ghost")
    assert refused.code == 1
    assert "AGENT_NOT_FOUND" in refused.err
    assert "Here are: coder." in refused.err


def test_who_names_no_instance_sees_where_something_waits(terminal: Terminal) -> None:
    for name in ("pr-1", "pr-2"):
        terminal.join("coder", instance=name)
        terminal.act(lambda connection, name=name: _say(connection, "coder", f"{name}, @human", name))
    shown = terminal.ok("inbox")
    assert shown.out.splitlines()[0].endswith(" coder  pr-1, @human")
    assert shown.err == "more waits in pr-2; see moot inbox --instance pr-2\n"
    assert terminal.ok("inbox", "--reply", "yes").out == "sent to coder\n"
    assert terminal.ok("inbox", "human").out.splitlines()[0].endswith(" coder  pr-2, @human")
    assert [one["message"] for one in terminal.ok("inbox", "coder@pr-1", "--json").json] == ["yes"]


def test_the_inbox_of_an_agent_is_found_where_the_agent_is(terminal: Terminal) -> None:
    terminal.join("coder", instance="pr-1")
    terminal.ok("send", "hello")
    assert [one["message"] for one in terminal.ok("inbox", "coder", "--json").json] == ["hello"]


async def _say(connection: Connection, name: str, body: str, where: str = "default") -> None:
    def change(tx: Tx) -> None:
        instance = instances.get(tx, where)
        agents.person(tx, instance)
        talk.say(tx, instance, agents.named(tx, instance.stream, name), Words(body))

    await connection.store.write(change, caller=SYSTEM)


async def _token(connection: Connection, agent: AgentId, instance: str = "default") -> str:
    text = tokens.new_text()
    grant = Grant("member", instances.InstanceName(instance), "member", agent)
    await connection.store.write(lambda tx: tokens.mint(tx, text, grant), caller=SYSTEM)
    return text


async def _park(connection: Connection, agent: AgentId) -> None:
    def change(tx: Tx) -> None:
        mailbox.hand_out(tx, agent, AttemptId("at_1"), 10)
        mailbox.park(tx, agent, AttemptId("at_1"))

    await connection.store.write(change, caller=SYSTEM)
