"""`moot check`: what is wrong, all at once, or who would run where. Nothing is run and nothing made."""

from pathlib import Path

from tests.cli.terminal import Terminal

GOOD = """
name: review
inputs: {pr: {type: number, required: true, description: Which one.}}
agents:
  lead: {model: sonnet, permissions: read-only, budget: {cost: 1}}
  coder: {script: [{say: done}], workspace: none}
  ana: {backend: human}
setup: [{shell: "touch ran; gh pr diff ${{ inputs.pr }}", as: diff}]
kickoff: |
  ${{ diff }}
  @lead please look, `@coder` will help.
context: {document_owner: lead}
"""

# Neither a key nor a program of agents.
BARE = {"PATH": "/usr/bin:/bin", "ANTHROPIC_API_KEY": ""}


def write(terminal: Terminal, text: str, name: str = "review.yaml") -> Path:
    file = terminal.folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_who_would_run_where_is_shown_and_nothing_is_run(terminal: Terminal) -> None:
    write(terminal, GOOD)
    ended = terminal.run("check", "review.yaml", env=BARE)
    assert ended.code == 2
    assert ended.out.splitlines() == [
        "review (review.yaml): the file is right, but lead cannot be run here",
        "",
        "AGENT  BACKEND   MODEL             ACCOUNT  PERMISSIONS  WORKSPACE  LIMITS",
        "lead   (none)    anthropic/sonnet  -        read-only    shared     $1.00",
        "coder  scripted  -                 -        ask          none       -",
        "ana    human     -                 -        -            -          -",
        "",
        "input      --input pr=…  a number, required. Which one.",
        "setup      touch ran; gh pr diff ${{ inputs.pr }}  becomes diff  (at most 1 m 0 s)",
        "documents  notes.md, written by lead alone",
        "budget     $10.00, 1 h 0 m, 200 attempts",
        "kickoff    wakes lead",
    ]
    assert ended.err.splitlines() == [
        "warning: lead: nothing here can run anthropic/sonnet.",
        "  Set ANTHROPIC_API_KEY.",
        "  Install claude: npm install -g @anthropic-ai/claude-code",
        "  Choose another with --backend, or another model.",
        "  Let somebody join in its place: backend: external, then moot mcp --as NAME.",
    ]
    assert sorted(path.name for path in terminal.folder.iterdir()) == [".moot", "home", "review.yaml"]


def test_a_workflow_is_found_by_its_name(terminal: Terminal) -> None:
    write(terminal, GOOD, ".moot/workflows/fix/bug.yaml")
    assert "review (bug.yaml)" in terminal.run("check", "fix:bug").out
    ended = terminal.run("check", "fix:bugs")
    assert (ended.code, ended.out) == (2, "")
    assert "WORKFLOW_NOT_FOUND: There is no workflow `fix:bugs`.\n  Did you mean `fix:bug`?" in ended.err


def test_everything_wrong_is_told_with_exit_code_2(terminal: Terminal) -> None:
    write(terminal, "agents:\n  lead: {model: sonet, tols: []}\nkickoff: '@led ${{ x }}'\nsteps: []\n")
    ended = terminal.run("check", "review.yaml")
    assert (ended.code, ended.out) == (2, "")
    places = [line.split(": ")[0].strip() for line in ended.err.splitlines()[1:-1]]
    assert ended.err.startswith("error: WORKFLOW_INVALID: review.yaml has 5 problems:\n")
    assert places == [f"review.yaml:{place}" for place in ("2:17", "2:24", "3:10", "3:10", "4:8")]
    found = terminal.run("check", "review.yaml", "--json")
    assert found.code == 2
    assert found.json["ok"] is False
    assert found.json["problems"][1] == {
        "file": "review.yaml",
        "line": 2,
        "column": 24,
        "fact": "`tols` is no key of `agents.lead`.",
        "remedy": "Did you mean `tools`?",
    }


def test_inputs_are_checked_where_they_are_given(terminal: Terminal) -> None:
    write(terminal, GOOD)
    assert "INPUT_INVALID" not in terminal.run("check", "review.yaml", "--input", "pr=4").err
    ended = terminal.run("check", "review.yaml", "--input", "pr=four", "--input", "x=1")
    assert ended.code == 2
    assert "INPUT_INVALID: 2 inputs are wrong:" in ended.err


def test_json_tells_the_same(terminal: Terminal) -> None:
    write(terminal, GOOD)
    ended = terminal.run("check", "review.yaml", "--json", env=BARE)
    found = ended.json
    assert (ended.code, found["ok"], found["wakes"]) == (2, False, ["lead"])
    assert found["cannot_run"]["lead"]["fact"] == "nothing here can run anthropic/sonnet"
    assert found["cannot_run"]["lead"]["remedies"][0] == "Set ANTHROPIC_API_KEY."
    assert found["runs"]["coder"] == {"backend": "scripted", "model": None, "why": "its script", "account": ""}
    assert [agent["name"] for agent in found["workflow"]["agents"]] == ["lead", "coder", "ana"]


def test_an_agent_file_can_be_checked_alone(terminal: Terminal) -> None:
    write(terminal, "---\nmodel: opus\ntools: [inbox]\n---\nYou lead.", "lead.md")
    ended = terminal.run("check", "lead.md", env=BARE)
    assert (ended.code, "lead   (none)   anthropic/opus" in ended.out) == (2, True)
    assert ended.out.startswith("lead (lead.md): the file is right, but lead cannot be run here\n")
    assert terminal.run("check", "lead.md", "--json", env=BARE).json["ok"] is False
    write(terminal, "---\nmodel: opus\ntools:\n- inbx\n---\nYou lead.", "lead.md")
    ended = terminal.run("check", "lead.md")
    assert ended.code == 2
    fact = "lead.md:4:3: `agents.lead`: there is no tool or group `inbx`."
    assert ended.err == f"error: WORKFLOW_INVALID: {fact}\n  Did you mean `inbox`?\n"
    assert "absent.md:1:1: there is no file absent.md." in terminal.run("check", "absent.md").err


def test_the_schema_is_printed(terminal: Terminal) -> None:
    assert terminal.ok("check", "--schema").json["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert terminal.run("check").code == 2


def test_what_was_found_is_shown_with_the_reason(terminal: Terminal) -> None:
    write(terminal, GOOD)
    program = write(terminal, "#!/bin/sh\n", "bin/claude")
    program.chmod(0o755)
    write(terminal, "{}", "home/.claude/.credentials.json")
    ended = terminal.ok("check", "review.yaml", env={**BARE, "PATH": f"{program.parent}:/usr/bin:/bin"})
    assert "lead   claude    anthropic/sonnet  your login  read-only    shared     $1.00" in ended.out
    assert "chosen     claude for lead: claude is installed\n" in ended.out
    assert ended.err == ""


def a_desk(terminal: Terminal) -> None:
    """An agent file with all patterns, and those it leads to."""
    files = {
        "desk": "model: [haiku, opus]\nadvisors: [wise]\nagents: [search]\nrouter: {destinations: [bills, panel]}",
        "wise": "chat: true\nanswers: [{say: hm}]",
        "search": "answers: [{say: found}]",
        "bills": "answers: [{say: paid}]\nhandoff: closer",
        "closer": "answers: [{say: bye}]\nchat: true",
        "panel": "team: {members: [wise, bills], supervisor: boss}",
        "boss": "answers: [{say: so}]",
    }
    for name, head in files.items():
        write(terminal, f"---\n{head}\n---\n", f"agents/{name}.md")


def test_an_agent_who_works_alone_is_shown_with_its_tools_and_limits(terminal: Terminal) -> None:
    head = "answers: [{say: hi}]\ntools: [files, shell]\nmax_turns: 3\ntimeout: 90s"
    write(terminal, f"---\n{head}\n---\n", "clerk.md")
    assert terminal.ok("check", "clerk.md").out.splitlines() == [
        "clerk (clerk.md): nothing is wrong with it",
        "",
        "AGENT  BACKEND   MODEL  ACCOUNT  PERMISSIONS  WORKSPACE  LIMITS",
        "clerk  scripted  -      -        ask          shared     3 turns a session, 1 m 30 s",
        "",
        "clerk  (scripted, terminal)",
        "",
        "tools      clerk: files, shell",
    ]


def test_the_tree_of_an_agent_file_is_drawn(terminal: Terminal) -> None:
    a_desk(terminal)
    ended = terminal.ok("check", "agents/desk.md", env={**BARE, "ANTHROPIC_API_KEY": "k"})
    verdict, table, tree = ended.out.split("\n\n")
    assert verdict == "desk (agents/desk.md): nothing is wrong with it"
    assert [line.split()[0] for line in table.splitlines()] == [
        "AGENT", "desk", "search", "wise", "bills", "panel", "closer", "boss",
    ]  # fmt: skip
    assert tree.splitlines() == [
        "desk  (anthropic/haiku, else anthropic/opus)",
        "  advisor wise  (scripted)",
        "  agent search  (scripted)",
        "  router to bills  (scripted)",
        "    handoff to closer  (scripted, terminal)",
        "  router to panel",
        "    team member wise  (scripted)",
        "    team member bills  (scripted, see above)",
        "    team supervisor boss  (scripted, terminal)",
    ]


def test_the_tree_is_data_too(terminal: Terminal) -> None:
    a_desk(terminal)
    found = terminal.ok("check", "agents/panel.md", "--json").json
    (tree,) = found["trees"]
    assert (tree["agent"], tree["pattern"], tree["is_terminal"]) == ("panel", None, False)
    wise, bills, boss = tree["branches"]
    assert (wise["agent"], wise["pattern"], wise["has_last_word"]) == ("wise", "member", False)
    assert [one["agent"] for one in bills["branches"]] == ["closer"]
    assert boss == {
        "agent": "boss",
        "pattern": "supervisor",
        "models": [],
        "is_terminal": True,
        "has_last_word": True,
        "is_shown_before": False,
        "branches": [],
    }
    assert [one["name"] for one in found["agent"]["cast"]] == ["wise", "bills", "boss", "closer"]


def test_a_workflow_shows_the_trees_of_its_agents(terminal: Terminal) -> None:
    a_desk(terminal)
    write(terminal, "agents: {lead: {from: agents/bills.md}, ana: {backend: human}}\nkickoff: '@lead go'")
    ended = terminal.ok("check", "review.yaml")
    assert "\n\nlead  (scripted)\n  handoff to closer  (scripted, terminal)\n\ndocuments " in ended.out
    write(terminal, "agents:\n  lead: {from: agents/bills.md, advisors: [boss]}\n  boss: {model: haiku}")
    ended = terminal.run("check", "review.yaml")
    assert ended.code == 2
    assert "review.yaml:2:44: `agents.lead.advisors item 1`: `boss` is to be an advisor" in ended.err


STEPS = """
name: fix
default_state: {raw: {seen: [], tries: 0}}
state_schema: {raw: {kept: array}, computed: {kept: {from: raw.seen, transform: "input.filter(f => f)"}}}
steps:
  - {id: list, type: shell_command, command: "git ls-files {{{ seen }}}", state_update: {path: raw.seen}}
  - id: gate
    type: conditional
    condition: "{{ kept.length > 0 }}"
    then:
      - {id: each, type: foreach, items: "{{ kept }}", steps: [{type: mcp_call, mcp: {method: lint}}]}
    else:
      - {type: exit, status: failed}
  - {id: batch, type: parallel_foreach, items: "{{ kept }}", sub_agent_task: mend}
  - {id: judge, type: agent_prompt, agent: lead, prompt: Is it right?, state_update: {path: raw.verdict}}
  - {id: sure, type: user_input, prompt: Sure?}
sub_agent_tasks:
  mend: {steps: [{id: hint, type: apply_hints, file: "{{ item }}", hints: []}]}
"""
DRAWN = """\
fix (w.yaml): nothing is wrong with it

steps
list          shell_command     writes raw.seen
gate          conditional       if kept.length > 0
  then
    each      foreach           for each of {{ kept }}
      0       mcp_call          calls lint
  else
    0         exit
batch         parallel_foreach  for each of {{ kept }}  each does mend  (sub-agents)
judge         agent_prompt      asks lead  writes raw.verdict  (agent)
sure          user_input        (person)

sub-agent task mend
hint          apply_hints     (agent)

state
raw.seen
raw.tries
computed.kept  from raw.seen

takes      as long as it takes for 2 commands, 2 agent steps, 1 question, 1 sub-agent step
tools      lint

budget     $10.00, 1 h 0 m, 200 attempts
"""


def test_steps_are_drawn_as_a_tree_with_what_the_state_is_made_from(terminal: Terminal) -> None:
    write(terminal, STEPS, "w.yaml")
    ended = terminal.ok("check", "w.yaml")
    assert ended.out == DRAWN
    computed, raw, asking = ended.err.splitlines()
    assert computed == "warning: w.yaml:4:47: kept is raw and computed at once; who reads it sees what is computed."
    assert raw == "warning: w.yaml:6:46: {{{ seen }}} is put into the command as it is, without quotes."
    assert asking.startswith("warning: w.yaml:14:5: the sub-agents of `steps item 3` need an agent, and ")
    found = terminal.ok("check", "w.yaml", "--json").json
    assert found["plan"]["required_tools"] == ["lint"]
    assert found["plan"]["state"][2] == {"field": "computed.kept", "from": ["raw.seen"]}
    assert "flow" not in found["workflow"]


def test_steps_and_state_are_drawn_as_pictures(terminal: Terminal) -> None:
    write(terminal, STEPS, "w.yaml")
    ended = terminal.ok("check", "w.yaml", "--svg", "steps.svg", "--state-svg", "state.svg")
    assert ended.out == "steps.svg is written\nstate.svg is written\n"
    assert (terminal.folder / "steps.svg").read_text().count("<rect") == 9
    assert (terminal.folder / "state.svg").read_text().count("<rect") == 3
    write(terminal, GOOD, "talk.yaml")
    refused = terminal.run("check", "talk.yaml", "--svg", "x.svg")
    assert (refused.code, "This file has no steps to draw." in refused.err) == (2, True)
