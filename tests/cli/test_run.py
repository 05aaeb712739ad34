"""`moot run` and its kin on the command line: what is refused before anything happens, and where things are put."""

import json

import pytest

from moot.core.tx import Tx
from moot.registry import agents, instances, tokens
from moot.registry.tokens import Grant
from tests.cli.terminal import Terminal, finish

HELLO = """
name: hello
inputs: {who: {type: string, required: true}}
context: {document_owner: none}
agents:
  greeter:
    backend: scripted
    script: [{on: greet, calls: [{document_write: {content: written}}], say: hello}]
kickoff: "@greeter greet ${{ inputs.who }}"
"""
ELSEWHERE = """
name: elsewhere
context:
  provider: file
  documentOwner: none
  config: {dir: ./talk/, channel: discussion.md, document: workspace.md, documents: [todos.md]}
agents:
  greeter: {backend: scripted, script: [{on: greet, calls: [{document_write: {content: done}}], say: hello}]}
kickoff: "${{ context.channel }} @greeter greet"
"""


def write(terminal: Terminal, name: str, text: str) -> None:
    (terminal.folder / name).write_text(text)


def test_a_dry_run_says_who_would_run_and_stops_there(terminal: Terminal) -> None:
    write(terminal, "hello.yaml", HELLO)
    ended = terminal.ok("run", "hello.yaml", "--input", "who=ann", "--dry-run")
    assert "greeter" in ended.out
    assert "200 attempts" in ended.out
    assert terminal.run("log").out.startswith("nothing was said yet")


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("hello.yaml",), "`who` is missing"),
        (("hello.yaml", "--input", "whom=ann"), "There is no input `whom`"),
        (("nothing.yaml",), "nothing.yaml"),
        (("nothing",), "nothing"),
        (("hello.yaml", "--input", "who=ann", "--instance", "../up"), "cannot be an instance's name"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_happens(
    terminal: Terminal, words: tuple[str, ...], fact: str
) -> None:
    write(terminal, "hello.yaml", HELLO)
    ended = terminal.run("run", *words)
    assert (ended.code, fact in ended.err) == (2, True), ended
    assert not (terminal.folder / ".workflow" / "default").exists()


def test_a_workflow_is_found_by_its_name(terminal: Terminal) -> None:
    (terminal.folder / ".moot" / "workflows").mkdir(parents=True)
    write(terminal, ".moot/workflows/hello.yaml", HELLO)
    ended = terminal.ok("run", "hello", "--input", "who=@@ann", "--json")
    assert '"message":"hello"' in ended.out
    assert "@greeter greet @ann" in terminal.ok("log").out


def test_a_value_wakes_nobody(terminal: Terminal) -> None:
    write(terminal, "hello.yaml", HELLO.replace("greet ${{", "greet them, ${{"))
    terminal.ok("run", "hello.yaml", "--input", "who=@@human urgent")
    (kickoff, _) = terminal.ok("log", "--json").json
    assert (kickoff["mentions"], kickoff["priority"]) == (["greeter"], "normal")


def test_the_context_can_lie_elsewhere_in_the_project(either: Terminal) -> None:
    write(either, "elsewhere.yaml", ELSEWHERE)
    either.ok("run", "elsewhere.yaml")
    folder = either.folder / "talk"
    assert "talk/discussion.md @greeter greet" in (folder / "discussion.md").read_text()
    assert {file.name: file.read_text() for file in folder.glob("[wt]*.md")} == {"workspace.md": "done", "todos.md": ""}
    assert [one["file"] for one in either.ok("doc", "--json").json] == ["todos.md", "workspace.md"]
    assert not (either.folder / ".workflow" / "default" / "channel.md").exists()
    either.ok("run", "elsewhere.yaml")
    assert (folder / "discussion.md").read_text().count("@greeter greet") == 2


def test_what_moot_has_put_elsewhere_is_deleted_with_its_instance_and_nothing_else(terminal: Terminal) -> None:
    write(terminal, "elsewhere.yaml", ELSEWHERE.replace("todos.md", "lists/todos.md"))
    folder = terminal.folder / "talk"
    terminal.ok("run", "elsewhere.yaml")
    assert (folder / "lists" / "todos.md").exists()
    (folder / "mine.bin").write_bytes(b"\0")
    terminal.ok("rm", "default", "--yes")
    assert [file.name for file in folder.iterdir()] == ["mine.bin"]
    (folder / "mine.bin").unlink()
    terminal.ok("run", "elsewhere.yaml")
    terminal.ok("rm", "default", "--yes")
    assert not folder.exists()


@pytest.mark.parametrize("folder", ["../up", "/tmp/moot-elsewhere", ".", ".git/x", ".moot", "full"])
def test_a_context_is_not_put_where_it_does_harm(terminal: Terminal, folder: str) -> None:
    (terminal.folder / "full").mkdir()
    write(terminal, "full/mine.txt", "mine")
    write(terminal, "elsewhere.yaml", ELSEWHERE.replace("./talk/", folder))
    ended = terminal.run("run", "elsewhere.yaml")
    assert (ended.code, "context.config.dir" in ended.err) == (2, True), ended


def test_nothing_to_resume_stop_pause_or_retry_is_said(either: Terminal) -> None:
    either.join("ann")
    assert "nothing to resume" in either.run("resume").err
    assert "No run is going on" in either.run("pause").err
    assert either.ok("retry").out == "nothing was given up\n"
    assert either.ok("stop", "ann").out == "ann@default stopped\n"
    assert either.ok("stop").out == "nothing is running\n"
    assert either.run("stop", "nobody").code == 1


def test_parked_mail_is_tried_again(either: Terminal) -> None:
    write(
        either,
        "fails.yaml",
        "name: fails\nagents:\n  ann: {backend: scripted, retry: {attempts: 1}, script: [{fail: not today}]}\n"
        "kickoff: '@ann hello'\n",
    )
    ended = either.run("run", "fails.yaml")
    assert ended.code == 1
    assert "given up" in ended.err
    assert [one["parked"] for one in either.ok("list", "--json").json] == [1]
    assert either.ok("retry", "ann").out == "ann: 1 message to be tried again\n"
    assert either.run("resume").code == 1
    write(either, "fails.yaml", (either.folder / "fails.yaml").read_text().replace("fail: not today", "say: hi"))
    assert either.run("run", "fails.yaml").code == 0, "the mail of the run before is not this one's"
    assert [one["parked"] for one in either.ok("list", "--json").json] == [0]


def test_a_dry_run_as_json_is_what_a_check_says(terminal: Terminal) -> None:
    write(terminal, "hello.yaml", HELLO)
    found = terminal.ok("run", "hello.yaml", "--input", "who=ann", "--dry-run", "--json").json
    assert (found["ok"], found["wakes"]) == (True, ["greeter"])


def test_the_result_is_printed_at_the_end(terminal: Terminal) -> None:
    write(terminal, "hello.yaml", HELLO + 'result: "greeted ${{ inputs.who }}"\n')
    assert terminal.ok("run", "hello.yaml", "--input", "who=ann").out.splitlines()[-1] == "greeted ann"
    last = terminal.ok("run", "hello.yaml", "--input", "who=bob", "--json").out.splitlines()[-1]
    assert json.loads(last)["result"] == "greeted bob"


def test_an_instance_is_checked_before_anything_is_written(terminal: Terminal) -> None:
    write(terminal, "hello.yaml", HELLO)
    ended = terminal.run("start", "hello.yaml", "--input", "who=ann", "--instance", "../../oops", "--background")
    assert (ended.code, "NAME_REFUSED" in ended.err) == (2, True)
    assert not (terminal.folder.parent / "oops").exists()


@pytest.mark.parametrize(
    "words",
    [("stop", "ann"), ("stop", "--all"), ("pause",), ("retry",), ("new", "bob", "--backend", "human"), ("resume",)],
)
def test_agents_do_not_start_and_stop_each_other(terminal: Terminal, words: tuple[str, ...]) -> None:
    terminal.join("ann", backend="external")
    ended = terminal.run(*words, env={"MOOT_TOKEN": token_of(terminal, "ann")})
    assert (ended.code, "NOT_ALLOWED" in ended.err) == (1, True), ended


def token_of(terminal: Terminal, name: str) -> str:
    text = tokens.new_text()

    def mint(tx: Tx) -> None:
        agent = agents.named(tx, instances.ensure(tx, "default").stream, name)
        tokens.mint(tx, text, Grant("member", agent.instance, agent.role, agent.id))

    terminal.act(lambda connection: connection.store.write(mint, caller=connection.caller))
    return text


def test_a_context_in_memory_leaves_nothing(terminal: Terminal) -> None:
    write(terminal, "hello.yaml", HELLO.replace("{document_owner: none}", "{provider: memory, document_owner: none}"))
    ended = terminal.ok("run", "hello.yaml", "--input", "who=ann")
    assert "hello" in ended.out
    assert not (terminal.folder / ".workflow" / "default").exists()
    assert not (terminal.folder / ".workflow" / "moot.raw").exists()
    assert terminal.run("log").out.startswith("nothing was said yet")


def test_what_agents_do_on_their_way_is_shown_to_who_asks(terminal: Terminal) -> None:
    write(terminal, "hello.yaml", HELLO)
    shown = [line.strip() for line in terminal.ok("run", "hello.yaml", "--input", "who=ann", "-v").out.splitlines()]
    begun = shown.index("greeter -- attempt 1, 1 message from system")
    assert begun < shown.index("greeter: hello") < shown.index("greeter -- done")
    lines = terminal.ok("run", "hello.yaml", "--input", "who=ann", "-v", "--json").out.splitlines()
    told = [one for one in map(json.loads, lines) if one["type"] == "progress"]
    assert [(one["agent"], one["kind"], one["text"]) for one in told][1:] == [
        ("greeter", "tool", "document_write"), ("greeter", "text", "hello"), ("greeter", "end", "done")
    ]  # fmt: skip
    told = terminal.ok("run", "hello.yaml", "--input", "who=ann", "--json").out
    assert "progress" not in told
    cast = json.loads(told.splitlines()[0])
    assert (cast["type"], cast["runs"]["greeter"]["backend"], cast["warnings"]) == ("cast", "scripted", [])


WARNED = """
context: {document_owner: none}
agents:
  writer: {resume: true, answers: [{say: "@reader done"}]}
  reader: {script: [{fail: no, fails: 2}]}
kickoff: "@writer go"
"""


def test_what_an_agent_warns_of_is_told_once(terminal: Terminal) -> None:
    write(terminal, "warned.yaml", WARNED)
    beside = terminal.start("run", "warned.yaml", "--json", "--instance", "beside")
    shown = terminal.ok("run", "warned.yaml").out
    assert shown.count("writer: A model has no conversation of its own") == 1
    assert shown.count("reader failed (no); its mail waits") == 2
    lines = [json.loads(line) for line in finish(beside).out.splitlines()]
    told = [(one["agent"], one["text"][:12]) for one in lines if one["type"] == "warning"]
    assert told == [("writer", "A model has ")]


def test_an_instance_is_deleted_for_good_once_that_is_sure(either: Terminal) -> None:
    write(either, "hello.yaml", HELLO)
    either.ok("run", "hello.yaml", "--input", "who=ann", "--instance", "pr-1")
    assert either.ok("search", "hello", "--instance", "pr-1", "--json").json
    assert either.ok("log", "--raw", "greeter@pr-1").out
    asked = either.run("rm", "pr-1")
    assert (asked.code, "--yes" in asked.err) == (2, True)
    assert either.ok("rm", "@pr-1", "--yes").out == "pr-1 is deleted\n"
    assert not [*(either.folder / ".workflow").rglob("pr-1")]
    assert either.run("rm", "pr-1", "--yes").code == 1
    either.ok("run", "hello.yaml", "--input", "who=bob", "--instance", "pr-1")
    assert "ann" not in either.ok("log", "--instance", "pr-1").out


def standin(terminal: Terminal) -> dict[str, str]:
    """An environment with a program that is called claude, with a login and no key."""
    login = terminal.folder / "home" / ".claude" / ".credentials.json"
    login.parent.mkdir()
    login.touch()
    program = terminal.folder / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ntouch started\nexit 1\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:/usr/bin:/bin", "ANTHROPIC_API_KEY": ""}


ASKS = "agents: {a: {model: sonnet}}\nkickoff: '@a hi'"


def test_agents_that_may_have_to_ask_are_refused_where_nobody_can_answer(terminal: Terminal) -> None:
    env = standin(terminal)
    (terminal.folder / "w.yaml").write_text(ASKS)
    ended = terminal.run("run", "w.yaml", env=env)
    assert (ended.code, ended.out) == (2, "")
    assert "NOBODY_TO_ASK" in ended.err
    assert "a: permissions are ask" in ended.err
    assert "--permissions read-only or --permissions full" in ended.err
    assert not (terminal.folder / "started").exists()
    assert terminal.run("run", "w.yaml", "--permissions", "edit", env=env).code == 2  # a shell would be asked for
    (terminal.folder / "w.yaml").write_text(f"{ASKS}\nretry: x")
    assert "WORKFLOW_INVALID" in terminal.run("run", "w.yaml", env=env).err


def test_a_dry_run_shows_who_would_run_on_what_and_starts_nothing(terminal: Terminal) -> None:
    env = standin(terminal)
    (terminal.folder / "w.yaml").write_text(ASKS)
    ended = terminal.run("run", "w.yaml", "--dry-run", env=env)
    assert "  a  claude  anthropic/sonnet  your login, ask, shared\n" in ended.out
    assert (ended.code, "NOBODY_TO_ASK" in ended.err) == (2, True)
    ended = terminal.run("run", "w.yaml", "--dry-run", "--json", env=env)
    assert (ended.code, ended.json["ok"], ended.json["code"]) == (2, False, "NOBODY_TO_ASK")
    assert "--permissions full" in ended.json["problems"][0]["remedy"]
    ended = terminal.ok("run", "w.yaml", "--dry-run", "--permissions", "full", "--backend", "claude", env=env)
    assert "your login, full, shared\n" in ended.out
    assert ended.err == ""
    found = terminal.ok("run", "w.yaml", "--dry-run", "--json", "--permissions", "full", env=env).json
    assert found["runs"]["a"]["why"] == "claude is installed"
    assert not (terminal.folder / "started").exists()


def test_who_cannot_ask_is_told_what_is_denied_to_it_and_is_not_refused(terminal: Terminal) -> None:
    env = standin(terminal)
    (terminal.folder / "bin" / "claude").rename(terminal.folder / "bin" / "codex")
    (terminal.folder / "w.yaml").write_text("agents: {a: {backend: codex}}\nkickoff: '@a hi'")
    ended = terminal.ok("run", "w.yaml", "--dry-run", env=env)
    denied = "what it would ask for (edit, shell, network) it may not do."
    assert f"warning: a: codex cannot ask for permission without a terminal: {denied}\n" in ended.err
    assert "warning: a: no login of codex was found; log in with: codex login\n" in ended.err


def test_a_dry_run_fails_as_the_run_would(terminal: Terminal) -> None:
    (terminal.folder / "w.yaml").write_text("agents: {a: {backend: command, command: ./nope.sh}}\nkickoff: '@a hi'")
    for words in (("run", "w.yaml"), ("run", "w.yaml", "--dry-run"), ("run", "w.yaml", "--dry-run", "--json")):
        ended = terminal.run(*words)
        assert (ended.code, ended.out) == (2, "")
        assert "BACKEND_UNAVAILABLE" in ended.err
        assert "the program ./nope.sh was not found" in ended.err


def test_remedies_stand_on_lines_of_their_own(terminal: Terminal) -> None:
    (terminal.folder / "w.yaml").write_text("agents: {a: {backend: cursor}, b: {backend: codex}}\nkickoff: '@a hi'")
    ended = terminal.run("run", "w.yaml", env={"PATH": "/usr/bin:/bin"})
    assert ended.err.splitlines()[-3:] == [
        "  Install it: curl https://cursor.com/install -fsS | bash",
        "  Choose another with --backend.",
        "  Install it: npm install -g @openai/codex",
    ]


def test_a_flag_goes_before_the_file_and_an_unknown_one_is_refused(terminal: Terminal) -> None:
    (terminal.folder / "w.yaml").write_text("agents: {a: {script: []}}\nkickoff: '@a hi'")
    ended = terminal.run("run", "w.yaml", "--backend", "codex", env={"PATH": "/usr/bin:/bin"})
    assert ended.code == 2
    assert "a: the program codex was not found" in ended.err
    assert terminal.run("run", "w.yaml", "--backend", "cluade").code == 2


def test_a_workflow_that_hides_the_person_s_own_is_announced_at_its_first_use(terminal: Terminal) -> None:
    for folder in (terminal.folder, terminal.folder / "home"):
        (folder / ".moot/workflows").mkdir(parents=True, exist_ok=True)
        (folder / ".moot/workflows/hello.yaml").write_text(HELLO)
    told = "hello is that of this project"
    assert told in terminal.run("check", "hello").err
    assert told in terminal.ok("run", "hello", "--input", "who=ann", "--dry-run").err
    assert told in terminal.ok("run", "hello", "--input", "who=ann").err
    assert told not in terminal.ok("run", "hello", "--input", "who=ann").err
    assert told in terminal.run("check", "hello").err
