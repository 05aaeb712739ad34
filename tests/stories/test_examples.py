"""Every example runs offline as its first line says, and comes to the end that it tells of."""

from pathlib import Path

import pytest

from tests.cli.terminal import Ended, Terminal
from tests.workspaces import repos

EXAMPLES = Path(__file__).parents[2] / "examples"
STORIES: dict[str, tuple[int, list[str], str]] = {
    "review": (0, ["reviewer: One finding, see the notes. The rest is fine."], "1. `total` starts at 1"),
    "team": (
        0,
        [
            "coordinator: @reviewer look at the parser and tell `@coder` what to fix.",
            "reviewer: @coder it drops the last line of a file without a newline.",
            "coder: @reviewer fixed, with a test.",
            "reviewer: @coordinator checked, the fix is good.",
            "coordinator: Done. Thank you both.",
        ],
        "- The parser keeps the last line.",
    ),
    "scribe": (0, ["scribe: Noted."], "- Retries need a limit.\n"),
    "election": (0, ["ann: @ben write down that we began.", "ben: It is in the notes."], "We began.\n"),
    "vote": (
        0,
        [
            "architect: I have put it to the vote.",
            'architect: [VOTE:prop-001] I vote for "Server sessions" (easy to end)',
        ],
        "",
    ),
    "command": (
        0,
        [
            "counter: @checker I have counted. It is in the notes.",
            "checker: I have read: The prompt has more than five lines.",
        ],
        "The prompt has more than five lines.\n",
    ),
    "budget": (3, [*["ann: @ben your turn.", "ben: @ann your turn."] * 3, "ann: @ben your turn."], ""),
    "model": (
        0,
        ["writer: @reader I have noted a finding.", "reader: I have read it, and agree."],
        "- The cache is never emptied.\n",
    ),
    "plan": (
        0,
        [
            "ann: There is one more line in poem.txt.",
            "ann: There is one more line in poem.txt.",
            "ben: It has 2 lines.",
        ],
        "",
    ),
    "shared_plan": (0, [], ""),
    "worktrees": (0, [], ""),
    "person": (4, ["release: @human everything is ready. Shall I release 1.2?"], ""),
}
# What else is said, in any order: by those who work at the same time.
BESIDES = {
    "shared_plan": ["ann: hello.py says hello.", "ben: bye.py says bye."],
    "worktrees": ["ann: moot/default/ann", "ben: moot/default/ben"],
    "scribe": [
        "ann: @scribe [DOC_SUGGEST]",
        "ben: @scribe [DOC_SUGGEST]",
        "ann: I have suggested a line.",
        "ben: So have I.",
    ],
    "election": [
        'ann: [VOTE:doc-owner-001] I vote for "@ben" (writes well)',
        'ben: [VOTE:doc-owner-001] I vote for "@ben"',
        'eve: [VOTE:doc-owner-001] I vote for "@ann"',
    ],
    "vote": [
        'coder: [VOTE:prop-001] I vote for "Server sessions"',
        'tester: [VOTE:prop-001] I vote for "Signed tokens" (easy to fake)',
    ],
}


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    return Terminal(tmp_path, bytecode)


def run(terminal: Terminal, name: str) -> Ended:
    return terminal.run("run", str(EXAMPLES / f"{name}.yaml"))


def said(terminal: Terminal) -> list[str]:
    """The first line of everything that agents and the person said."""
    entries = terminal.ok("log", "--json").json
    return [f"{one['from']}: {one['message'].splitlines()[0]}" for one in entries if one["from"] != "system"]


def test_every_example_has_its_story() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.yaml")} == set(STORIES)


@pytest.mark.parametrize("name", STORIES)
def test_an_example_ends_as_it_says(terminal: Terminal, name: str) -> None:
    code, lines, written = STORIES[name]
    if name in ("shared_plan", "worktrees"):
        repos.make(terminal.folder)
    ended = run(terminal, name)
    assert ended.code == code, ended
    found = said(terminal)
    if name == "scribe":  # who may read both suggestions at once, or one by one
        found = list(dict.fromkeys(found))
    besides = BESIDES.get(name, [])
    assert [line for line in found if line not in besides] == lines
    assert sorted(line for line in found if line in besides) == sorted(besides)
    documents = "".join(path.read_text() for path in (terminal.folder / ".workflow/default").glob("[mn]*.md"))
    assert written in documents


def test_an_election_gives_the_documents_to_whom_it_elects(terminal: Terminal) -> None:
    run(terminal, "election")
    (vote,) = terminal.ok("vote", "--all", "--json").json
    assert (vote["status"], vote["result"]["winner"], vote["result"]["counts"]) == (
        "resolved",
        "ben",
        {"ann": 1, "ben": 2, "eve": 0},
    )


def test_a_budget_says_how_to_go_on(terminal: Terminal) -> None:
    ended = run(terminal, "budget")
    assert "budget: 6 attempts" in ended.err
    assert "moot resume --budget attempts=12" in ended.err
    assert "$0.07" in ended.out


def test_a_person_answers_and_the_run_is_gone_on_with(terminal: Terminal) -> None:
    ended = run(terminal, "person")
    assert "waits for human" in ended.err
    terminal.ok("send", "--to", "release", "yes")
    terminal.ok("inbox", "--ack")
    terminal.ok("resume")
    assert said(terminal)[-2:] == ["human: yes", "release: Released 1.2."]


def test_what_was_done_in_worktrees_is_merged(terminal: Terminal) -> None:
    repo = repos.make(terminal.folder)
    run(terminal, "worktrees")
    for name in ("ann", "ben"):
        assert f"+{name.title()} was here." in terminal.ok("workspace", "diff", f"moot/default/{name}").out
        terminal.ok("workspace", "merge", f"moot/default/{name}", "--clean")
        assert repo.read(f"{name}.txt") == f"{name.title()} was here.\n"
    assert (repo.branches(), repo.worktrees()) == (["main"], [repo.top])


def test_a_plan_that_is_shared_in_worktrees_is_done_checked_and_merged(terminal: Terminal) -> None:
    repo = repos.make(terminal.folder)
    ended = run(terminal, "shared_plan")
    assert " · 2 of 2 tasks · " in ended.out
    assert "does not count as done" not in ended.out  # the checks look where the work was done
    for name in ("hello", "bye"):
        terminal.ok("workspace", "merge", f"moot/default/{name}", "--clean")
    assert (repo.read("hello.py"), repo.read("bye.py")) == ('print("hello")\n', 'print("bye")\n')
    assert (repo.branches(), repo.worktrees()) == (["main"], [repo.top])


def test_what_does_not_hold_goes_back_until_it_does(terminal: Terminal) -> None:
    assert run(terminal, "plan").out.splitlines()[-1] == "The plan is done."
    told = [one["message"] for one in terminal.ok("log", "--json").json if one["from"] == "system"]
    assert sum("The task 'write' does not count as done" in one for one in told) == 1
    found = terminal.ok("task", "ls", "--plan", "plan", "--json").json
    assert [(one["name"], one["status"]) for one in found] == [("write", "completed"), ("count", "completed")]
