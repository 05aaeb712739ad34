"""Servers of others are declared near or far from an agent, and get no variable that they may not have."""

from pathlib import Path

import pytest

from moot.core import yaml
from moot.core.servers import Server
from moot.workflow import reading, stored
from moot.workflow.finding import Folders
from moot.workflow.reading import Surroundings
from moot.workflow.workflow import Workflow, WorkflowInvalid

ENVIRON = {"HOME": "/h", "LAB_TOKEN": "s3cret", "REGION": "north"}
AGENT = "agents: {a: {answers: [1], tools: ['mcp:git'], mcp_servers: {git: %s}}}\n"


def load(folder: Path, text: str, *, project: str = "", own: str = "") -> Workflow:
    """With what stands in the configuration of the project and in the person's own."""
    file = folder / "team.yaml"
    file.write_text(text)
    configs = [(str(folder / ".moot/config.yaml"), project), ("/h/.moot/config.yaml", own)]
    documents = tuple(yaml.read(said, name) for name, said in configs if said)
    around = Surroundings(Folders(), documents, "/h/.moot/config.yaml", environ=ENVIRON)
    return reading.draft(file, around).finish()


def servers(workflow: Workflow) -> dict[str, tuple[Server, ...]]:
    return {name: one.servers for name, one in workflow.everybody.items()}


def fault(folder: Path, text: str, **configs: str) -> str:
    with pytest.raises(WorkflowInvalid) as caught:
        load(folder, text, **configs)
    (one,) = caught.value.faults
    return f"{Path(one.file).name}:{one.line}:{one.column}: {one.fact} {one.remedy}"


def test_only_what_is_named_among_the_tools_is_connected_to(tmp_path: Path) -> None:
    text = "mcp_servers: {git: {command: g}, web: {url: 'http://h/mcp'}}\nagents:\n"
    text += "  a: {answers: [1], tools: ['mcp:git/log', 'mcp:git/show']}\n  b: {answers: [1]}\n"
    found = servers(load(tmp_path, text))
    assert found == {"a": (Server("git", ("g",), variables={}),), "b": ()}


def test_the_nearest_declaration_counts(tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("---\nmcpServers: {two: {command: file}, one: {command: file}}\n---\n")
    text = """
mcpServers: {one: {command: workflow}, two: {command: workflow}, three: {command: workflow}}
agents:
  a:
    from: file.md
    answers: [1]
    tools: ['mcp:one', 'mcp:two', 'mcp:three', 'mcp:four', 'mcp:five']
    mcp_servers: {one: {command: agent}}
"""
    project = "mcp_servers: {three: {command: project}, four: {command: project}}"
    own = "mcpServers: {four: {command: own}, five: {command: own}}"
    found = servers(load(tmp_path, text, project=project, own=own))["a"]
    assert [(one.name, one.command[0], Path(one.source).name) for one in found] == [
        ("one", "agent", "team.yaml"),
        ("two", "file", "file.md"),
        ("three", "workflow", "team.yaml"),
        ("four", "project", "config.yaml"),
        ("five", "own", "config.yaml"),
    ]
    assert (found[3].source, found[4].source) == (".moot/config.yaml", "~/.moot/config.yaml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (AGENT % "{comand: g}", "1:62: The MCP server 'git' is not declared rightly: it has no setting 'comand'. Did"),
        (AGENT % "{command: g, url: 'http://h'}", "it needs either a command or a url. Write one of them."),
        (AGENT % "{url: 'http://h', headers: {A: 'Bearer abcdefgh'}}", "has a secret in its declaration. Put it into"),
        (
            AGENT % "{command: g, env: [LAB_TOKEN]}",
            (
                "1:62: `agents.a.mcp_servers.git` would be given LAB_TOKEN, which may be a secret. "
                "If it may have it, write env: [LAB_TOKEN] in the workflow, or declare the server in ~/.moot"
            ),
        ),
        (AGENT % "{command: g, env: [NOWHERE]}", "needs NOWHERE, which is not set in the environment. Set it: export"),
        ("env: [NOWHERE]\n" + AGENT % "{command: g, env: [NOWHERE]}", "2:62: `agents.a.mcp_servers.git` needs NOWHERE"),
        (
            "mcp_servers: {a_b: {command: g}, a-b: {command: g}}\nagents: {a: {answers: [1]}}",
            "1:34: The servers 'a_b' and 'a-b' cannot be told apart. Rename one.",
        ),
        (
            "agents: {a: {backend: claude, tools: [inbox, shell]}}",
            "1:23: `a` has the tool `shell`, which needs the backend api, and it runs on claude. Write backend: api,",
        ),
        ("agents: {a: {script: [], tools: ['mcp:git']}}", "`a` has the tool `mcp:git`, which needs the backend api"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    assert said in fault(tmp_path, text)


def test_a_mistake_in_a_configuration_is_told_with_its_place(tmp_path: Path) -> None:
    found = fault(tmp_path, "agents: {a: {answers: [1]}}", project="mcp_servers:\n  git: {args: [x]}")
    assert found.startswith("config.yaml:2:3: The MCP server 'git' is not declared rightly: it needs either")


def test_what_is_not_used_needs_no_variables(tmp_path: Path) -> None:
    text = "mcp_servers: {git: {command: g, env: [LAB_TOKEN, NOWHERE]}}\nagents: {a: {answers: [1]}}"
    assert servers(load(tmp_path, text)) == {"a": ()}


def test_variables_are_those_that_are_allowed_with_what_stands_in(tmp_path: Path) -> None:
    text = "env: {LAB_TOKEN: , DEPTH: 3}\n" + AGENT % "{command: g, env: [LAB_TOKEN, REGION, DEPTH]}"
    (found,) = servers(load(tmp_path, text))["a"]
    assert found.variables == {"LAB_TOKEN": None, "REGION": None, "DEPTH": "3"}
    assert found.seen({**ENVIRON, "OTHER": "x"}) == {"LAB_TOKEN": "s3cret", "REGION": "north", "DEPTH": "3"}


def test_ones_own_configuration_may_use_every_variable(tmp_path: Path) -> None:
    declared = "mcp_servers: {git: {command: g, env: {X: '${LAB_TOKEN}'}}}"
    text = "agents: {a: {answers: [1], tools: ['mcp:git']}}"
    (found,) = servers(load(tmp_path, text, own=declared))["a"]
    assert found.variables == {"LAB_TOKEN": None}
    assert "LAB_TOKEN, which may be a secret" in fault(tmp_path, text, project=declared)


def test_an_optional_server_may_lack_its_variables(tmp_path: Path) -> None:
    (found,) = servers(load(tmp_path, AGENT % "{command: g, env: [NOWHERE], optional: true}"))["a"]
    assert found.seen(ENVIRON) == {}


def test_an_agent_with_such_tools_is_run_over_an_api(tmp_path: Path) -> None:
    (found,) = load(tmp_path, "agents: {a: {model: sonnet, tools: [files]}}").agents
    assert found.backend == "api"


def test_servers_are_kept_with_the_agent(tmp_path: Path) -> None:
    said = "{command: g, args: [-v], env: [REGION], allow: ['get_*'], deny: [get_x], timeout: 5s, optional: true}"
    (agent,) = load(tmp_path, AGENT % said).agents
    (found,) = stored.definitions("a", "scripted", stored.settings(agent))
    assert found.servers == agent.servers
    assert (found.servers[0].command, found.servers[0].allow, found.servers[0].timeout) == (("g", "-v"), ("get_*",), 5)


def test_a_server_that_no_agent_names_is_warned_of_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "help.md").write_text("---\nanswers: [{say: hi}]\nmcp_servers:\n  lost: {command: l}\n---\n")
    text = """mcp_servers: {git: {command: g}, web: {url: 'http://h/mcp'}}
agents:
  a: {answers: [{say: hi}], tools: ['mcp:git/log', 'mcp:own'], agents: [help]}
  b: {answers: [{say: hi}], mcp_servers: {own: {command: o}}}
"""
    found = load(tmp_path, text.replace(", 'mcp:own'", ""), project="mcp_servers: {far: {command: f}}").warnings
    unnamed = [("team.yaml:1:34", "web"), ("team.yaml:4:43", "own"), ("help.md:4:3", "lost")]
    told = "{}: no agent names the MCP server `{}`. Write tools: [mcp:{}] where it is wanted."
    assert list(found) == [str(tmp_path / told.format(at, name, name)) for at, name in unnamed]
    alone = reading.draft_agent(tmp_path / "help.md", Surroundings(Folders(), environ=ENVIRON)).finish()
    assert alone.warnings == (str(tmp_path / told.format("help.md:4:3", "lost", "lost")),)


def test_servers_of_different_places_that_cannot_be_told_apart_are_not_given_to_one_agent(tmp_path: Path) -> None:
    text = "mcp_servers: {a_b: {command: g}}\nagents: {a: {answers: [1], tools: ['mcp:a_b', 'mcp:a-b']}}"
    told = fault(tmp_path, text, project="mcp_servers: {a-b: {command: g}}")
    assert told == "config.yaml:1:15: The servers 'a_b' and 'a-b' cannot be told apart. Rename one."
    load(tmp_path, text.replace(", 'mcp:a-b'", ""), project="mcp_servers: {a-b: {command: g}}")
