"""A workflow is checked whole, against everything that moot knows, before anything is done with it."""

from pathlib import Path

import pytest

from moot.app import references, workflows
from moot.app.choosing import Machine
from moot.app.project import ConfigInvalid, Project
from moot.app.workflows import BackendUnavailable
from moot.core.errors import MootError
from moot.core.permissions import PRESETS, Permissions
from moot.core.yaml import YamlInvalid
from moot.workflow import stored
from moot.workflow.finding import WorkflowNotFound
from moot.workflow.inputs import InputInvalid
from moot.workflow.members import Flags
from moot.workflow.workflow import Workflow, WorkflowInvalid


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def write(folder: Path, text: str, name: str = "agents.yaml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def read(folder: Path, text: str, flags: Flags | None = None) -> Workflow:
    return workflows.read(Project(folder), write(folder, text), flags)


def test_agents_and_the_first_words_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, "agents: {coder: {description: writes, script: [{on: hi, say: yes}]}}\nkickoff: '@coder hi'")
    assert (found.name, found.source, found.kickoff) == ("agents", "agents.yaml", "@coder hi")
    (coder,) = workflows.members(found)
    assert (coder.name, coder.backend, coder.label, coder.metadata) == (
        "coder",
        "scripted",
        "writes",
        {"source": "agents.yaml"},
    )
    assert coder.settings["script"] == [{"on": "hi", "say": "yes"}]
    assert coder.settings["transport"] == "direct"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("agents: {}", WorkflowInvalid),
        ("agents: {a: {scrip: []}}", WorkflowInvalid),
        ("agents: {a: {backend: magic}}", WorkflowInvalid),
        ("agents: {a: {script: [{on: '('}]}}", WorkflowInvalid),
        ("agents: {a: {script: [{takes: soon}]}}", WorkflowInvalid),
        ("agents: {a: {script: [{say: 3}]}}", WorkflowInvalid),
        ("agents: {human: {backend: scripted}}", WorkflowInvalid),
        ("agents: {a b: {backend: scripted}}", WorkflowInvalid),
        ("agents: {a: {backend: scripted}, A: {backend: scripted}}", WorkflowInvalid),
        ("agents: {elect: {backend: scripted}}", WorkflowInvalid),
        ("agents: [", YamlInvalid),
        ("", WorkflowInvalid),
        ("- a", WorkflowInvalid),
        ("unknown: 1\nagents: {a: {backend: scripted}}", WorkflowInvalid),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, error: type[MootError]) -> None:
    with pytest.raises(error) as caught:
        read(tmp_path, text)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agents:\n  a:\n    scrip: []", "agents.yaml:3:5: `scrip` is no key of `agents.a`. Did you mean `script`?"),
        ("kickoff: hi", "agents.yaml:1:1: `agents` is missing in this file. Say who takes part."),
        ("agents: {}", "agents.yaml:1:9: `agents` must not be empty."),
        (
            "agents:\n  human: {backend: external}",
            "agents.yaml:2:3: `agents.human`: The name 'human' is kept for moot itself.",
        ),
        (
            "agents:\n  a: {script: [{say: hi}, {say: 3}]}",
            "agents.yaml:2:33: `agents.a.script item 2, say` must be text",
        ),
        ("agents:\n  a: {backend: external, transport: mpc}", "Did you mean mcp?"),
        ("agents:\n  a:\n    script:\n    - say: @b hi", "agents.yaml:4:12 is not YAML"),
        ("", "agents.yaml is empty."),
        (
            "agents: {coder: {backend: scripted}}\nkickoff: Ask @codr and `@nobody`, @human, @all.",
            "agents.yaml:2:10: `kickoff` mentions @codr, who is not among the agents. Did you mean `coder`?",
        ),
        (
            "agents:\n  a: {backend: scripted, tools: [channel, chanel_send]}",
            "agents.yaml:2:43: `agents.a`: there is no tool or group `chanel_send`. Did you mean `channel_send`?",
        ),
        (
            "context: false\nagents:\n  a: {backend: scripted, tools: [inbox, documents]}",
            "agents.yaml:3:41: `agents.a`: `documents` is not there with `context: false`. Leave it out, or leave out",
        ),
        (
            "agents:\n  a: {backend: scripted, tools: ['mcp:github']}",
            "`agents.a`: there is no MCP server `github`. Declare it under mcp_servers.",
        ),
    ],
)
def test_an_error_names_the_place_in_our_own_words(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(MootError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def test_tools_that_there_are_not_are_found_before_a_line_is_played(tmp_path: Path) -> None:
    lines = "[{say: hi}, {calls: [{channel_read: {}}, {chanel_send: {message: hi}}, {dance: {}}]}]"
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, f"agents:\n  a: {{script: {lines}}}")
    _, near, far = caught.value.fact.splitlines()
    assert near.endswith("agents.yaml:2:57: there is no tool `chanel_send`. Did you mean `channel_send`?")
    assert "there is no tool `dance`. Known are: agent_get, " in far


def test_a_script_in_a_file_of_its_own_is_checked_there(tmp_path: Path) -> None:
    write(tmp_path, "- say: hi\n- say: 3\n", "lines.yaml")
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, "agents: {a: {script: lines.yaml}}")
    assert "lines.yaml:2:8: `agents.a.script item 2, say` must be text, not a number." in str(caught.value)
    write(tmp_path, "- say: hi\n", "lines.yaml")
    assert read(tmp_path, "agents: {a: {script: lines.yaml}}").agents[0].script == ({"say": "hi"},)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkflowInvalid, match="There is no file"):
        workflows.read(Project(tmp_path), tmp_path / "absent.yaml")


TEAM = "agents: {lead: {backend: scripted}, coder: {backend: external}, ana: {backend: human}}\n"


@pytest.mark.parametrize(
    ("kickoff", "woken"),
    [
        ("@lead and @Coder, not `@ana`", ("lead", "coder")),
        ("@all", ("lead", "coder", "ana")),
        ("nobody", ()),
        ("@human @ana ${{ '@lead' }}", ("ana", "human")),
    ],
)
def test_the_kickoff_wakes_whom_its_author_mentions(tmp_path: Path, kickoff: str, woken: tuple[str, ...]) -> None:
    found = read(tmp_path, f'{TEAM}kickoff: "{kickoff}"')
    assert references.woken(found) == woken
    assert found.warnings == (() if woken else ("The kickoff mentions nobody, so it wakes nobody.",))


def test_without_a_kickoff_there_is_a_warning(tmp_path: Path) -> None:
    assert read(tmp_path, TEAM).warnings == ("There is no kickoff: the agents wait until somebody speaks to them.",)


def test_what_is_said_nearer_to_an_agent_goes_before_the_rest(tmp_path: Path) -> None:
    write(tmp_path / "home", "defaults: {permissions: full, workspace: none, timeout: 1m}", ".moot/config.yaml")
    write(tmp_path, "defaults: {permissions: read-only, timeout: 2m, model: haiku}", ".moot/config.yaml")
    write(tmp_path, "---\nmodel: opus\ntimeout: 4m\n---\nYou lead.", ".moot/agents/lead.md")
    text = """
defaults: {model: sonnet, permissions: edit, timeout: 3m}
agents:
  own: {timeout: 5m}
  lead: {from: lead}
  both: {from: lead, model: anthropic/claude-x}
  person: {backend: human}
"""
    found = {agent.name: agent for agent in read(tmp_path, text).agents}
    facts = {name: (one.model, one.timeout and one.timeout.total_seconds()) for name, one in found.items()}
    assert facts == {
        "own": ("anthropic/sonnet", 300),
        "lead": ("anthropic/opus", 240),
        "both": ("anthropic/claude-x", 240),
        "person": ("sonnet", 180),
    }
    assert {one.permissions for one in found.values()} == {PRESETS["edit"]}
    assert {one.workspace for one in found.values()} == {"none"}
    assert found["lead"].system_prompt == "You lead."
    flagged = read(tmp_path, text, Flags(backend="claude", permissions="full"))
    assert [agent.backend for agent in flagged.agents] == ["claude", "claude", "claude", "human"]
    assert flagged.agents[0].permissions == Permissions("allow", "allow", "allow")


def test_wrong_defaults_in_the_configuration_are_told_with_their_place(tmp_path: Path) -> None:
    write(tmp_path, "store: x\ndefaults:\n  permisions: edit", ".moot/config.yaml")
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, TEAM)
    assert ".moot/config.yaml:3:3: `permisions` is no key of `defaults`. Did you mean `permissions`?" in str(
        caught.value
    )


def test_a_setting_that_nobody_knows_is_told_before_a_run(tmp_path: Path) -> None:
    write(tmp_path, "attempt_time_out: 1h", ".moot/config.yaml")
    with pytest.raises(ConfigInvalid, match="no setting `attempt_time_out`"):
        read(tmp_path, TEAM)


def test_a_workflow_is_found_by_path_or_by_name(tmp_path: Path) -> None:
    project = Project(tmp_path)
    ours = write(tmp_path, TEAM, ".moot/workflows/fix.yaml")
    write(tmp_path / "home", TEAM, ".moot/workflows/fix.yml")
    theirs = write(tmp_path / "home", TEAM, ".moot/workflows/other.yml")
    nested = write(tmp_path, TEAM, ".moot/workflows/team/review.yaml")
    coloned = write(tmp_path, TEAM, ".moot/workflows/a:b.yaml")
    beside = write(tmp_path, TEAM, "review.yaml")
    write(tmp_path, TEAM, ".moot/x.yaml")
    named = {name: workflows.find(project, name) for name in ("fix", "other", "team:review", "a:b", "review.yaml")}
    assert named == {
        "fix": ours,
        "other": theirs,
        "team:review": nested,
        "a:b": coloned,
        "review.yaml": Path(beside.name),
    }
    assert list(workflows.names(project)) == ["a:b", "fix", "team:review", "other"]
    for absent in ("absent", "absent.yaml", "./fix", "..:x", ""):
        with pytest.raises(WorkflowNotFound):
            workflows.find(project, absent)


def test_a_loaded_workflow_has_its_values_and_its_files_named(tmp_path: Path) -> None:
    text = "inputs: {n: {type: number}, xs: {type: array}}\n"
    text += "context: {config: {dir: 'talk/${{ inputs.n }}/', document: '${{ instance }}.md'}}\n" + TEAM
    write(tmp_path, text, "w.yaml")
    loaded = workflows.load(Project(tmp_path), "w.yaml", "pr-1", ("n=4", "xs=a,b"))
    assert (loaded.source, loaded.workflow.context.dir, loaded.workflow.context.document) == (
        "w.yaml", "talk/4/", "pr-1.md",
    )  # fmt: skip
    assert loaded.given == {
        "workflow.name": "w",
        "workflow.instance": "pr-1",
        "instance": "pr-1",
        "inputs.n": 4,
        "inputs.xs": ["a", "b"],
        "context.channel": "talk/4/channel.md",
        "context.document": "talk/4/pr-1.md",
    }
    assert [one.name for one in loaded.members] == ["lead", "coder", "ana"]
    with pytest.raises(InputInvalid):
        workflows.load(Project(tmp_path), "w.yaml", "pr-1", ("n=x",))


def test_agents_that_cannot_be_run_are_named_where_they_would_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PATH", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "")
    text = "agents: {a: {model: sonnet}, b: {backend: codex}, c: {backend: external, workspace: worktree}}"
    write(tmp_path, text, "w.yaml")
    assert len(workflows.read(Project(tmp_path), tmp_path / "w.yaml").agents) == 3
    with pytest.raises(BackendUnavailable) as caught:
        workflows.load(Project(tmp_path), "w.yaml", "default")
    assert caught.value.fact.splitlines()[1:] == [
        "  a: nothing here can run anthropic/sonnet",
        "  b: the program codex was not found",
        "  c: who comes by itself has no worktree from the beginning",
    ]
    assert "Set ANTHROPIC_API_KEY." in caught.value.remedy
    assert "npm install -g @openai/codex" in caught.value.remedy


def test_the_chosen_backend_is_kept_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = write(tmp_path, "#!/bin/sh\n", "bin/claude")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    write(tmp_path, "agents: {a: {model: sonnet}, b: {script: []}, c: {backend: claude}}", "w.yaml")
    loaded = workflows.load(Project(tmp_path), "w.yaml", "default")
    assert [one.backend for one in loaded.workflow.agents] == ["claude", "scripted", "claude"]
    assert [one.backend for one in loaded.members] == ["claude", "scripted", "claude"]
    assert {name: one.why for name, one in loaded.choices.items()} == {
        "a": "claude is installed",
        "b": "its script",
        "c": "agents.c.backend in w.yaml",
    }


def test_models_of_the_configuration_are_known_and_wrong_ones_told_with_their_place(tmp_path: Path) -> None:
    config = "models: {aliases: {fast: lab/m}, providers: {lab: {base_url: 'http://127.0.0.1:9/v1'}}}\n"
    write(tmp_path, config, ".moot/config.yaml")
    (agent,) = read(tmp_path, "agents: {a: {model: fast}}").agents
    assert agent.model == "lab/m"
    write(tmp_path, "models: {provider: {}}\n", ".moot/config.yaml")
    with pytest.raises(WorkflowInvalid, match=r"config.yaml:1:10: `provider` is no key of `models`"):
        read(tmp_path, "agents: {a: {model: sonnet}}")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("base_url: 'lab.example/v1'", "'lab.example/v1' does not begin with http:// or https://"),
        ("keys: [sk-1234]", "this is no name of a variable that ends with _KEY or _TOKEN. Write the variable's name"),
    ],
)
def test_a_provider_of_the_configuration_is_checked_in_words(tmp_path: Path, said: str, told: str) -> None:
    write(tmp_path, f"models: {{providers: {{lab: {{{said}}}}}}}\n", ".moot/config.yaml")
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, "agents: {a: {model: sonnet}}")
    assert told in str(caught.value)
    assert "^" not in str(caught.value)
    assert "sk-1234" not in str(caught.value)


def test_everybody_who_takes_part_is_told_to_the_backend(tmp_path: Path) -> None:
    for name, said in (("wise", "chat: true\nagents: [search]"), ("search", "description: seeks"), ("other", "")):
        write(tmp_path, f"---\nanswers: [{{say: hi}}]\n{said}\n---\n", f"{name}.md")
    text = "agents: {desk: {answers: [{say: x}], advisors: [wise]}, alone: {answers: [{say: y}]}}\nkickoff: '@desk hi'"
    casting = workflows.cast(Project(tmp_path), write(tmp_path, text))
    assert (set(casting.choices), casting.obstacles) == ({"desk", "alone", "wise", "search"}, {})
    desk, alone = workflows.members(casting.complete())
    told = stored.definitions("desk", "scripted", desk.settings)
    assert [one.name for one in told] == ["desk", "wise", "search"]
    assert "cast" not in alone.settings


def test_everybody_is_settled_as_this_machine_can(tmp_path: Path) -> None:
    file = write(tmp_path, "---\nmodel: haiku\nhandoff: b\n---\n", "a.md")
    write(tmp_path, "---\nmodel: openai/gpt-5\n---\n", "b.md")
    machine = Machine({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "o"})
    found = workflows.cast_agent(Project(tmp_path), file, machine)
    assert [one.env for one in found.complete().everybody.values()] == [("ANTHROPIC_API_KEY",), ("OPENAI_API_KEY",)]
    assert found.choices["b"].why == "how it works with others"
    alone = workflows.cast_agent(Project(tmp_path), file, Machine({"ANTHROPIC_API_KEY": "k"}))
    assert alone.obstacles["b"].fact == "there is no key for openai"


def test_the_kickoff_speaks_to_agents_of_the_workflow_alone(tmp_path: Path) -> None:
    write(tmp_path, "---\nmodel: haiku\n---\n", "b.md")
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, "agents: {a: {model: haiku, handoff: b}}\nkickoff: '@b hi'")
    assert "`kickoff` mentions @b, who is not among the agents." in str(caught.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("final_report: {report: x}", None),
        ("team_broadcast: {message: x}", None),
        ("result_read: {handle: x}", None),
        ("handoff_to: {agent: b}", None),
        ("agent_c: {prompt: x}", None),
        ("ask_clarification: {id: x, question: y}", None),
        ("agent_b: {prompt: x}", "a.md:5:21: there is no tool `agent_b`. Did you mean `agent_c`?"),
        ("final_reprt: {report: x}", "a.md:5:21: there is no tool `final_reprt`. Did you mean `final_report`?"),
    ],
)
def test_a_scripted_model_calls_what_its_patterns_give_it(tmp_path: Path, call: str, said: str | None) -> None:
    head = f"---\nrouter: {{destinations: [b]}}\nagents: [c]\n# calls\nanswers: [{{calls: [{{{call}}}]}}]\n---\n"
    file = write(tmp_path, head, "a.md")
    for name in "bc":
        write(tmp_path, "---\nanswers: [{say: hi}]\n---\n", f"{name}.md")
    if said is None:
        assert workflows.cast_agent(Project(tmp_path), file).obstacles == {}
        return
    with pytest.raises(WorkflowInvalid) as caught:
        workflows.cast_agent(Project(tmp_path), file)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("list", "`list` cannot be called as a sub-agent: `agent_list` is a tool of moot itself. Give the agent"),
        ("x" * 59, "cannot be called as a sub-agent: its name is too long for a tool. Use up to 58 characters."),
    ],
)
def test_a_sub_agent_has_a_name_that_a_tool_can_have(tmp_path: Path, name: str, said: str) -> None:
    write(tmp_path, f"---\nagents:\n  - {name}\nanswers: [{{say: hi}}]\n---\n", "a.md")
    write(tmp_path, "---\nanswers: [{say: hi}]\n---\n", f"{name}.md")
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, "agents: {a: {from: a.md}}")
    (fault,) = caught.value.faults
    assert (Path(fault.file).name, fault.line, fault.column) == ("a.md", 3, 5)
    assert said in f"{fault.fact} {fault.remedy}"


def test_the_name_of_an_agent_file_is_that_of_an_agent(tmp_path: Path) -> None:
    file = write(tmp_path, "---\nmodel: haiku\nagents: [all, B, b]\n---\n", "a.md")
    for name in ("all", "B", "b"):
        write(tmp_path, "---\nmodel: haiku\n---\n", f"{name}.md")
    with pytest.raises(WorkflowInvalid) as caught:
        workflows.cast_agent(Project(tmp_path), file)
    assert [(Path(one.file).name, one.fact) for one in caught.value.faults] == [
        ("all.md", "`agents.all`: The name 'all' is kept for moot itself."),
        ("b.md", "`agents.b` and `agents.B` are the same name."),
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "models: {providers: {openai: {api: openai, base_url: 'http://127.0.0.1:9/v1', keys: [OPENAI_API_KEY]}}}",
            "`models.providers.openai` comes with the project and would send the key of openai (OPENAI_API_KEY) to",
        ),
        (
            "models: {providers: {lab: {base_url: 'http://127.0.0.1:9/v1', keys: [LAB_KEY, GEMINI_API_KEY]}}}",
            "the key of google (GEMINI_API_KEY)",
        ),
        ("models: {providers: {groq: {base_url: 'http://127.0.0.1:9/v1'}}}", "what is meant for groq"),
        ("models: {providers: {groq: {keys: [GROQ_API_KEY]}}}", "the key of groq"),
        ("models: {providers: {x: {base_url: 'http://127.0.0.1:9/v1', keys: [WORK_KEY]}}}", "the key of work"),
        ("defaults: {base_url: 'http://127.0.0.1:9/v1'}", "write it into your own ~/.moot/config.yaml"),
    ],
)
def test_a_project_sends_no_known_key_elsewhere_but_the_person_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, told: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    work = "models: {providers: {work: {base_url: 'https://work.example/v1', keys: [WORK_KEY]}}}\n"
    write(tmp_path / "home", work, ".moot/config.yaml")
    write(tmp_path, f"{said}\n", ".moot/config.yaml")
    with pytest.raises(WorkflowInvalid) as caught:
        read(tmp_path, "agents: {a: {model: sonnet}}")
    assert f"{tmp_path}/.moot/config.yaml:1:" in str(caught.value)
    assert told in f"{caught.value} {caught.value.remedy}"
    (tmp_path / ".moot/config.yaml").rename(tmp_path / "home/.moot/config.yaml")
    assert read(tmp_path, "agents: {a: {model: sonnet}}").agents


def test_a_project_may_name_another_key_for_a_known_provider_at_its_address(tmp_path: Path) -> None:
    said = "models: {providers: {anthropic: {api: anthropic, keys: [WORK_KEY]}}}\n"
    write(tmp_path, said, ".moot/config.yaml")
    assert read(tmp_path, "agents: {a: {model: sonnet}}").agents
