"""A file of agents is checked whole before anything is done with it."""

from pathlib import Path

import pytest

from moot.app import scenario
from moot.app.scenario import ScenarioInvalid
from moot.core.errors import MootError
from moot.core.yaml import YamlInvalid


def write(folder: Path, text: str) -> Path:
    file = folder / "agents.yaml"
    file.write_text(text)
    return file


def test_agents_and_the_first_words_are_read(tmp_path: Path) -> None:
    file = write(tmp_path, "agents: {coder: {description: writes, script: [{on: hi, say: yes}]}}\nkickoff: '@coder hi'")
    found = scenario.load(file)
    assert found.kickoff == "@coder hi"
    (coder,) = found.agents
    assert (coder.name, coder.backend, coder.label, coder.metadata) == (
        "coder",
        "scripted",
        "writes",
        {"source": "agents.yaml"},
    )
    assert coder.settings["script"] == [{"on": "hi", "say": "yes"}]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("agents: {}", ScenarioInvalid),
        ("agents: {a: {scrip: []}}", ScenarioInvalid),
        ("agents: {a: {backend: magic}}", ScenarioInvalid),
        ("agents: {a: {script: [{on: '('}]}}", ScenarioInvalid),
        ("agents: {a: {script: [{takes: soon}]}}", ScenarioInvalid),
        ("agents: {a: {script: [{say: 3}]}}", ScenarioInvalid),
        ("agents: {human: {}}", ScenarioInvalid),
        ("agents: {a b: {}}", ScenarioInvalid),
        ("agents: [", YamlInvalid),
        ("", ScenarioInvalid),
        ("unknown: 1\nagents: {a: {}}", ScenarioInvalid),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, error: type[MootError]) -> None:
    with pytest.raises(error) as caught:
        scenario.load(write(tmp_path, text))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agents:\n  a:\n    scrip: []", "agents.yaml:3:5: `scrip` is no key of `agents.a`. Did you mean `script`?"),
        (
            "unknown: 1\nagents: {a: {}}",
            "agents.yaml:1:1: `unknown` is no key of this file. Known are: agents, kickoff,",
        ),
        ("kickoff: hi", "agents.yaml:1:1: `agents` is missing in this file. Add it."),
        ("agents: {}", "agents.yaml:1:9: `agents` must not be empty."),
        ("agents:\n  human: {}", "agents.yaml:2:3: `agents.human`: The name 'human' is kept for moot itself."),
        (
            "agents:\n  a: {script: [{say: hi}, {say: 3}]}",
            "agents.yaml:2:33: `agents.a.script item 2, say` must be text",
        ),
        ("agents:\n  a: {backend: external, transport: mpc}", "Did you mean mcp?"),
        ("agents:\n  a:\n    script:\n    - say: @b hi", "agents.yaml:4:12 is not YAML"),
        ("", "agents.yaml is empty."),
    ],
)
def test_an_error_names_the_place_in_our_own_words(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(MootError) as caught:
        scenario.load(write(tmp_path, text))
    assert said in str(caught.value)


def test_tools_that_there_are_not_are_found_before_a_line_is_played(tmp_path: Path) -> None:
    lines = "[{say: hi}, {calls: [{channel_read: {}}, {chanel_send: {message: hi}}, {dance: {}}]}]"
    with pytest.raises(ScenarioInvalid) as caught:
        scenario.load(write(tmp_path, f"agents:\n  a: {{script: {lines}}}"))
    _, near, far = caught.value.fact.splitlines()
    assert near.endswith("agents.yaml:2:57: there is no tool `chanel_send`. Did you mean `channel_send`?")
    assert "there is no tool `dance`. Known are: agent_get, " in far


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioInvalid, match="No such file"):
        scenario.load(tmp_path / "absent.yaml")
