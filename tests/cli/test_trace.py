"""The trace as a person sees it: a tree that fits the terminal, a line of time, and what went wrong in one line."""

import re

import pytest

from moot.api.connection import Connection
from moot.cli import trace
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.ledger.journal import Closed
from moot.registry import attempts
from tests.api import books
from tests.api.books import Asked
from tests.cli.terminal import Terminal

MODEL = """
name: asking
context: {document_owner: none}
agents:
  ann:
    answers:
      - calls: [{channel_send: {message: "I look into it."}}]
        usage: {input_tokens: 1200, output_tokens: 80, cost: 0.01}
      - {say: Done., usage: {input_tokens: 1400, output_tokens: 20, cost: 0.0025}}
kickoff: "@ann look at it."
"""


async def fail(connection: Connection) -> None:
    def change(tx: Tx) -> None:
        begun = books.begin(tx, books.join(tx, "lead", model="opus"))
        begun.grow(tx)
        begun.open(tx, books.opened("", "session", "lead", "lead", "root"))
        books.ask(tx, begun, Asked("t1/m", "opus", "lead", "failed"), Asked("t1/m", "haiku", "lead", cost=9, number=2))
        begun.open(tx, books.opened("t1/c1", "tool", "doc_\x1b[31m" + "漢" * 200, "lead"))
        begun.close(tx, Closed("t1/c1", 1, "done", '{"text":"No such\\nfile","is_error":true}'))
        begun.open(tx, books.opened("t2/m", "model", "opus", "lead", reserve=40_000))
        books.ask(tx, begun, Asked("t3/m", "opus", "lead", "unknown"))
        attempts.end(tx, begun.attempt, "failed", "it gave up\nfor good")

    await connection.store.write(change, caller=SYSTEM)


def played(terminal: Terminal) -> None:
    (terminal.folder / "asking.yaml").write_text(MODEL)
    terminal.ok("run", "asking.yaml")


def steady(text: str) -> str:
    """Without what differs from one run to the next."""
    return re.sub(r"\d+ ms|\d+\.\d s", "TIME", re.sub(r"(wf|at)_\w+", r"\1", text))


def test_where_nothing_ran_nothing_is_made(terminal: Terminal) -> None:
    assert terminal.ok("trace").out == "nothing has happened here yet; begin with: moot run FILE\n"
    assert terminal.ok("trace", "--json").json == []
    assert terminal.run("trace", "at_1").code != 0
    assert not (terminal.folder / ".workflow").exists()


def test_a_run_is_drawn_as_a_tree(either: Terminal) -> None:
    played(either)
    assert steady(either.ok("trace").out) == (
        "run asking wf  done  TIME  $0.0125\n"
        "└ ann at  succeeded  TIME  $0.0125\n"
        "  ├ given system: @ann look at it.\n"
        "  ├ ann  TIME  $0.0125\n"
        "  │ ├ turn 1\n"
        "  │ │ ├ model scripted  TIME  1,200 in 80 out  $0.01  tools\n"
        "  │ │ └ call channel_send  TIME\n"
        "  │ └ turn 2\n"
        "  │   └ model scripted  TIME  1,400 in 20 out  $0.0025  end\n"
        "  └ said  ann: I look into it.\n"
    )


def test_along_time_everything_has_its_offset_and_a_bar(terminal: Terminal) -> None:
    played(terminal)
    lines = terminal.ok("trace", "--timeline").out.splitlines()
    assert all(re.match(r" *\+\d+\.\d{3} s  [ ━·]{24}  \S", line) for line in lines)
    offsets = [float(line.split("+")[1].split()[0]) for line in lines]
    assert offsets == sorted(offsets)
    assert offsets[0] == 0
    assert "━" * 24 in lines[0]
    assert any("ann  model scripted" in line for line in lines)
    assert not any("turn" in line for line in lines)


def test_what_went_wrong_is_said_in_one_line_each(terminal: Terminal) -> None:
    terminal.act(fail)
    text = terminal.ok("trace", "lead").out
    lines = [re.sub(r"  (\d+ ms|\d+\.\d s).*", "", line) for line in steady(text).replace("TIME", "0 ms").splitlines()]
    assert lines[0] == "lead at  ✗ failed: it gave up"
    assert lines[2:5] == ["  ├ turn 1", "  │ ├ model opus  ✗ failed: it cannot be reached", "  │ ├ model haiku (try 2)"]
    assert lines[5].startswith("  │ └ call doc_\\x1b[31m漢")
    assert "  │ └ model opus  ? unknown" in lines
    assert "~$0.04" in text


@pytest.mark.parametrize("columns", [20, 40, 79])
def test_every_line_fits_the_terminal(terminal: Terminal, columns: int) -> None:
    terminal.act(fail)
    for words in (["trace"], ["trace", "--timeline"]):
        lines = terminal.ok(*words, env={"COLUMNS": str(columns)}).out.splitlines()
        cells = [len(line) + line.count("漢") for line in lines]
        assert max(cells) <= columns
        assert max(cells) >= columns - 1
        assert any(line.endswith("…") for line in lines)


@pytest.mark.parametrize(
    ("line", "width", "fitted"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("漢字漢", 6, "漢字漢"),
        ("漢字漢", 5, "漢字…"),
        ("漢字漢", 4, "漢…"),
        ("e\u0301e\u0301", 2, "e\u0301e\u0301"),
        ("two\nlines", 20, "two\\nlines"),
    ],
)
def test_wide_letters_take_two_places(line: str, width: int, fitted: str) -> None:
    assert trace.fitted(line, width) == fitted


def test_json_names_parents(terminal: Terminal) -> None:
    played(terminal)
    found = terminal.ok("trace", "--json").json
    kinds = {one["id"]: one["kind"] for one in found}
    assert {(one["kind"], kinds.get(one["parent"])) for one in found} == {
        ("run", None),
        ("attempt", "run"),
        ("message", "attempt"),
        ("session", "attempt"),
        ("turn", "session"),
        ("model", "turn"),
        ("tool", "turn"),
    }
    assert found[0]["cost"] == 0.0125


def test_an_agent_that_is_not_there_is_said(terminal: Terminal) -> None:
    terminal.act(fail)
    ended = terminal.run("trace", "eve")
    assert (ended.code, "no agent named 'eve'" in ended.err) == (1, True)
