"""Tools of sessions, through `moot ask` and `moot run`: files, commands, and servers of others."""

import shutil
import sys
import time
from pathlib import Path

import pytest

from moot.process import confinement
from tests.cli.terminal import Terminal, finish
from tests.stories.test_permissions import await_file

EXAMPLES = Path(__file__).parents[2] / "examples" / "agents"
ODD = str(Path(__file__).parents[1] / "client" / "odd_server.py")
# Begins with a line of what it was given.
NOTING = f"command: sh, args: [-c, 'echo $GIVEN >> given.txt; exec {sys.executable} {ODD}']"
WRITER = """---
tools: [edit]
permissions: {edit: %s}
answers:
  - calls: [{file_write: {path: new.txt, content: "hello"}}]
  - say: It is over.
---
"""


RUNNER = """---
tools: [shell]
permissions: {shell: allow}
answers:
  - calls: [{shell: {command: "echo x > in.txt; echo x > ../out.txt; ls .workflow > store.txt"}}]
  - say: It is over.
---
"""


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    folder = tmp_path / "project"
    (folder / "home").mkdir(parents=True)
    (folder / ".moot").mkdir()
    return Terminal(folder, bytecode)


def copied(terminal: Terminal, name: str) -> None:
    shutil.copytree(EXAMPLES / name, terminal.folder, dirs_exist_ok=True)


def write(terminal: Terminal, name: str, text: str) -> str:
    (terminal.folder / name).write_text(text)
    return name


def given(terminal: Terminal) -> list[str]:
    return (terminal.folder / "given.txt").read_text().splitlines()


def calls(terminal: Terminal) -> list[str]:
    """What the tools of the last run came to, as it is traced."""
    return [line.split("call ", 1)[1] for line in terminal.ok("trace").out.splitlines() if "call " in line]


def test_an_agent_reads_and_changes_files(terminal: Terminal) -> None:
    copied(terminal, "files")
    ended = terminal.ok("ask", "fixer.md", "Is the list right?")
    assert ended.out == "v1.2 keeps the last line; the list said the opposite, and now says so.\n"
    assert (terminal.folder / "changes.txt").read_text().splitlines()[1].startswith("v1.2 keeps the last line of")
    assert [call.split()[0] for call in calls(terminal)] == ["file_search", "file_read", "file_edit"]
    assert "failed" not in "".join(calls(terminal))


def test_an_agent_asks_a_server_of_others(terminal: Terminal) -> None:
    copied(terminal, "server")
    ended = terminal.ok("ask", "-v", "clerk.md", "What is there?")
    assert ended.out == "There are 12 lamps and no chairs.\n"
    assert "server: stock for clerk: python3 stock.py (clerk.md)" in ended.err.splitlines()
    assert [call.split()[0] for call in calls(terminal)] == ["mcp_stock_count"] * 2
    assert "failed" not in "".join(calls(terminal))


def test_check_and_run_show_the_servers(terminal: Terminal) -> None:
    copied(terminal, "server")
    write(terminal, "stock.yaml", "agents: {clerk: {from: clerk.md}}\nkickoff: '@clerk what is there?'\n")
    line = "stock for clerk: python3 stock.py (clerk.md)"
    assert f"server     {line}" in terminal.ok("check", "clerk.md").out.splitlines()
    assert f"server     {line}" in terminal.ok("check", "stock.yaml").out.splitlines()
    assert f"server: {line}" in terminal.ok("run", "stock.yaml").out.splitlines()


def test_everybody_in_a_tree_has_its_own_servers(terminal: Terminal) -> None:
    """Two that have one name and are different ones, and one that both have, which is started once."""
    shared = f"both: {{{NOTING}, env: {{GIVEN: both}}}}"
    for name, leads_to, call in (("lead", "agents: [help]", ", {agent_help: {prompt: x}}"), ("help", "", "")):
        text = f"""---
tools: ["mcp:odd/add", "mcp:both/add"]
mcp_servers: {{odd: {{{NOTING}, env: {{GIVEN: for {name}}}}}, {shared}}}
{leads_to}
answers:
  - calls: [{{mcp_odd_add: {{a: 1, b: 2}}}}, {{mcp_both_add: {{a: 1, b: 2}}}}{call}]
  - calls: [{{final_report: {{report: over}}}}]
---
"""
        write(terminal, f"{name}.md", text)
    assert terminal.ok("ask", "lead.md", "Who are you?").out == "over\n"
    assert sorted(given(terminal)) == ["both", "for help", "for lead"]
    assert [call.split()[0] for call in calls(terminal)].count("mcp_odd_add") == 2
    assert "failed" not in "".join(calls(terminal))


def test_a_server_that_does_not_start_fails_the_agent_with_its_words(terminal: Terminal) -> None:
    text = "---\ntools: ['mcp:odd']\nmcp_servers: {odd: {command: ./none%s}}\nanswers: [{say: hi}]\n---\n"
    ended = terminal.run("ask", write(terminal, "bad.md", text % ""), "Hello?")
    assert ended.code == 1
    assert "SERVER_NOT_STARTED: The MCP server odd could not be started" in ended.err
    assert "Correct `mcp_servers.odd` in bad.md, or write optional: true there." in ended.err
    ended = terminal.ok("ask", write(terminal, "bad.md", text % ", optional: true"), "Hello?")
    assert ended.out == "hi\n"
    assert "odd" in ended.err


def test_a_server_that_does_not_start_is_not_tried_again(terminal: Terminal) -> None:
    text = """
agents:
  asker:
    retry: {attempts: 3, backoff: 1ms}
    tools: ["mcp:odd"]
    mcp_servers: {odd: {command: sh, args: [-c, "echo begun >> given.txt; echo no luck >&2; exit 1"]}}
    answers: [{say: hi}]
kickoff: "@asker go"
"""
    ended = terminal.run("run", write(terminal, "a.yaml", text), "--json")
    assert given(terminal) == ["begun"]
    assert "It wrote: no luck" in ended.out


def test_a_server_of_a_repository_gets_a_secret_only_if_its_workflow_says_so(terminal: Terminal) -> None:
    text = f"""
agents:
  asker:
    tools: ["mcp:odd"]
    mcp_servers: {{odd: {{{NOTING}, env: {{GIVEN: "it is ${{LAB_TOKEN}}"}}}}}}
    answers: [{{calls: [{{mcp_odd_add: {{a: 1, b: 2}}}}]}}, {{say: over}}]
kickoff: "@asker go"
"""
    env = {"LAB_TOKEN": "tidy-lamp-post"}
    refused = terminal.run("run", write(terminal, "a.yaml", text), env=env)
    assert refused.code == 2
    assert "a.yaml:5:19: `agents.asker.mcp_servers.odd` would be given LAB_TOKEN" in refused.err
    assert not (terminal.folder / "given.txt").exists()
    terminal.ok("run", write(terminal, "a.yaml", f"env: [LAB_TOKEN]{text}"), env=env)
    assert given(terminal) == ["it is tidy-lamp-post"]


@pytest.mark.skipif(confinement.reach() != "confined", reason="this system cannot confine commands as far as this")
def test_a_command_writes_in_its_directory_only_and_sees_no_store(terminal: Terminal) -> None:
    ended = terminal.ok("ask", write(terminal, "runner.md", RUNNER), "Go.")
    assert (ended.out, ended.err) == ("It is over.\n", "")
    assert (terminal.folder / "in.txt").exists()
    assert not (terminal.folder.parent / "out.txt").exists()
    assert (terminal.folder / "store.txt").read_text() == ""


def test_commands_that_are_not_confined_are_told_before_anything_runs(terminal: Terminal) -> None:
    env = {confinement.SETTING: "unconfined"}
    told = "runner: its commands are not confined, and have all your rights."
    assert told in terminal.ok("check", write(terminal, "runner.md", RUNNER), env=env).err
    assert told in terminal.ok("ask", "runner.md", "Go.", env=env).err
    assert (terminal.folder.parent / "out.txt").exists()


def test_a_budget_that_does_not_hold_is_not_shown_and_warned_of(terminal: Terminal) -> None:
    write(terminal, "kid.md", "---\nbudget: {turns: 1}\nanswers: [{say: hi}]\n---\n")
    ended = terminal.ok("check", write(terminal, "boss.md", "---\nagents: [kid]\nanswers: [{say: hi}]\n---\n"))
    assert "kid: its `budget` does not hold here: it works for others, and uses theirs." in ended.err
    assert "1 turn" not in ended.out
    assert "1 turn" in terminal.ok("check", "kid.md").out


def test_who_would_have_to_ask_is_refused_where_nobody_answers(terminal: Terminal) -> None:
    ended = terminal.run("ask", write(terminal, "writer.md", WRITER % "ask"), "Write.")
    assert ended.code == 2
    assert "writer: permissions are ask" in ended.err
    assert "moot start" not in ended.err
    write(terminal, "boss.md", "---\nagents: [writer]\nanswers: [{say: hi}]\n---\n")
    ended = terminal.run("ask", "boss.md", "Write.")
    assert (ended.code, "writer: permissions are ask" in ended.err) == (2, True)
    assert not (terminal.folder / "new.txt").exists()


def test_permissions_can_be_said_on_the_command_line(terminal: Terminal) -> None:
    terminal.ok("ask", write(terminal, "writer.md", WRITER % "ask"), "Write.", "--permissions", "edit")
    assert (terminal.folder / "new.txt").read_text() == "hello"


def test_what_is_denied_is_not_there(terminal: Terminal) -> None:
    ended = terminal.ok("ask", write(terminal, "writer.md", WRITER % "deny"), "Write.")
    assert ended.out == "It is over.\n"
    assert calls(terminal) == ["file_write  ✗ failed: nothing was done"]
    assert not (terminal.folder / "new.txt").exists()


@pytest.mark.parametrize("typed", ["yes", "no, not today"])
def test_who_sits_at_the_terminal_is_asked_there(terminal: Terminal, typed: str) -> None:
    write(terminal, "writer.md", WRITER % "ask")
    write(terminal, "team.yaml", "agents: {writer: {from: writer.md}}\nkickoff: '@writer write'\n")
    with terminal.typing("run", "team.yaml") as session:
        session.until("file_write: new.txt")
        session.type(typed)
        session.until("done in")
    assert session.code == 0
    assert (terminal.folder / "new.txt").exists() == (typed == "yes")


def test_the_person_is_told_who_in_a_tree_asks(terminal: Terminal) -> None:
    write(terminal, "writer.md", WRITER % "ask")
    lead = (
        "agents: [writer]\nanswers: [{calls: [{agent_writer: {prompt: x}}]}, {calls: [{final_report: {report: ok}}]}]"
    )
    write(terminal, "lead.md", f"---\n{lead}\n---\n")
    write(terminal, "team.yaml", "agents: {lead: {from: lead.md}}\nkickoff: '@lead write'\n")
    with terminal.typing("run", "team.yaml") as session:
        session.until("writer: file_write: new.txt")
        session.type("yes")
        session.until("done in")
    assert (terminal.folder / "new.txt").read_text() == "hello"


ADDER = f"""---
tools: ["mcp:odd"]
permissions: full
mcp_servers: {{odd: {{command: {sys.executable}, args: [{ODD}], ask: [add]}}}}
answers: [{{calls: [{{mcp_odd_add: {{a: 1, b: 2}}}}]}}, {{say: It is over.}}]
---
"""


@pytest.mark.parametrize(("typed", "came"), [("yes", 0), ("no, not today", 1)])
def test_a_person_is_asked_for_a_tool_of_another_server(terminal: Terminal, typed: str, came: int) -> None:
    write(terminal, "adder.md", ADDER)
    write(terminal, "team.yaml", "agents: {adder: {from: adder.md}}\nkickoff: '@adder add'\n")
    with terminal.typing("run", "team.yaml") as session:
        session.until("mcp_odd_add")
        session.type(typed)
        session.until("done in")
    assert "".join(calls(terminal)).count("failed") == came


def test_who_would_have_to_ask_for_a_tool_of_another_server_is_refused_where_nobody_answers(terminal: Terminal) -> None:
    ended = terminal.run("ask", write(terminal, "adder.md", ADDER), "Add.")
    assert (ended.code, "adder: it has to ask for tools of the MCP server odd" in ended.err) == (2, True)


SPOILER = """---
tools: [edit]
permissions: {edit: allow}
answers:
  - calls:
      - {file_write: {path: agents/spoiler.md, content: x}}
      - {file_write: {path: agents/other.md, content: x}}
      - {file_write: {path: team.yaml, content: x}}
      - {file_write: {path: prompt.txt, content: x}}
      - {file_write: {path: agents/new.md, content: x}}
  - say: It is over.
agents: [other]
---
"""


def test_an_agent_changes_nothing_of_what_its_run_was_read_from(terminal: Terminal) -> None:
    (terminal.folder / "agents").mkdir()
    write(terminal, "agents/spoiler.md", SPOILER)
    write(terminal, "agents/other.md", (WRITER % "allow").replace("new.txt", "team.yaml"))
    write(terminal, "prompt.txt", "Spoil it.")
    team = "agents: {spoiler: {from: agents/spoiler.md, system_prompt: ./prompt.txt}}\nkickoff: '@spoiler write'\n"
    write(terminal, "team.yaml", team)
    files = ("agents/spoiler.md", "agents/other.md", "team.yaml", "prompt.txt")
    before = [(terminal.folder / name).read_text() for name in files]
    terminal.ok("run", "team.yaml")
    terminal.ok("ask", "agents/other.md", "Write.")
    assert [(terminal.folder / name).read_text() for name in files[:2]] == before[:2]
    assert (terminal.folder / "agents/new.md").read_text() == "x"
    assert (terminal.folder / "prompt.txt").read_text() == before[3]
    assert (terminal.folder / "team.yaml").read_text() == "hello"  # to who is asked alone it is a file like others


def test_who_waits_for_a_person_is_not_cut_off_by_its_time(terminal: Terminal) -> None:
    write(terminal, "writer.md", (WRITER % "ask").replace("tools:", "timeout: 2s\ntools:"))
    lead = """---
agents: [writer]
tools: [edit]
permissions: {edit: allow}
answers:
  - calls: [{agent_writer: {prompt: x}}]
  - calls: [{file_write: {path: told.txt, content: told}}]
  - calls: [{final_report: {report: ok}}]
---
"""
    write(terminal, "lead.md", lead)
    team = "agents: {lead: {from: lead.md}}\nkickoff: '@lead write'\nnotify: 'echo \"$MOOT_ID\" > asked'\n"
    run = terminal.start("start", write(terminal, "team.yaml", team))
    asked = await_file(terminal.folder / "asked", run)
    time.sleep(2.5)  # longer than it may take
    terminal.ok("approve", asked)
    await_file(terminal.folder / "told.txt", run)
    terminal.ok("stop")
    finish(run)
    assert (terminal.folder / "new.txt").read_text() == "hello"


def test_an_agent_that_was_killed_while_it_waited_does_it_once_it_may(terminal: Terminal) -> None:
    write(terminal, "writer.md", WRITER % "ask")
    text = "agents: {writer: {from: writer.md}}\nkickoff: '@writer write'\nnotify: 'echo \"$MOOT_ID\" > asked'\n"
    run = terminal.start("run", write(terminal, "team.yaml", text))
    asked = await_file(terminal.folder / "asked", run)
    run.kill()
    finish(run)
    assert not (terminal.folder / "new.txt").exists()
    terminal.ok("approve", asked)
    terminal.ok("resume")
    assert (terminal.folder / "new.txt").read_text() == "hello"
    assert "OUTCOME_UNKNOWN" not in "".join(calls(terminal))


def test_a_replay_touches_no_file_and_starts_no_server(terminal: Terminal) -> None:
    text = f"""
agents:
  writer:
    tools: [edit, "mcp:odd"]
    permissions: full
    mcp_servers: {{odd: {{{NOTING}, env: {{GIVEN: x}}}}}}
    answers: [{{calls: [{{file_write: {{path: new.txt, content: hello}}}}]}}, {{say: It is over.}}]
kickoff: "@writer go"
"""
    terminal.ok("run", write(terminal, "a.yaml", text), "--instance", "first", "--record", "tape.jsonl")
    for name in ("new.txt", "given.txt"):
        (terminal.folder / name).unlink()
    ended = terminal.ok("run", "a.yaml", "--instance", "again", "--replay", "tape.jsonl")
    assert "the replay is like the recording" in ended.err
    assert not [name for name in ("new.txt", "given.txt") if (terminal.folder / name).exists()]


def test_who_has_no_workspace_works_in_a_folder_that_is_gone_afterwards(terminal: Terminal) -> None:
    text = (WRITER % "allow").replace("---\n", "---\nworkspace: none\n", 1)
    assert terminal.ok("ask", write(terminal, "writer.md", text), "Write.").out == "It is over.\n"
    assert "failed" not in "".join(calls(terminal))
    assert list(terminal.folder.rglob("new.txt")) == []
