"""The log: readable, safe to show in a terminal, and alive with -f."""

import json
import re

import pytest

from moot.api.connection import Connection
from moot.backends.backend import Called, Ended, Progress, Wrote
from moot.core.caller import SYSTEM
from moot.core.ids import AttemptId
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.runner import trails
from moot.runner.trails import Trail
from moot.tools import talk
from moot.tools.talk import Kind, Words
from tests.cli.terminal import Terminal, interrupt, read_line

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def test_lines_are_time_sender_and_text(either: Terminal) -> None:
    either.join("coder")
    either.act(lambda connection: say(connection, "coder", "first\nsecond\r\n\nthird\n"))
    either.act(lambda connection: say(connection, "coder", "why?", kind="question"))
    first, second, third, fourth, last = either.ok("log").out.splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d coder  first", first)
    assert (second, third, fourth) == (" " * 9 + "second", " " * 9, " " * 9 + "third")
    assert last.endswith(" coder [question]  why?")


def test_the_last_ones_are_shown(terminal: Terminal) -> None:
    terminal.join("coder")
    for number in range(3):
        terminal.act(lambda connection, number=number: say(connection, "coder", f"number {number}"))
    assert [line.split("  ")[1] for line in terminal.ok("log", "-n", "2").out.splitlines()] == ["number 1", "number 2"]


def test_only_what_an_agent_has_said_or_heard_is_shown(both: Terminal) -> None:
    for name, place in (("coder", "pr-1"), ("writer", "pr-1"), ("other", "default")):
        both.join(name, instance=place)
    both.ok("send", "for @coder", "--instance", "pr-1")
    both.ok("send", "for @writer", "--instance", "pr-1")
    both.act(lambda connection: say(connection, "coder", "mine", instance="pr-1"))

    def shown(*words: str) -> list[str]:
        return [one["message"] for one in both.ok(*words, "--json").json]

    assert shown("peek", "--to", "coder") == shown("log", "--to", "Coder@pr-1") == ["for @coder", "mine"]
    assert shown("log", "--to", "coder", "-n", "1") == ["mine"]
    assert shown("log", "--to", "@pr-1") == ["for @coder", "for @writer", "mine"]
    assert both.run("log", "--to", "ghost@pr-1").code == 1
    assert both.run("log", "--to", "coder", "--events").code == 2


@pytest.mark.parametrize("command", ["log", "doc list", "vote", "inbox", "search x", "list"])
def test_an_instance_that_is_not_there_is_an_error_that_names_those_that_are(terminal: Terminal, command: str) -> None:
    terminal.join("coder", instance="pr-1")
    refused = terminal.run(*command.split(), "--instance", "typo")
    assert (refused.code, refused.err) == (
        1, "error: INSTANCE_NOT_FOUND: There is no instance 'typo'.\n  There are: pr-1.\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    "command", [("log",), ("search", "hello"), ("doc", "list"), ("vote",), ("log", "--events", "--json")]
)
def test_who_names_no_instance_means_the_only_one_there_is(terminal: Terminal, command: tuple[str, ...]) -> None:
    terminal.join("coder", instance="pr-1")
    terminal.ok("send", "--to", "coder@pr-1", "hello")
    named = terminal.run(*command, "--instance", "pr-1")
    assert (terminal.run(*command).out, terminal.run(*command).code) == (named.out, named.code)
    terminal.join("coder", instance="pr-2")
    unclear = terminal.run(*command)
    assert (unclear.code, unclear.out) == (2, "")
    assert "not clear which instance" in unclear.err
    assert "--instance pr-1 or pr-2" in unclear.err
    terminal.join("coder")
    assert terminal.run(*command).out == terminal.run(*command, "--instance", "default").out


def test_silence_says_what_to_do_and_makes_no_store(terminal: Terminal) -> None:
    assert terminal.ok("log").out.startswith("nothing was said yet; begin with: moot send ")
    assert terminal.ok("log", "--json").json == []
    assert not (terminal.folder / ".workflow").exists()


def test_an_agent_cannot_send_codes_to_the_terminal(terminal: Terminal) -> None:
    terminal.join("coder")
    evil = "\x1b]0;owned\x07 \x1b[2J \x9b31m \x08\x08 line\roverwritten \u202egnp.exe\u202c \u2028 end"
    terminal.act(lambda connection: say(connection, "coder", evil))
    for words in (["log"], ["log", "--json"], ["log", "--events"], ["export", "--jsonl", "-"]):
        assert not CONTROL.search(terminal.ok(*words).out.replace("\n", "")), words
    assert r"\x1b]0;owned\x07 \x1b[2J \x9b31m \x08\x08 line\x0doverwritten \u202egnp.exe" in terminal.ok("log").out
    assert terminal.ok("log", "--json").json[0]["message"] == evil


def test_a_forged_line_is_indented(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: say(connection, "coder", "hi\n12:00:00 human  delete it"))
    assert terminal.ok("log").out.splitlines()[1] == " " * 9 + "12:00:00 human  delete it"


def test_a_huge_body_is_shown_whole(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: say(connection, "coder", "é" * 1_000_000))
    assert terminal.ok("log").out.count("é") == 1_000_000


def test_json_is_utf_8_whatever_the_locale(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: say(connection, "coder", "naïve 漢"))
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    assert terminal.ok("log", "--json", env=ascii_only).json[0]["message"] == "naïve 漢"
    assert terminal.ok("log", env=ascii_only).out.endswith(r"na\xefve \u6f22" + "\n")


def test_receipts_tell_how_far_a_message_has_come(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.ok("send", "hello @coder")
    assert terminal.ok("log", "--receipts").out.splitlines()[1] == " " * 9 + "-> coder queued"
    (message,) = terminal.ok("log", "--receipts", "--json").json
    assert message["receipts"] == [{"agent": "coder", "state": "queued", "delivered_at": None, "acked_at": None}]


def test_events_are_shown_too(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.ok("send", "hello @coder")
    kinds = [one["kind"] for one in terminal.ok("log", "--events", "--json").json]
    assert sorted(kinds) == ["agent_registered", "agent_registered", "message_posted"]
    assert [one["kind"] for one in terminal.ok("log", "--events", "--json", "-n", "1").json] == kinds[-1:]
    assert len(terminal.ok("log", "--events").out.splitlines()) == 3


def test_following_shows_what_comes_until_interrupted(either: Terminal) -> None:
    either.join("coder")
    either.act(lambda connection: say(connection, "coder", "before"))
    following = either.start("log", "-f")
    assert read_line(following).endswith(" coder  before\n")
    either.act(lambda connection: say(connection, "coder", "after"))
    assert read_line(following).endswith(" coder  after\n")
    ended = interrupt(following)
    assert (ended.code, ended.out, ended.err) == (130, "", "")


def test_following_as_json_is_one_document_a_line(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: say(connection, "coder", "before\nand more"))
    following = terminal.start("log", "-f", "--json")
    assert json.loads(read_line(following))["message"] == "before\nand more"
    assert interrupt(following).code == 130


def test_following_events_shows_them_as_they_come(terminal: Terminal) -> None:
    terminal.join("coder")
    following = terminal.start("log", "-f", "--events", "--json")
    assert json.loads(read_line(following))["kind"] == "agent_registered"
    terminal.act(lambda connection: say(connection, "coder", "hello"))
    assert json.loads(read_line(following))["kind"] == "message_posted"
    assert interrupt(following).code == 130


def test_following_an_instance_that_is_not_there_yet_waits_for_it(terminal: Terminal) -> None:
    terminal.join("coder")
    following = terminal.start("log", "-f", "--instance", "later")
    terminal.join("ann", instance="later")
    terminal.act(lambda connection: say(connection, "ann", "here", instance="later"))
    assert read_line(following).endswith(" ann  here\n")
    assert interrupt(following).code == 130


def test_following_before_there_is_a_store_says_so_and_waits(either: Terminal) -> None:
    following = either.start("log", "-f")
    assert following.stderr is not None
    told = following.stderr.readline().decode()
    assert told.startswith("There is no store ")
    assert told.endswith(" Waiting for the first moot run, moot send or moot serve; Ctrl-C ends this.\n")
    assert not (either.folder / ".workflow").exists()
    either.ok("send", "hello @nobody")
    assert read_line(following).endswith(" human  hello @nobody\n")
    ended = interrupt(following)
    assert (ended.code, ended.err) == (130, "")


def test_waiting_for_a_store_can_be_interrupted(terminal: Terminal) -> None:
    following = terminal.start("log", "-f", "--json")
    assert following.stderr is not None
    assert following.stderr.readline()
    ended = interrupt(following)
    assert (ended.code, ended.out, ended.err) == (130, "", "")


def test_times_are_local_and_old_days_are_named(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: say(connection, "coder", "hello"))
    stamp = terminal.ok("log", "--json").json[0]["timestamp"]
    hour = (int(stamp[11:13]) + 3) % 24
    assert terminal.ok("log", env={"TZ": "XYZ-3"}).out.splitlines()[-1].startswith(f"{hour:02}:")


async def say(
    connection: Connection, name: str, body: str, *, kind: Kind = "message", instance: str = "default"
) -> None:
    def change(tx: Tx) -> None:
        found = instances.get(tx, instance)
        talk.say(tx, found, agents.named(tx, found.stream, name), Words(body, kind=kind))

    await connection.store.write(change, caller=SYSTEM)


def work(terminal: Terminal, *done: Progress) -> None:
    """As a host notes it."""
    trail = Trail(trails.file_of(terminal.folder / ".workflow", "default", "coder"), AttemptId("at_1"))
    trail.begin("attempt 1")
    for one in done:
        trail.note(one)
    trail.close()


def test_an_agents_own_work_is_shown_without_codes_for_the_terminal(terminal: Terminal) -> None:
    terminal.join("coder")
    assert terminal.ok("log", "--raw", "coder").out == "coder has not worked on this machine yet\n"
    assert terminal.ok("log", "--raw", "coder", "--json").json == []
    work(terminal, Wrote("I \x1b[2Jlook.\n"), Called("Bash"), Ended())
    shown = terminal.ok("log", "--raw", "coder").out.splitlines()
    assert [line[8:] for line in shown] == ["  -- attempt 1", r"  I \x1b[2Jlook.", "  -> Bash", "  -- done"]
    told = terminal.ok("log", "--raw", "coder@default", "-n", "2", "--json").json
    assert [(one["kind"], one["text"]) for one in told] == [("tool", "Bash"), ("end", "done")]


def test_an_agents_own_work_is_followed(terminal: Terminal) -> None:
    terminal.join("coder")
    process = terminal.start("log", "--raw", "coder", "-f", "--json")
    work(terminal, Wrote("one\n"), Wrote("two\n"))
    lines = [json.loads(read_line(process))["text"] for _ in range(3)]
    work(terminal, Ended())
    lines += [json.loads(read_line(process))["text"] for _ in range(2)]
    assert lines == ["attempt 1", "one", "two", "attempt 1", "done"]
    assert interrupt(process).err == ""


def test_who_is_not_there_has_no_work_to_show(terminal: Terminal) -> None:
    terminal.join("coder")
    assert "There is no agent named 'ghost' here." in terminal.run("log", "--raw", "ghost").err
    assert terminal.run("log", "--raw", "@default").code == 2
    assert terminal.run("log", "--raw", "coder", "--events").code == 2
