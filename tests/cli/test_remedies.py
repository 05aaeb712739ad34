"""What the commands advise can be typed as it stands: the right instance, a budget that suffices, nothing in vain."""

import json
from dataclasses import replace

import pytest

from tests.cli.terminal import SECONDS, Terminal, interrupt, read_line

ROUND = """
name: round
context: {document_owner: none}
budget: {attempts: 2}
agents:
  ann: {backend: scripted, script: [{on: start, say: "@bob go"}, {on: back, say: "@bob go"}]}
  bob: {backend: scripted, script: [{on: go, say: "@ann back"}]}
kickoff: "@ann start"
"""
ASKS = """
name: asks
context: {document_owner: none}
agents: {ann: {backend: scripted, script: [{on: start, say: "@human shall I?"}, {on: "yes", say: done}]}}
kickoff: "@ann start"
"""
FAILS = """
name: fails
agents: {ann: {backend: scripted, retry: {attempts: 1}, script: [{fail: not today}]}}
kickoff: "@ann hello"
"""


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    for name, text in (("round", ROUND), ("asks", ASKS), ("fails", FAILS)):
        (terminal.folder / f"{name}.yaml").write_text(text)
    return terminal


def test_after_a_limit_the_larger_budget_is_named(terminal: Terminal) -> None:
    ended = terminal.run("run", "round.yaml", "--instance", "n")
    assert ended.code == 3
    assert ended.err.endswith("go on with: moot resume --budget attempts=4 @n\n")
    assert "stopped at a limit after" in ended.out
    assert "all of 2 attempts and the last one" in ended.out
    told = terminal.ok("status", "n").out
    assert "the run reached a limit (budget: 2 attempts); go on with: moot resume --budget attempts=4 @n" in told
    again = "run it again with: moot resume --budget attempts=4 @n"
    assert f"bob is stopped and has not read 1 message; {again}" in told
    assert "moot serve" not in told
    sent = terminal.ok("send", "@bob hello", "--instance", "n")
    assert sent.err == f"warning: bob is stopped and reads it later; {again}\n"


def test_a_run_that_waits_says_how_to_answer_before_how_to_go_on(terminal: Terminal) -> None:
    ended = terminal.run("run", "asks.yaml", "--instance", "n")
    assert ended.code == 4
    assert "waiting after" in ended.out
    reason, answer, resume = ended.err.splitlines()
    assert (reason, resume) == ("waits for human", "go on with: moot resume @n")
    inbox = "moot inbox --instance n"
    assert answer == f"answer with: {inbox} --answer, or: {inbox} --reply TEXT"
    assert f"human has 1 unread message; see {inbox}\n" in terminal.ok("status", "--instance", "n").out
    terminal.ok("inbox", "--instance", "n", "--reply", "yes")
    assert terminal.ok("resume", "--instance", "@n").err == ""


def test_given_up_mail_names_its_instance(terminal: Terminal) -> None:
    ended = terminal.run("run", "fails.yaml", "--instance", "n")
    assert "moot retry @n, then moot resume @n" in ended.err
    told = terminal.ok("status", "n").out
    assert "1 message for ann was given up; try again with: moot retry @n\n" in told
    assert "the run failed: " in told
    assert terminal.ok("retry", "ann", "--instance", "n").out == "ann: 1 message to be tried again\n"


def test_in_the_default_instance_none_is_named(terminal: Terminal) -> None:
    terminal.run("run", "round.yaml")
    assert "go on with: moot resume --budget attempts=4\n" in terminal.ok("status").out


def test_two_instances_at_once_are_refused(terminal: Terminal) -> None:
    terminal.join("ann")
    for words in (["stop", "ann@one"], ["status", "one"], ["watch", "@one"], ["pause", "one"], ["retry", "@one"]):
        ended = terminal.run(*words, "--instance", "two")
        assert (ended.code, "INVALID_INPUT" in ended.err) == (2, True), ended


def test_a_new_agent_is_told_from_one_that_was_there(terminal: Terminal) -> None:
    words = ("new", "bob", "--backend", "human", "--instance", "n")
    assert terminal.ok(*words).out == 'bob is there; say something with: moot send --to bob@n "hello"\n'
    assert terminal.ok(*words).out.startswith("bob was there already and is changed; ")
    assert "Say what runs it, as in --model sonnet." in terminal.run("new", "bob").err
    refused = terminal.run("new", "bob", "--model", "x/y")
    assert refused.err.startswith("error: WORKFLOW_INVALID: `agents.bob.model`: there is no provider `x`.")


def test_without_a_target_the_only_agent_is_stopped(terminal: Terminal) -> None:
    assert terminal.ok("stop").out == "nothing is running\n"
    terminal.join("ann", source="agents.yaml")
    assert terminal.ok("stop").out == "ann@default stopped\n"
    assert terminal.ok("stop").out == "nothing is running\n"


def test_an_answer_to_nothing_and_an_editor_that_fails_are_told(terminal: Terminal) -> None:
    assert terminal.run("inbox", "--reply", "yes").err == "error: NOTHING_WAITS: Nothing waits for you.\n"
    ended = terminal.run("doc", "edit", "notes.md", env={"EDITOR": "false", "VISUAL": "false"})
    assert (ended.code, "EDITOR_FAILED" in ended.err) == (1, True), ended


def test_a_failure_is_json_for_who_asks_for_json(terminal: Terminal) -> None:
    ended = terminal.run("send", "hello", "--to", "nobody", "--json")
    assert (ended.code, ended.out) == (1, "")
    assert json.loads(ended.err)["error"]["code"] == "AGENT_NOT_FOUND"
    told = json.loads(terminal.run("export", "--json", "--jsonl", "-").err)["error"]
    assert told == {"code": "USAGE", "message": "--json and --jsonl - both want stdout.", "remedy": told["remedy"]}


def test_following_ends_with_its_reader(terminal: Terminal) -> None:
    terminal.ok("send", "hello @nobody")
    for words in (["log", "-f"], ["watch"]):
        with terminal.start(*words) as following:
            assert "hello @nobody" in read_line(following)
            assert following.stdout is not None
            following.stdout.close()
            assert following.wait(SECONDS) == 0


def test_watching_waits_for_a_store_and_for_an_instance(terminal: Terminal) -> None:
    watching = terminal.start("watch", "n")
    assert watching.stderr is not None
    assert watching.stderr.readline().startswith(b"There is no store ")
    terminal.ok("send", "hello @nobody")
    assert watching.stderr.readline().startswith(b"There is no instance 'n' yet.")
    terminal.ok("send", "hello @you", "--instance", "n")
    assert "hello @you" in read_line(watching)
    assert interrupt(watching).code == 130


def test_a_program_may_watch_too(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.ok("send", "hello @coder")
    watching = terminal.start("watch", "--json")
    first = json.loads(read_line(watching))
    assert (first["type"], first["message"]) == ("message", "hello @coder")
    terminal.ok("stop", "coder")
    news = json.loads(read_line(watching))
    assert (news["type"], news["text"]) == ("news", "coder is stopped")
    assert interrupt(watching).code == 130


def test_the_end_of_what_is_typed_ends_watching(terminal: Terminal) -> None:
    terminal.join("ann")
    terminal.ok("send", "hello @ann")
    with terminal.typing("watch") as session:
        session.until("hello @ann")
        session.type("@ann more")
        session.until("no host is running")
        session.type("\x04")
        session.read_to_end()
        assert session.code == 0


def test_an_interrupted_demo_cannot_be_resumed(terminal: Terminal) -> None:
    process = terminal.start("demo")
    while "lead" not in (line := read_line(process)):
        assert line or process.poll() is None
    ended = interrupt(process)
    assert ended.code == 130
    assert "moot resume" not in ended.err


WRONG = "steps: [{id: gate, type: conditional, condition: '{{ a.b }}', then: [{type: exit}]}]"
BEGINS = "default_state: {raw: {n: '{{ a.b }}'}}\nsteps: [{type: exit}]"
EXITS = "steps: [{type: exit, status: failed, reason: too long}]"
ENDS = "steps: [{type: exit}]\nresult: '{{ a.b }}'"
ASKS_NOBODY = "steps: [{type: agent_prompt, prompt: Why?}]"
COMMAND = "steps: [{id: it, type: shell_command, command: exit 3}]"
FOLLOWS = "\nerror_handling: {on_failure: [{type: user_message, message: sorry}]}"
FROM_START = "\non_resume: {skip_completed_steps: false}"
BEHIND = "\non_resume: {retry_failed_steps: false}"


@pytest.mark.parametrize("text", [WRONG, WRONG + FOLLOWS, BEGINS, EXITS, ENDS, ASKS_NOBODY])
def test_a_run_whose_file_is_at_fault_is_to_be_started_anew(terminal: Terminal, text: str) -> None:
    (terminal.folder / "in").mkdir()
    (terminal.folder / "in/my flow.yaml").write_text(text)
    ended = terminal.run("run", "in/my flow.yaml", "--instance", "n")
    assert ended.code == 1
    help = "once that is mended, start anew: moot run 'in/my flow.yaml' --instance n\n"
    assert ended.err.endswith(help)
    assert "resume" not in ended.err
    assert terminal.ok("status", "n").out.endswith(f"; {help}")


def test_what_a_run_says_of_starting_anew_can_be_said_in_every_folder_of_the_project(terminal: Terminal) -> None:
    inside = terminal.folder / "in/side"
    inside.mkdir(parents=True)
    (terminal.folder / ".workflow").mkdir()
    (terminal.folder / "in/flow.yaml").write_text(EXITS)
    (terminal.folder / "flow.yaml").write_text(EXITS)
    there = replace(terminal, folder=inside)
    ended = there.run("run", "../flow.yaml")
    assert ended.err.endswith("start anew: moot run in/flow.yaml\n")
    again = there.run("run", "in/flow.yaml")
    assert (again.code, again.err.splitlines()[-1]) == (1, ended.err.splitlines()[-1])
    assert there.run("run", "flow.yaml").err.endswith("start anew: moot run flow.yaml\n")
    (inside / "flow.yaml").write_text(EXITS)
    assert there.run("run", "flow.yaml").err.endswith("start anew: moot run in/side/flow.yaml\n")
    assert "There is no file no/flow.yaml" in there.run("run", "no/flow.yaml").err


@pytest.mark.parametrize("file", ["a:b.yaml", "a/b.yml"])
def test_a_workflow_that_has_a_name_is_started_anew_by_it(terminal: Terminal, file: str) -> None:
    path = terminal.folder / ".moot/workflows" / file
    path.parent.mkdir(parents=True)
    path.write_text(EXITS)
    assert terminal.run("run", "a:b").err.endswith("\nonce that is mended, start anew: moot run a:b\n")


@pytest.mark.parametrize("text", [COMMAND, COMMAND + FOLLOWS, WRONG + FROM_START, WRONG + BEHIND])
def test_a_run_whose_steps_may_come_to_something_else_is_to_be_resumed(terminal: Terminal, text: str) -> None:
    (terminal.folder / "flow.yaml").write_text(text)
    ended = terminal.run("run", "flow.yaml")
    assert ended.code == 1
    assert ended.err.endswith("\ngo on with: moot resume\n")
    assert terminal.ok("status").out.endswith("; go on with: moot resume\n")


def test_a_question_of_a_step_is_answered_as_status_says(terminal: Terminal) -> None:
    (terminal.folder / "flow.yaml").write_text(
        "steps: [{type: user_input, prompt: Which way?, state_update: {path: raw.way}}]\nresult: '{{ way }}'"
    )
    assert terminal.run("run", "flow.yaml").code == 4
    (line,) = [one for one in terminal.ok("status").out.splitlines() if "Which way?; answer with: " in one]
    command = line.partition("answer with: moot ")[2].partition(", or: ")[0].replace("ANSWER", "east").split()
    terminal.ok(*command)
    assert terminal.ok("resume").out.endswith("\neast\n")
