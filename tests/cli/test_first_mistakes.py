"""What somebody types who has just installed moot: each mistake is answered with a fact and a way on."""

import pytest

from tests.cli.terminal import Terminal

# Words, exit code, what is said.
MISTAKES = [
    ("runn x", 2, "Did you mean 'run'?"),
    ("run", 2, "Missing argument 'WORKFLOW'"),
    ("run review", 2, "moot init writes a first one"),
    ("run nofile.yaml", 2, "There is no file nofile.yaml"),
    ("run fin.yaml", 2, "Did you mean `fine.yaml`?"),
    ("run fine", 2, "Did you mean the file `fine.yaml`?"),
    ("check fnie.yaml", 2, "Did you mean `fine.yaml`?"),
    ("start nested/fine.yaml", 2, "Check the path."),
    ("run .", 2, ". is a folder"),
    ("run ./home", 2, "./home is a folder"),
    ("run list.yaml", 2, "`agents` must be keys and values, not a list"),
    ("run alone.yaml", 2, "`agents` is missing in this file"),
    ("run typo.yaml", 2, "Did you mean `model`?"),
    ("run tabs.yaml", 2, "Indent with spaces, not with tabs."),
    ("run program.py", 2, "this file must be keys and values, not text"),
    ("run fine.yaml --budget 5", 2, "Write cost=5, for example."),
    ("run fine.yaml --budget $5", 2, "Write cost=5, for example."),
    ("run fine.yaml --backend gpt", 2, "'gpt' is not one of"),
    ("run fine.yaml --input x", 2, "Write name=value, or name=@file."),
    ("run fine.yaml --input x=1", 2, "There is no input `x`"),
    ("send", 2, "Missing argument 'MESSAGE'"),
    ("send hello", 1, "It is not clear who should hear this"),
    ("send hi", 1, "start some with moot run FILE"),
    ("ui --port abc", 2, "'abc' is not a whole number."),
    ("ui --instance ../x", 2, "'../x' cannot be an instance's name."),
    ("inbox bob", 0, "nothing waits for bob"),
    ("status @nope", 0, "begin with: moot run FILE"),
    ("resume", 1, "Begin with moot run FILE"),
    ("approve", 1, "Begin with moot run FILE"),
    ("doc show x.md", 1, "Begin with moot run FILE"),
    ("ask x.md hi", 2, "There is no agent file 'x.md'"),
    ("ask writr.md hi", 2, "Did you mean `writer.md`?"),
    ("ask edtior hi", 2, "Did you mean `editor`?"),
    ("plan apply x", 2, "Write the path of a file, or the name of a plan there."),
    ("plan apply relese", 2, "Did you mean `release`?"),
    ("plan apply fnie", 2, "Did you mean `fine.yaml`?"),
    ("plan apply fin.yaml", 2, "Did you mean `fine.yaml`?"),
    ("check", 2, "Write moot check FILE."),
    ("trace", 0, "begin with: moot run FILE"),
    ("plan", 2, "Usage: moot plan"),
    ("task", 2, "Usage: moot task"),
    ("plan show", 1, "Begin with moot run FILE"),
    ("flow state", 1, "Begin with moot run FILE"),
    ("--store foo list", 2, "Use sqlite:///path/moot.db"),
    ("init", 2, "Say --yes to go ahead."),
    ("init --for vscode", 2, "'vscode' is not one of"),
    ("examples run reviw", 2, "Did you mean `review`?"),
    ("completion powershell", 2, "is not one of 'bash'"),
    ("help", 0, "Where coding agents work together."),
    ("help run", 0, "Usage: moot run"),
    ("list", 0, "begin with: moot run FILE"),
    ("cost", 0, "begin with: moot run FILE"),
]


@pytest.fixture
def beginner(terminal: Terminal) -> Terminal:
    files = {
        "list.yaml": "agents: [a, b]\n",
        "alone.yaml": "kickoff: hi\n",
        "typo.yaml": 'agents:\n  a: {modle: sonnet}\nkickoff: "@a hi"\n',
        "tabs.yaml": "agents:\n\ta: {}\n",
        "program.py": "print(1)\n",
        "fine.yaml": 'agents: {a: {backend: scripted}}\nkickoff: "@a hi"\n',
        "writer.md": "Write.\n",
        ".moot/agents/editor.md": "Edit.\n",
        ".moot/plans/release.yaml": "tasks: [{name: a}]\n",
    }
    for name, text in files.items():
        file = terminal.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return terminal


@pytest.mark.parametrize(("typed", "code", "said"), MISTAKES, ids=[one[0] for one in MISTAKES])
def test_a_mistake_is_answered_with_a_way_on(beginner: Terminal, typed: str, code: int, said: str) -> None:
    ended = beginner.run(*typed.split(), env={"PATH": "/usr/bin:/bin"})
    told = ended.out + ended.err
    assert (ended.code, said in told) == (code, True), ended
    assert "Traceback" not in told
    assert not code or not ended.out, "what went wrong is told beside the output"
    assert not (beginner.folder / ".workflow").exists(), "a mistake makes no store"


def test_a_folder_of_a_workflows_name_does_not_hide_it(beginner: Terminal) -> None:
    (beginner.folder / "nightly").mkdir()
    shelf = beginner.folder / ".moot" / "workflows"
    shelf.mkdir()
    (shelf / "nightly.yaml").write_text((beginner.folder / "fine.yaml").read_text())
    assert beginner.ok("check", "nightly").code == 0
