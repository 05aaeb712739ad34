"""Requests at the terminal: asking, approving, denying, and answering what waits."""

from moot.api.connection import Connection
from moot.core.caller import SYSTEM
from moot.core.ids import AgentId
from moot.core.tx import Tx
from moot.registry import agents, instances, tokens
from moot.registry.tokens import Grant
from moot.requests.requests import Kind, Request
from moot.tools import asking, talk
from moot.tools.asking import Question
from moot.tools.talk import Words
from tests.cli.terminal import Terminal


async def _ask(connection: Connection, to: str, title: str, kind: Kind = "permission") -> Request:
    """As `coder`."""

    def change(tx: Tx) -> Request:
        instance = instances.get(tx, connection.caller.instance)
        coder = agents.named(tx, instance.stream, "coder")
        return asking.ask(tx, instance, coder, Question(to, kind, title))

    return await connection.store.write(change, caller=SYSTEM)


async def _say(connection: Connection, body: str) -> None:
    def change(tx: Tx) -> None:
        instance = instances.get(tx, "default")
        talk.say(tx, instance, agents.named(tx, instance.stream, "coder"), Words(body))

    await connection.store.write(change, caller=SYSTEM)


async def _token(connection: Connection, agent: AgentId) -> str:
    text = tokens.new_text()
    grant = Grant("member", instances.InstanceName("default"), "member", agent)
    await connection.store.write(lambda tx: tokens.mint(tx, text, grant), caller=SYSTEM)
    return text


def states(terminal: Terminal) -> list[tuple[str, str]]:
    return [(one["title"], one["state"]) for one in terminal.ok("request", "--all", "--json").json]


def test_the_only_open_request_is_approved_without_its_id(either: Terminal) -> None:
    either.join("coder")
    either.act(lambda connection: _ask(connection, "human", "delete build/?"))
    assert either.ok("approve", "--text", "go on").out == "approved: delete build/?\n"
    assert states(either) == [("delete build/?", "approved")]
    assert either.ok("inbox", "coder", "--json").json[0]["message"].endswith("go on")
    nothing = either.run("approve")
    assert nothing.code == 1
    assert "REQUEST_NOT_FOUND" in nothing.err


def test_a_request_is_answered_from_anywhere(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.join("coder", instance="pr-1")
    asked = terminal.act(lambda connection: _ask(connection, "human", "delete build/?"), instance="pr-1")
    told = f"coder waits for you: delete build/?; answer with: moot approve {asked.id}, or: moot deny {asked.id}"
    assert told in terminal.ok("status", "@pr-1").out
    assert terminal.ok("status", "@pr-1", "--json").json[0]["requests"] == [asked.id]
    assert terminal.ok("deny", asked.id).out == "denied: delete build/?\n"
    terminal.act(lambda connection: _ask(connection, "human", "push?"), instance="pr-1")
    assert terminal.run("approve", "--instance", "default").code == 1
    assert terminal.ok("approve").out == "approved: push?\n"
    for instance in ("default", "pr-1"):
        terminal.act(lambda connection: _ask(connection, "human", "which?"), instance=instance)
    several = terminal.run("approve")
    assert several.code == 2
    assert [line.split()[2] for line in several.out.splitlines()[1:]] == ["coder", "coder@pr-1"]
    assert "There is no request 'rq_none' here." in terminal.run("approve", "rq_none").err


def test_of_several_requests_one_must_be_named(terminal: Terminal) -> None:
    terminal.join("coder")
    for title in ("one?", "two?"):
        terminal.act(lambda connection, title=title: _ask(connection, "human", title))
    listed = terminal.run("deny")
    assert listed.code == 2
    heading, first, second = listed.out.splitlines()
    assert heading.split() == ["ID", "TYPE", "FROM", "TO", "TITLE"]
    assert (first.endswith("one?"), second.endswith("two?")) == (True, True)
    assert [one["title"] for one in terminal.run("deny", "--json").json] == ["one?", "two?"]
    assert states(terminal) == [("one?", "open"), ("two?", "open")]
    denied = terminal.ok("deny", second.split()[0], "--text", "not now", "--json").json
    assert (denied["title"], denied["state"], denied["answer"], denied["answered_by"]) == (
        "two?", "denied", "not now", "human",
    )  # fmt: skip
    again = terminal.run("approve", second.split()[0])
    assert again.code == 1
    assert "REQUEST_CLOSED" in again.err


def test_a_question_is_answered_with_a_text(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: _ask(connection, "human", "which?", "question"))
    assert "ANSWER_REFUSED" in terminal.run("approve").err
    assert terminal.ok("approve", "--text", "the left one", "--json").json["state"] == "answered"


def test_asking_an_agent_and_taking_it_back(either: Terminal) -> None:
    either.join("coder")
    asked = either.ok("request", "--to", "coder", "--type", "shutdown", "go home\nit is late", "--json").json
    assert (asked["from"], asked["to"], asked["type"], asked["title"], asked["body"]) == (
        "human", "coder", "shutdown", "go home", "it is late",
    )  # fmt: skip
    own = either.run("approve", asked["id"])
    assert (own.code, "OWN_REQUEST" in own.err) == (1, True)
    assert either.ok("request").out.splitlines()[1].split()[:4] == [asked["id"], "shutdown", "human", "coder"]
    assert either.ok("request", "--cancel", asked["id"]).out == f"cancelled {asked['id']}\n"
    assert either.ok("request").out == "nothing was asked\n"
    assert states(either) == [("go home", "cancelled")]


def test_what_cannot_be_asked_is_refused(terminal: Terminal) -> None:
    terminal.join("coder")
    for words in (("hello",), ("hello", "--to", "@default"), ("x" * 201, "--to", "coder"), (" ", "--to", "coder")):
        assert terminal.run("request", *words).code == 2
    assert terminal.run("request", "hello", "--to", "nobody").code == 1
    assert terminal.ok("request", "--json").json == []


def test_an_agent_answers_as_itself(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    terminal.ok("request", "--to", "coder", "--type", "permission", "may I?")
    env = {"MOOT_TOKEN": terminal.act(lambda connection: _token(connection, coder.id))}
    assert (
        terminal.ok(
            "approve",
            env=env,
        ).out
        == "approved: may I?\n"
    )
    refused = terminal.run("inbox", "--as", "human", env=env)
    assert (refused.code, "NOT_ALLOWED" in refused.err) == (1, True)


def test_a_second_person_has_an_inbox_and_a_voice(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.join("ana", backend="human")
    terminal.act(lambda connection: _ask(connection, "ana", "ship it?"))
    assert terminal.ok("inbox").out == "nothing waits for you\n"
    assert [one["request"]["title"] for one in terminal.ok("inbox", "--as", "ana", "--json").json] == ["ship it?"]
    assert terminal.ok("approve", "--as", "ana", "--json").json["answered_by"] == "ana"
    assert terminal.ok("inbox", "--as", "ana").out == "nothing waits for ana\n"
    assert terminal.ok("send", "hello", "--to", "coder", "--as", "ana", "--json").json["recipients"] == ["coder"]
    assert [one["from"] for one in terminal.ok("inbox", "coder", "--json").json] == ["ana", "ana"]
    refused = terminal.run("send", "hello", "--as", "coder")
    assert (refused.code, "coder is no person" in refused.err) == (1, True)


def test_an_inbox_shows_open_requests_until_they_are_answered(either: Terminal) -> None:
    either.join("coder")
    request = either.act(lambda connection: _ask(connection, "human", "ship it?"))
    first, about = either.ok("inbox").out.splitlines()
    assert first.endswith(f" coder [permission_request]  [REQUEST:{request.id}] ship it?")
    assert about.split() == [request.id, "no.", "1"]
    assert either.ok("inbox", "--ack", "--json").json[0]["request"]["id"] == request.id
    assert either.ok("inbox", "--json").json[0]["state"] == "acked"
    assert either.ok("inbox", "--unread", "--json").json == []
    assert len(either.ok("inbox", "--pending", "--json").json) == 1
    assert either.ok("inbox", "--reply", "No, too early").out == "denied\n"
    assert either.ok("inbox", "--json").json == []
    assert either.ok("request", "--all", "--json").json[0]["answer"] == "too early"


def test_of_several_the_one_with_the_number_is_answered(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: _say(connection, "@human hello"))
    terminal.act(lambda connection: _ask(connection, "human", "which?", "question"))
    assert terminal.run("inbox", "--reply", "yes").code == 2
    assert terminal.run("inbox", "3", "--reply", "yes").code == 2
    assert terminal.run("inbox", "2").code == 2
    assert terminal.run("inbox", "coder", "--reply", "yes").code == 2
    assert terminal.ok("inbox", "2", "--reply", "the left one").out == "answered\n"
    assert terminal.ok("inbox", "--reply", "hello yourself").out == "sent to coder\n"
    assert terminal.ok("inbox", "--json").json == []
    assert [one["message"].splitlines()[-1] for one in terminal.ok("inbox", "coder", "--json").json] == [
        "the left one",
        "hello yourself",
    ]


def test_a_person_goes_through_what_waits_on_a_terminal(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.act(lambda connection: _say(connection, "@human hello"))
    terminal.act(lambda connection: _ask(connection, "human", "ship it?"))
    terminal.act(lambda connection: _ask(connection, "human", "which?", "question"))
    shown = terminal.show("inbox", "--answer", typed="\nperhaps\nyes\nthe left one\n", env={"NO_COLOR": "1"})
    assert shown.count("answer (empty: later) > ") == 4
    assert "This is to be approved or denied. Begin with yes or no." in shown
    assert states(terminal) == [("ship it?", "approved"), ("which?", "answered")]
    assert [one["message"] for one in terminal.ok("inbox", "--json").json] == ["@human hello"]


def test_the_end_of_the_input_leaves_the_rest_for_later(terminal: Terminal) -> None:
    terminal.join("coder")
    for title in ("one?", "two?"):
        terminal.act(lambda connection, title=title: _ask(connection, "human", title))
    assert "approved" in terminal.ok("inbox", "--answer", stdin=b"yes\n").out
    assert states(terminal) == [("one?", "approved"), ("two?", "open")]
    assert terminal.ok("inbox", "--answer", stdin=b"").out.count("two?") == 1


def test_there_is_nothing_to_go_through_where_no_store_is(terminal: Terminal) -> None:
    assert terminal.ok("inbox", "--answer").out == "nothing waits for you\n"
    assert not (terminal.folder / ".workflow").exists()
