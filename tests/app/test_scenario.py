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


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioInvalid, match="No such file"):
        scenario.load(tmp_path / "absent.yaml")
