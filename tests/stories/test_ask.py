"""`moot ask`: every example of agents that work together answers offline, and what it cost adds up."""

import re
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from tests.cli.terminal import Terminal

EXAMPLES = Path(__file__).parents[2] / "examples" / "agents"
ANSWERS = {
    "handoff/draft": ("Approved: The parser drops the last line.", 0.004),
    "router/desk": ("We have refunded the second payment of May.", 0.002),
    "advisors/release": ("Release it on Tuesday: the risk is low, and the licences are fine.", 0.005),
    "team/panel": ("Not yet: hash the token before it is logged, then use one query for all rows.", 0.005),
    "clarify/editor": ("The first release was on 3 May 2019 (UTC).", 0.004),
    "nested/intake": ("Buffer a thousand rows; flush once a second and when the file is closed.", 0.009),
}
ASKED_IN_A_COPY = {"files", "server"}  # by the stories of tools
FAILING = """---
answers:
  - fail: refused
---
"""
STRICT = """---
answers: [{say: Found.}]
input: {format: json, schema: {type: object, required: [id]}}
---
"""
ASKING = """---
tools: [shell]
answers:
  - calls: [{shell: {command: touch made}}]
  - say: That is all.
---
"""


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    return Terminal(tmp_path, bytecode)


def test_every_folder_of_examples_is_asked() -> None:
    asked = {name.split("/")[0] for name in ANSWERS} | ASKED_IN_A_COPY
    assert {file.parent.name for file in EXAMPLES.glob("*/*.md")} == asked


def test_every_example_answers_and_its_costs_add_up(terminal: Terminal) -> None:
    for name, (answer, dollars) in ANSWERS.items():
        told = terminal.ok("ask", str(EXAMPLES / f"{name}.md"), "What is wrong?", "--json").json
        assert (told["answer"], told["cost"]) == (answer, pytest.approx(dollars))
    spent = terminal.ok("cost", "--json").json
    assert spent["total"]["cost"] == pytest.approx(sum(dollars for _, dollars in ANSWERS.values()))


def test_only_the_answer_is_printed(terminal: Terminal) -> None:
    ended = terminal.ok("ask", str(EXAMPLES / "handoff/draft.md"), "-", stdin=b"What is @wrong?")
    assert (ended.out, ended.err) == (f"{ANSWERS['handoff/draft'][0]}\n", "")
    (instance,) = [one["instance"] for one in terminal.ok("list", "--all", "--json").json if one["name"] == "draft"]
    (question,) = [one for one in terminal.ok("log", "--instance", instance, "--json").json if one["from"] == "system"]
    assert (question["message"], question["mentions"]) == ("What is @wrong?", ["draft"])


def test_each_question_has_a_log_of_its_own_and_no_files(terminal: Terminal) -> None:
    for question in ("One?", "Two?"):
        terminal.ok("ask", str(EXAMPLES / "handoff/draft.md"), question)
    instances = {one["instance"] for one in terminal.ok("list", "--all", "--json").json}
    logs = [terminal.ok("log", "--instance", one).out for one in instances]
    assert sorted("One?" in one for one in logs) == [False, True]
    assert not [one for one in instances if (terminal.folder / ".workflow" / one).exists()]


def test_what_they_do_on_their_way_is_told_to_who_asks(terminal: Terminal) -> None:
    ended = terminal.ok("ask", "-v", str(EXAMPLES / "clarify/editor.md"), "When?")
    assert "editor -> ask_clarification" in ended.err
    assert "editor -> researcher/final_report" in ended.err


def test_who_leads_a_team_is_named_in_what_was_done_and_what_it_cost(terminal: Terminal) -> None:
    terminal.ok("ask", str(EXAMPLES / "nested/intake.md"), "Faster?")
    told = terminal.ok("trace").out
    assert "└ handoff panel  answered by lead" in told
    assert re.search(r"├ intake  answered by lead .* \$0\.009\n", told)  # all that led to its answer
    sessions = {one["name"]: one["terminal"] for one in terminal.ok("trace", "--json").json if one["kind"] == "session"}
    assert sessions == {
        "intake": "lead",
        "panel": "lead",
        "lead": "lead",
        "desk": "expert",
        "expert": "expert",
        "builder": "builder",
        "tester": "critic",
        "critic": "critic",
    }
    (line,) = terminal.ok("cost", "--json").json["lines"]
    calls = {part["name"]: part["calls"] for part in line["parts"]}
    assert calls == dict.fromkeys(("intake", "lead", "builder", "critic", "desk", "expert", "tester"), 1) | {"panel": 0}


def test_a_failure_says_why_and_how_to_go_on(terminal: Terminal) -> None:
    (terminal.folder / "bad.md").write_text(FAILING)
    ended = terminal.run("ask", "bad.md", "Why?")
    assert (ended.code, ended.out) == (1, "")
    said, again = ended.err.splitlines()
    assert said == "bad failed: The script fails here (refused)."
    (instance,) = [one["instance"] for one in terminal.ok("list", "--json").json if one["name"] == "bad"]
    assert again == f"try again with: moot retry @{instance}, then moot resume @{instance}"


def test_who_is_asked_works_in_the_current_folder_and_sees_no_store_above_it(terminal: Terminal) -> None:
    (terminal.folder / ".moot").mkdir()
    copy = terminal.folder / "copy"
    copytree(EXAMPLES / "files", copy)
    inside = replace(terminal, folder=copy)
    home = {"HOME": str(terminal.folder / "home")}
    inside.ok("ask", "fixer.md", "Mend it.", env=home)
    assert "v1.2 keeps" in (copy / "changes.txt").read_text()
    (copy / "spy.md").write_text(ASKING.replace("touch made", "cat ../.workflow/moot.db > made; ls ../home > seen"))
    inside.ok("ask", "spy.md", "Look.", "--permissions", "full", env=home)
    assert (copy / "made").read_bytes() == b""
    assert (copy / "seen").exists()
    assert not (copy / ".workflow").exists()


@pytest.mark.parametrize("command", [("check", "clerk.md"), ("ask", "clerk.md", "Hello?")])
def test_tools_that_only_workflows_have_are_warned_of(terminal: Terminal, command: tuple[str, ...]) -> None:
    (terminal.folder / "clerk.md").write_text("---\ntools: [documents, files]\nanswers: [{say: Hello.}]\n---\n")
    warning = "warning: clerk: documents will not be there in moot ask, only in a workflow.\n"
    assert terminal.ok(*command).err == warning


def test_what_helps_where_no_model_can_be_asked_can_be_done(terminal: Terminal) -> None:
    (terminal.folder / "keyless.md").write_text("---\nmodel: openai/gpt-5\n---\n")
    bare = {"OPENAI_API_KEY": "", "PATH": "/usr/bin:/bin"}
    told = terminal.run("ask", "keyless.md", "Hello?", env=bare).err
    assert told.endswith("  Name another model in its file.\n")
    assert "--backend" not in told


def test_what_was_answered_is_listed_on_demand_and_each_question_has_its_cost(terminal: Terminal) -> None:
    (terminal.folder / "bad.md").write_text(FAILING)
    failed = terminal.run("ask", "bad.md", "Why?", "--json").json["instance"]
    first = terminal.ok("ask", str(EXAMPLES / "router/desk.md"), "One?", "--json").json
    last = terminal.ok("ask", str(EXAMPLES / "handoff/draft.md"), "Two?", "--json").json
    every = {failed, first["instance"], last["instance"]}
    for command in ("list", "status"):
        assert {one["instance"] for one in terminal.ok(command, "--json").json} == {failed}
        assert {one["instance"] for one in terminal.ok(command, "--all", "--json").json} == every
    for words, cost in [(["--last"], 0.004), ([f"@{first['instance']}"], 0.002), ([first["workflow_id"]], 0.002)]:
        assert terminal.ok("cost", *words, "--json").json["total"]["cost"] == pytest.approx(cost)


def test_a_question_goes_on_without_its_instance_being_named(terminal: Terminal) -> None:
    agent = terminal.folder / "bad.md"
    agent.write_text(FAILING)
    asked = terminal.run("ask", "bad.md", "Why?", "--json").json["instance"]
    assert f"bad@{asked}" in terminal.ok("trace", "bad").out
    unknown = terminal.run("trace", "clerk").err
    assert unknown == "error: AGENT_NOT_FOUND: There is no agent named 'clerk'.\n  There are: bad.\n"
    assert terminal.ok("retry").out == f"bad@{asked}: 1 message to be tried again\n"
    ended = terminal.run("resume")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[0] == f"goes on with @{asked}"
    assert "bad failed: The script fails here (refused)." in ended.err


def test_who_was_killed_goes_on_by_resume_and_gives_the_answer_alone(terminal: Terminal) -> None:
    (terminal.folder / "careful.md").write_text(ASKING)
    with terminal.typing("ask", "careful.md", "Do it.") as session:
        session.until("type yes or no")
        session.kill()
    with terminal.typing("resume") as session:
        session.until("type yes or no")
        session.type("yes")
    assert session.code == 0
    assert session.shown.endswith("\nThat is all.\n")
    assert "done in" not in session.shown


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_who_asks_on_a_terminal_is_asked_for_leave_and_answers_there(terminal: Terminal, answer: str) -> None:
    (terminal.folder / "careful.md").write_text(ASKING)
    with terminal.typing("ask", "careful.md", "Do it.") as session:
        session.until("type yes or no")
        session.type(answer)
    assert session.code == 0
    assert "careful: " in session.shown
    assert session.shown.endswith("\nThat is all.\n")
    assert (terminal.folder / "made").exists() == (answer == "yes")


@pytest.mark.parametrize(
    ("kind", "head", "code"),
    [
        ("refused", "answers: [{fail: refused}]", 1),
        ("limit", "max_turns: 1\ntools: [files]\nanswers: [{calls: [{file_list: {}}]}, {say: x}]", 3),
        ("reported", "agents: [help]\nanswers: [{calls: [{final_report: {report: I cannot., status: failure}}]}]", 1),
    ],
)
def test_programs_are_told_what_kind_of_failure_it_was_and_in_which_words(
    terminal: Terminal, kind: str, head: str, code: int
) -> None:
    (terminal.folder / "help.md").write_text("---\nanswers: [{say: x}]\n---\n")
    (terminal.folder / "bad.md").write_text(f"---\n{head}\n---\n")
    ended = terminal.run("ask", "bad.md", "Why?", "--json")
    assert (ended.code, ended.json["exit_code"], ended.json["failure"]) == (code, code, kind)
    words = {"refused": "The script fails here (refused).", "limit": "limit of 1 turn", "reported": "I cannot."}
    assert words[kind] in ended.json["reason"]


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("no.md", "hi"), "no agent file 'no.md'"),
        (("bad.md", " "), "no question"),
        (("strict.md", "hi"), "The question is not what strict takes: it is no JSON"),
        (("strict.md", "{}"), "The question is not what strict takes: 'id' is a required property"),
    ],
)
def test_wrong_words_are_said_to_be(terminal: Terminal, words: tuple[str, ...], fact: str) -> None:
    (terminal.folder / "bad.md").write_text(FAILING)
    (terminal.folder / "strict.md").write_text(STRICT)
    ended = terminal.run("ask", *words)
    assert ended.code == 2
    assert fact in ended.err


def test_who_takes_json_is_asked_with_it(terminal: Terminal) -> None:
    (terminal.folder / "strict.md").write_text(STRICT)
    assert terminal.ok("ask", "strict.md", '{"id": 7}').out == "Found.\n"
