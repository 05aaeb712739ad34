"""`moot watch` on a real terminal: what is seen there, what is typed there, and how it is left."""

import re
import signal
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from moot.api import requests
from moot.core.caller import Caller
from moot.core.tx import Tx
from moot.registry import instances
from moot.registry.agents import Agent
from moot.requests.requests import Request
from moot.tools import asking, talk
from moot.tools.asking import Question
from moot.tools.talk import Said, Words
from tests.cli import screen
from tests.cli.screen import SECONDS, Screen
from tests.cli.terminal import Terminal, finish

EXAMPLES = Path(__file__).parents[3] / "examples"
WATCH = f"'{sys.executable}' -m moot watch"
PROMPT = re.compile("^>( |$)", re.MULTILINE).search
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp"
INERT = r"\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp"
CODES = {"C-c": 130, "C-d": 0, "TERM": 130, "gone": 1}
BUSY = """\
name: busy
context: {document_owner: none}
agents:
  coder: {backend: scripted, script: [{on: begin, hang: true}]}
  idler: {backend: scripted, script: []}
  cook: {backend: scripted, script: [{on: ., hang: true}]}
together: true
tasks:
  - {name: soup, description: Cook it., agent: cook}
  - {name: pudding, description: Cook it., agent: cook, depends_on: [soup]}
budget: {cost: 5}
kickoff: "@coder begin"
"""


@contextmanager
def watching(
    terminal: Terminal, size: tuple[int, int] = (100, 30), words: str = "", env: Mapping[str, str] | None = None
) -> Generator[Screen]:
    """At `moot watch` in a shell."""
    with screen.opened(terminal.folder, terminal.env(env), *size) as shown:
        shown.enter(f"clear; {WATCH} {words}".strip())
        shown.until(PROMPT)
        yield shown


def ask(terminal: Terminal, agent: Agent, question: Question) -> Request:
    def change(tx: Tx) -> Request:
        return asking.ask(tx, instances.get(tx, agent.instance), agent, question)

    caller = Caller(agent.name, "member", agent.instance, agent.id)
    return terminal.act(lambda connection: connection.store.write(change, caller=caller))


def permission(title: str = "Run a command", body: str = "make release") -> Question:
    return Question("human", "permission", title, body, lasts=None)


def state(terminal: Terminal, one: Request) -> str:
    asked = terminal.act(lambda connection: requests.all_of(connection, is_open=False, limit=100))
    return next(found.state for found in asked if found.id == one.id)


def say(terminal: Terminal, agent: Agent, body: str) -> None:
    def change(tx: Tx) -> Said:
        return talk.say(tx, instances.get(tx, agent.instance), agent, Words(body))

    terminal.act(lambda connection: connection.store.write(change, caller=connection.caller))


def test_what_needs_you_is_shown_exactly_and_answered_by_a_line(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    one = ask(terminal, coder, permission(body="rm -rf build\nmake release VERSION=1.2"))
    with watching(terminal) as shown:
        text = shown.until("yes or no, and why if you like")
        below = text[text.index("── default") :]
        assert "● coder wants to do this: Run a command\n  rm -rf build\n  make release VERSION=1.2\n  → yes" in below
        shown.enter("perhaps")
        shown.until("This is to be approved or denied.")
        shown.enter("no, too early")
        shown.until(lambda text: "wants to do this" not in text)
        assert f"[DENIED:{one.id}] Run a command" in shown.until("too early")
    assert state(terminal, one) == "denied"


def test_a_question_of_a_run_is_answered_and_the_conversation_goes_on_above(terminal: Terminal) -> None:
    terminal.run("run", str(EXAMPLES / "person.yaml"))
    with watching(terminal) as shown:
        shown.until("type an answer")
        shown.enter("yes")
        shown.until("sent to release")
        text = shown.until("human  yes\n")
        assert text.index("human  yes") < text.index("── default")
    assert terminal.ok("inbox", "--json").json == []


def test_enter_alone_is_enough_for_mail_that_was_read_and_for_nothing_else(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    one = ask(terminal, coder, permission())
    say(terminal, coder, "@human the tests pass")
    with watching(terminal) as shown:
        text = shown.until("● coder wants to do this")
        assert "○ coder wrote to you: @human the tests pass" in text
        shown.keys("Enter", "Tab")
        shown.until("● coder wrote to you\n  @human the tests pass\n")
        shown.keys("Enter")
        shown.until(lambda text: "wrote to you" not in text)
        shown.until("● coder wants to do this")
        until_nothing_waits_but(terminal, one.message)
    assert state(terminal, one) == "open"


def until_nothing_waits_but(terminal: Terminal, message: str | None) -> None:
    """What is typed is done beside the view, which is drawn anew meanwhile."""
    deadline = time.monotonic() + SECONDS
    while (waiting := [one["id"] for one in terminal.ok("inbox", "--json").json]) != [message]:
        assert time.monotonic() < deadline, waiting


def test_mail_from_before_takes_no_line(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    say(terminal, coder, "@human long ago")
    say(terminal, coder, "and this was last")
    with watching(terminal, words="-n 1") as shown:
        assert "○ 1 message from before: moot inbox" in shown.until("from before")
        shown.enter("hello everybody")
        shown.until("human  hello everybody")
    (waits,) = terminal.ok("inbox", "--json").json
    assert waits["message"] == "@human long ago"


def test_who_works_turns_and_how_far_it_is_is_seen(terminal: Terminal) -> None:
    (terminal.folder / "busy.yaml").write_text(BUSY)
    running = terminal.start("run", "busy.yaml", "--permissions", "full")
    try:
        with screen.opened(terminal.folder, terminal.env(), 100, 30) as shown:
            shown.enter(f"clear; {WATCH}")
            text = shown.until("▓░")
            assert re.search(r"^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] cook +on soup, ", text, re.MULTILINE)
            assert re.search(r"^· idler +idle", text, re.MULTILINE)
            assert re.search(r"^▓+░+ 0 of 2 tasks, 1 at work, 1 blocked  busy", text, re.MULTILINE)
            assert re.search(r"\$0\.00 of \$5\.00 · \d+ s of 60 m · 2 of 200 attempts", text)
            assert "── default · busy · live, " in text
            signs = re.compile(r"^([⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]) coder +at work, \d+ s", re.MULTILINE)
            running.send_signal(signal.SIGSTOP)  # from here on there is no news
            seen = set[str]()
            shown.until(lambda text: seen.update(signs.findall(text)) or len(seen) == 10)
    finally:
        running.kill()
        finish(running)


def test_steps_are_seen_as_they_are_done(terminal: Terminal) -> None:
    (terminal.folder / "steps.yaml").write_text(
        "name: steps\nsteps:\n"
        "  - {id: one, type: shell_command, command: echo 1}\n"
        "  - {id: two, type: shell_command, command: while ! test -e go; do sleep 0.1; done}\n"
        "  - {id: three, type: shell_command, command: echo 3}\n"
    )
    running = terminal.start("run", "steps.yaml")
    with screen.opened(terminal.folder, terminal.env(), 100, 30) as shown:
        shown.enter(f"clear; {WATCH}")
        text = shown.until("step 2 of 3")
        assert re.search(r"^█{8}░{16} ▸ steps: 1 step  step 2 of 3$", text, re.MULTILINE)
        shown.until("\n  two.shell_command  while ! test -e go")
        (terminal.folder / "go").touch()
        shown.until("steps · done")
    assert finish(running).code == 0


def test_what_agents_write_acts_on_no_terminal(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    say(terminal, coder, f"hello {EVIL}")
    ask(terminal, coder, permission(f"title {EVIL}", f"first\n{EVIL} last"))
    with watching(terminal) as shown:
        text = shown.until("wants to do this")
        assert f"hello {INERT}" in text
        assert f"wants to do this: title {INERT}" in text
        assert f"\n  {INERT} last\n" in text
        assert shown.is_said("pane_title") != "owned"


def test_markup_of_rich_means_nothing(terminal: Terminal) -> None:
    ask(terminal, terminal.join("coder"), permission("[red]title[/red] :smile:", "[link=x]body[/link]"))
    with watching(terminal) as shown:
        text = shown.until("wants to do this")
        assert "wants to do this: [red]title[/red] :smile:\n  [link=x]body[/link]\n" in text


def test_a_small_terminal_has_room_for_the_most_urgent(terminal: Terminal) -> None:
    agents = [terminal.join(f"agent-{number:02}") for number in range(20)]
    say(terminal, agents[3], "said before")
    ask(terminal, agents[7], permission(body="\n".join(f"line {number} {'x' * 100}" for number in range(50))))
    with watching(terminal, (40, 12)) as shown:
        text = shown.until("yes or no, and why")
        lines = text.rstrip("\n").split("\n")
        assert lines[-1].startswith(">")
        assert [line for line in lines if line.startswith("  20 agents: 20 idle")]
        at = lines.index("● agent-07 wants to do this: Run a com…")
        assert at >= 4
        assert lines[at + 1] == "  line 0 " + "x" * 30
        assert "  … more of it stands above" in lines
        shown.resize(100, 40)
        shown.until("\n  line 1 ")
        assert "line 49 xxx" in shown.history[: shown.history.index("● agent-07")]


def test_after_a_resize_there_is_one_view(terminal: Terminal) -> None:
    coder = terminal.join("coder", backend="external")
    say(terminal, coder, "\n".join(f"line {number}" for number in range(50)))
    say(terminal, coder, "the last word " * 12)
    with watching(terminal, (100, 30)) as shown:
        for columns, rows in ((60, 30), (120, 20), (50, 24)):
            shown.resize(columns, rows)
            wide = re.compile(rf"^── default ─{{{columns - 12}}}$", re.MULTILINE)
            shown.until(lambda text, wide=wide: wide.search(text))
            assert shown.history.count("── default") == 1, shown.history
        told = shown.history[: shown.history.index("── default")]
        assert [told.count(f"line {number}\n") for number in range(50)] == [1] * 50
        assert told.count("the last word") == 12


def test_wide_characters_are_one_line_each(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    say(terminal, coder, "日本語テキスト 👩‍👩‍👧 e\u0301 " * 10)
    with watching(terminal, (60, 20)) as shown:
        shown.enter("日本語 typed")
        shown.until("human  日本語 typed")
        shown.type("日本")
        shown.until("> 日本")
        assert shown.is_said("cursor_x") == "6"
        shown.keys("Left")
        shown.keys("BSpace")
        shown.until(lambda text: text.rstrip().endswith("> 本"))
        assert shown.text.count("· coder") == 1
        assert shown.history.count("── default") == 1


@pytest.mark.parametrize("end", CODES)
def test_the_terminal_is_left_as_it_was_found(terminal: Terminal, end: str) -> None:
    terminal.join("coder", instance="x")
    with screen.opened(terminal.folder, terminal.env(), 80, 24) as shown:
        found = shown.ask("stty -g")
        shown.enter(f"clear; {WATCH} @x; echo ended $?")
        shown.until(PROMPT)
        if end == "TERM":
            (program,) = psutil.Process(int(shown.is_said("pane_pid"))).children()
            program.terminate()
        elif end == "gone":
            terminal.ok("rm", "@x", "--yes")
        else:
            shown.keys(end)
        text = shown.until("ended ")
        assert f"ended {CODES[end]}" in text
        assert "── " not in text
        assert "INSTANCE_NOT_FOUND" in text or end != "gone"
        assert shown.ask("stty -g") == found
        assert (shown.is_said("cursor_flag"), shown.is_said("wrap_flag")) == ("1", "1")


def test_it_can_be_suspended(terminal: Terminal) -> None:
    terminal.join("coder")
    with screen.opened(terminal.folder, terminal.env(), 80, 24) as shown:
        found = shown.ask("stty -g")
        shown.enter(f"clear; {WATCH}")
        shown.until(PROMPT)
        shown.keys("C-z")
        shown.until(lambda text: "Stopped" in text and "── " not in text)
        assert shown.ask("stty -g") == found
        shown.enter("fg")
        shown.until("── default")
        shown.enter("here again")
        shown.until("human  here again")
        shown.keys("C-c")
        shown.until(lambda text: "── " not in text)
        assert shown.ask("stty -g") == found


def test_a_line_never_answers_what_took_the_place_of_what_was_read(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    first = ask(terminal, coder, permission("First", "echo harmless"))
    second = ask(terminal, coder, permission("Second", "rm -rf /"))
    with watching(terminal) as shown:
        shown.until("wants to do this: First")
        shown.type("ye")
        shown.until("> ye")
        terminal.ok("deny", first.id)
        shown.until("nobody waits for it any more")
        shown.enter("s")
        shown.until("REQUEST_CLOSED")
        shown.until("● coder wants to do this: Second")
    assert (state(terminal, first), state(terminal, second)) == ("denied", "open")


def test_tab_turns_to_the_next(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    first = ask(terminal, coder, permission("First"))
    second = ask(terminal, coder, permission("Second"))
    with watching(terminal) as shown:
        text = shown.until("● coder wants to do this: First")
        assert "Tab: the next of 2" in text
        assert "○ coder wants to do this: Second" in text
        shown.keys("Tab")
        shown.until("● coder wants to do this: Second")
        shown.enter("yes")
        shown.until("APPROVED")
        shown.until("● coder wants to do this: First")
    assert (state(terminal, first), state(terminal, second)) == ("open", "approved")


def test_what_is_pasted_is_one_message(terminal: Terminal) -> None:
    terminal.join("coder")
    with watching(terminal) as shown:
        shown.tmux("set-buffer", "@coder first\nsecond\nthird")
        shown.tmux("paste-buffer", "-p")
        shown.until("> @coder first⏎second⏎third")
        shown.keys("Enter")
        shown.until("sent to coder")
    (message,) = terminal.ok("log", "--json").json
    assert message["message"] == "@coder first\nsecond\nthird"


def test_a_very_long_message_is_cut_and_what_is_asked_is_not(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    say(terminal, coder, "\n".join(f"word {number}" for number in range(500)))
    ask(terminal, coder, permission(body="\n".join(f"do {number}" for number in range(200))))
    with watching(terminal) as shown:
        shown.until("wants to do this")
        history = shown.history
        assert "word 59\n" in history
        assert "word 60\n" not in history
        assert "… 440 more lines; all of it: moot log" in history
        assert "do 199\n" in history[: history.index("── default")]


def test_what_was_asked_long_ago_is_told_first(terminal: Terminal) -> None:
    coder = terminal.join("coder")
    ask(terminal, coder, permission(body="make release"))
    for number in range(5):
        say(terminal, coder, f"later {number}")
    with watching(terminal, words="-n 2") as shown:
        history = shown.until("wants to do this")
        assert "Run a command\n\n         make release" in history
        assert history.index("make release") < history.index("later 3")
        assert "later 2" not in history


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": "xterm", "PYTHONIOENCODING": "latin-1"}], ids=str)
def test_other_terminals_get_lines(terminal: Terminal, env: dict[str, str]) -> None:
    terminal.run("run", str(EXAMPLES / "person.yaml"))
    with terminal.typing("watch", env=env) as session:
        session.until("Shall I release 1.2?")
        session.type("later")
        session.until("sent to release")
        session.interrupt()
    assert "\x1b" not in session.shown
    assert "── " not in session.shown


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}], ids=["colours", "no colours"])
def test_colours_are_for_who_wants_them(terminal: Terminal, env: dict[str, str]) -> None:
    ask(terminal, terminal.join("coder"), permission())
    with watching(terminal, env=env) as shown:
        shown.until("wants to do this")
        assert [("\x1b[" in line) for line in shown.colours.splitlines() if "● " in line] == [not env]
