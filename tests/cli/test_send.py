"""Sending: who hears it, what is said about it, and waiting for the answer."""

import asyncio

import pytest

from moot.api.connection import Connection
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.registry import agents, hosts, instances, tokens
from moot.registry.hosts import NewHost
from moot.registry.tokens import Grant
from moot.tools import talk
from moot.tools.talk import Words
from tests.cli.terminal import Terminal, finish

NO_HOST = "no host is running; start one with: moot serve\n"


def test_a_message_is_there_for_the_next_command(both: Terminal) -> None:
    both.join("coder")
    sent = both.ok("send", "please look @coder")
    assert sent.out == "sent to coder\n"
    assert sent.err == NO_HOST
    assert both.ok("log").out.endswith(" human  please look @coder\n")
    assert both.ok("inbox", "coder", "--json").json[0]["message"] == "please look @coder"


def test_several_are_named_with_to(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.join("reviewer")
    assert terminal.ok("send", "hello", "--to", "coder", "--to", "reviewer").out == "sent to coder, reviewer\n"


@pytest.mark.parametrize("words", [["ping"], ["ping @solo"], ["ping", "--to", "solo"]])
def test_an_agent_of_another_instance_is_found_and_the_instance_told(terminal: Terminal, words: list[str]) -> None:
    terminal.join("solo", instance="pr-1", source="one.yaml")
    assert terminal.ok("send", *words).out == "sent to solo in pr-1\n"


def test_who_comes_from_outside_and_is_not_here_reads_it_on_joining(terminal: Terminal) -> None:
    ben = terminal.join("ben", instance="x", backend="external")
    terminal.act(lambda connection: _gone(connection, ben))
    sent = terminal.ok("send", "hello", "--to", "ben@x")
    assert sent.err == "warning: ben reads it when it joins with: moot mcp --as ben@x\n"


async def _gone(connection: Connection, agent: agents.Agent) -> None:
    """Its client joins and leaves again."""
    text = tokens.new_text()
    grant = Grant("member", agent.instance, "member", agent.id)
    id = await connection.store.write(lambda tx: tokens.mint(tx, text, grant), caller=SYSTEM)
    await connection.store.write(lambda tx: tokens.revoke(tx, id), caller=SYSTEM)


def test_json_says_who_was_reached(terminal: Terminal) -> None:
    terminal.join("coder")
    sent = terminal.ok("send", "hello @coder @ghost", "--json").json
    assert sent["status"] == "sent"
    assert sent["id"].startswith("ms_")
    assert (sent["recipients"], sent["unknown"], sent["host_running"], sent["reply"]) == (
        ["coder"],
        ["ghost"],
        False,
        None,
    )


def test_an_unknown_mention_is_warned_about(terminal: Terminal) -> None:
    sent = terminal.ok("send", "hello @ghost")
    assert sent.out == "sent; nobody was addressed\n"
    assert "warning: nobody here is called @ghost\n" in sent.err


def test_an_unknown_target_is_refused_and_nothing_is_sent(terminal: Terminal) -> None:
    terminal.join("coder")
    refused = terminal.run("send", "hello", "--to", "ghost")
    assert refused.code == 1
    assert refused.err == "error: AGENT_NOT_FOUND: There is no agent named 'ghost' here.\n  Here are: coder, human.\n"
    assert terminal.ok("log", "--json").json == []


def test_a_message_goes_to_an_agent_of_another_instance(terminal: Terminal) -> None:
    terminal.join("writer")
    terminal.join("coder", instance="pr-1")
    terminal.ok("send", "hello", "--to", "coder@pr-1")
    assert [one["message"] for one in terminal.ok("log", "--instance", "pr-1", "--json").json] == ["hello"]
    assert terminal.ok("log", "--json").json == []


def test_a_whole_instance_can_be_addressed(terminal: Terminal) -> None:
    terminal.join("ann", instance="pr-1")
    terminal.join("bob", instance="pr-1")
    assert terminal.ok("send", "hello", "--to", "@pr-1").out == "sent to ann, bob\n"


def test_an_agent_written_as_an_instance_makes_no_instance(terminal: Terminal) -> None:
    terminal.join("coder")
    refused = terminal.run("send", "hello", "--to", "@coder")
    assert (refused.code, refused.out) == (1, "")
    assert "INSTANCE_NOT_FOUND" in refused.err
    assert "--to coder" in refused.err


def test_two_instances_in_one_message_are_refused(terminal: Terminal) -> None:
    refused = terminal.run("send", "hello", "--to", "ann@one", "--to", "bob@two")
    assert refused.code == 2
    assert "one, two" in refused.err


def test_a_message_is_read_from_stdin(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.ok("send", "-", stdin="two\nlinés\n".encode())
    assert terminal.ok("log", "--json").json[0]["message"] == "two\nlinés"


@pytest.mark.parametrize(
    ("stdin", "fact"), [(b"\xff\xfe", "not UTF-8"), (b"", "empty"), (b"a" * 4_000_001, "1,000,000")]
)
def test_bad_stdin_is_refused(terminal: Terminal, stdin: bytes, fact: str) -> None:
    terminal.join("coder")
    refused = terminal.run("send", "-", stdin=stdin)
    assert refused.code == 2
    assert fact in refused.err


def test_without_a_name_the_only_agent_is_meant(terminal: Terminal) -> None:
    terminal.join("coder")
    assert terminal.ok("send", "hello").out == "sent to coder\n"


def test_without_a_name_and_nobody_here_it_is_an_error(terminal: Terminal) -> None:
    refused = terminal.run("send", "hello")
    assert refused.code == 1
    assert "It is not clear who should hear this." in refused.err
    assert not (terminal.folder / ".workflow").exists()


def test_an_answer_goes_to_whom_it_answers(terminal: Terminal) -> None:
    terminal.join("ann")
    terminal.join("bob")
    said = terminal.act(lambda connection: _say(connection, "ann", "what now?"))
    assert terminal.ok("send", "wait", "--reply-to", said).out == "sent to ann\n"


def test_who_is_here_without_a_host_needs_none(terminal: Terminal) -> None:
    terminal.join("visitor", backend="external")
    assert terminal.ok("send", "hello @visitor").err == ""
    terminal.join("coder")
    assert terminal.ok("send", "hello @visitor @coder").err == NO_HOST


def test_a_running_host_is_not_missed(terminal: Terminal) -> None:
    terminal.join("coder")

    def register(tx: Tx) -> None:
        hosts.register(tx, NewHost("here", "1:1", ("serve", "react", "work", "run")))

    terminal.act(lambda connection: connection.store.write(register, caller=SYSTEM))
    assert terminal.ok("send", "hello").err == ""


def test_the_first_reply_is_printed(both: Terminal) -> None:
    both.join("coder")
    waiting = both.start("send", "are you there?", "--wait")
    both.act(lambda connection: _answer_first(connection, "coder", "yes, @human"))
    ended = finish(waiting)
    assert ended.code == 0, ended
    first, reply = ended.out.splitlines()
    assert first == "sent to coder"
    assert reply.endswith(" coder  yes, @human")


def test_the_first_reply_comes_as_json(terminal: Terminal) -> None:
    terminal.join("coder")
    waiting = terminal.start("send", "are you there?", "--wait", "--json")
    terminal.act(lambda connection: _answer_first(connection, "coder", "yes, @human"))
    ended = finish(waiting)
    assert ended.code == 0, ended
    assert ended.json["reply"]["from"] == "coder"


def test_nobody_answers_in_time(terminal: Terminal) -> None:
    terminal.join("coder")
    ended = terminal.run("send", "are you there?", "--wait", "--timeout", "50ms")
    assert ended.code == 3
    assert ended.out == "sent to coder\n"
    assert "error: NO_REPLY: Nobody has answered in 0.05 s." in ended.err


def test_a_failure_told_by_moot_is_no_reply(terminal: Terminal) -> None:
    terminal.join("coder")
    waiting = terminal.start("send", "are you there?", "--wait")
    terminal.act(lambda connection: _answer_first(connection, None, "coder failed 3 times", kind="system"))
    ended = finish(waiting)
    assert ended.code == 1
    assert "coder failed 3 times" in ended.out


async def _answer_first(connection: Connection, name: str | None, body: str, kind: talk.Kind = "message") -> None:
    """Say it as soon as anything was said."""
    async with asyncio.timeout(60):
        async for _ in connection.follow():
            break

    def change(tx: Tx) -> None:
        instance = instances.get(tx, "default")
        speaker = agents.named(tx, instance.stream, name) if name else None
        talk.say(tx, instance, speaker, Words(body, to=("human",), kind=kind))

    await connection.store.write(change, caller=SYSTEM)


async def _say(connection: Connection, name: str, body: str) -> str:
    def change(tx: Tx) -> str:
        instance = instances.get(tx, "default")
        return talk.say(tx, instance, agents.named(tx, instance.stream, name), Words(body)).message.id

    return await connection.store.write(change, caller=SYSTEM)
