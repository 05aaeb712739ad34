"""`moot ui` as a person meets it: a link to come in by, a page, and an end by Ctrl-C."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager

import httpx2
import pytest

from tests.cli.terminal import Terminal, interrupt, read_line

LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/login#(moot_[\w-]+)")


@contextmanager
def come_in(said: str) -> Generator[httpx2.Client]:
    """As a browser would that opens the link."""
    found = LINK.search(said)
    assert found, said
    with httpx2.Client(base_url=found[1], timeout=60) as client:
        answer = client.post("/api/login", json={"link": found[2]})
        assert answer.status_code == 200, answer.text
        client.headers["X-Moot-CSRF"] = answer.json()["csrf"]
        yield client


def test_the_page_shows_what_was_said_and_says_what_is_typed_there(terminal: Terminal) -> None:
    terminal.join("ann", backend="external")
    terminal.ok("send", "--to", "ann", "hello")
    process = terminal.start("ui")
    try:
        with come_in(read_line(process)) as client:
            assert [one["message"] for one in client.get("/api/messages").json()["messages"]] == ["hello"]
            assert client.post("/api/messages", json={"message": "@ann again"}).status_code == 200
    finally:
        ended = interrupt(process)
    assert (ended.code, ended.err) == (0, "")
    assert "@ann again" in terminal.ok("log").out


def test_a_link_for_watching_changes_nothing(terminal: Terminal) -> None:
    terminal.join("ann", backend="external")
    process = terminal.start("ui", "--read-only")
    try:
        with come_in(read_line(process)) as client:
            answer = client.post("/api/messages", json={"message": "@ann in"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "READ_ONLY")
    finally:
        interrupt(process)
    assert "@ann in" not in terminal.ok("log").out


def test_documents_that_are_edited_on_the_page_are_written_as_files(terminal: Terminal) -> None:
    terminal.join("ann", backend="external")
    process = terminal.start("ui")
    try:
        with come_in(read_line(process)) as client:
            body = {"file": "plan.md", "content": "# Plan\n", "base": 0}
            assert client.post("/api/document", json=body).status_code == 200
    finally:
        interrupt(process)
    terminal.ok("doc", "list")
    assert (terminal.folder / ".workflow" / "default" / "plan.md").read_text() == "# Plan\n"


def test_the_link_is_there_for_programs(terminal: Terminal) -> None:
    terminal.join("ann", backend="external")
    process = terminal.start("ui", "--json")
    try:
        lines = [read_line(process) for _ in range(4)]
    finally:
        interrupt(process)
    told = json.loads("".join(lines))
    assert (bool(LINK.fullmatch(told["url"])), told["read_only"]) == (True, False)


def test_a_project_without_a_store_is_waited_for(terminal: Terminal) -> None:
    process = terminal.start("ui")
    try:
        assert process.stderr is not None
        assert b"Waiting for the first moot run" in process.stderr.readline()
        terminal.join("ann", backend="external")
        with come_in(read_line(process)) as client:
            assert [one["name"] for one in client.get("/api/agents").json()["agents"]] == ["ann"]
    finally:
        interrupt(process)


def test_signing_out_ends_what_was_given_out(terminal: Terminal) -> None:
    terminal.join("ann", backend="external")
    process = terminal.start("ui")
    try:
        with come_in(read_line(process)) as client:
            assert terminal.ok("ui", "--sign-out").out == "visits and links that were ended: 1\n"
            assert client.get("/api/session").status_code == 401
    finally:
        interrupt(process)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1"])
def test_the_page_is_for_this_machine_only(terminal: Terminal, host: str) -> None:
    terminal.join("ann", backend="external")
    refused = terminal.run("ui", "--host", host)
    assert (refused.code, refused.out) == (2, "")
    assert "ADDRESS_REFUSED" in refused.err
    assert "ssh -L" in refused.err


def test_a_run_shows_its_page_when_asked_to(terminal: Terminal) -> None:
    (terminal.folder / "ask.yaml").write_text(
        "name: ask\nagents:\n  ann: {backend: scripted, script: [{say: '@human may I?'}]}\nkickoff: '@ann go'\n"
    )
    process = terminal.start("run", "ask.yaml", "--ui", "--json")
    try:
        pieces = iter(lambda: json.loads(read_line(process)), None)
        page = next(one for one in pieces if one["type"] == "page")
        with come_in(page["url"]) as client:
            asked = next(one for one in pieces if one["type"] == "message" and one["from"] == "ann")
            assert asked["message"] == "@human may I?"
            (mail,) = client.get("/api/overview").json()["needs"]["mail"]
            assert client.post("/api/mail/ack", json={"ids": [mail["id"]]}).status_code == 200
        end = next(one for one in pieces if one["type"] == "end")
        assert (end["status"], end["exit_code"]) == ("done", 0)
    finally:
        process.kill()
        process.communicate(timeout=60)
