"""A person at a real terminal: what they type while a run goes on is answered or said."""

from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    return Terminal(tmp_path, bytecode)


@pytest.mark.parametrize(("answer", "last"), [("yes", "Released 1.2."), ("no", "Then not.")])
def test_a_run_on_a_terminal_stays_open_for_the_answer(terminal: Terminal, answer: str, last: str) -> None:
    with terminal.typing("run", str(EXAMPLES / "person.yaml")) as session:
        session.until("type an answer")
        session.type(answer)
        session.until("done in")
    assert session.code == 0
    assert last in session.shown


def test_a_run_that_keeps_nothing_takes_answers_and_promises_no_later_ones(terminal: Terminal) -> None:
    text = (EXAMPLES / "person.yaml").read_text()
    (terminal.folder / "m.yaml").write_text(text.replace("document_owner: none", "provider: memory"))
    unheard = terminal.run("run", "m.yaml")
    assert unheard.code == 4
    assert "nothing of it is kept; to answer, run it on a terminal" in unheard.err
    assert "moot resume" not in unheard.err
    with terminal.typing("run", "m.yaml") as session:
        session.until("type an answer")
        session.type("yes")
        session.until("done in")
    assert session.code == 0
    assert "Released 1.2." in session.shown
    detached = terminal.run("start", "m.yaml", "--background")
    assert (detached.code, "Leave --background out" in detached.err) == (2, True)
    assert not (terminal.folder / ".workflow" / "moot.db").exists()


def test_what_is_typed_before_anything_was_said_waits(terminal: Terminal) -> None:
    with terminal.typing("run", str(EXAMPLES / "person.yaml")) as session:
        session.type("@release yes")
        session.until("Released 1.2.")
        session.interrupt()
    assert session.shown.index("prepare the release") < session.shown.index("human  @release yes")
    assert "no host" not in session.shown


def test_a_line_typed_while_watching_is_said(terminal: Terminal) -> None:
    terminal.run("run", str(EXAMPLES / "person.yaml"))
    with terminal.typing("watch") as session:
        session.until("type an answer")
        session.type("later")
        session.until("sent to release")
        session.interrupt()
    assert session.code == 130
    assert terminal.ok("inbox", "--json").json == []
