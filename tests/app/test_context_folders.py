"""A workflow's files lie where nothing else is harmed, and it is refused before anything is written."""

from pathlib import Path

import pytest

from moot.app import workflows
from moot.app.project import Project
from moot.core.errors import MootError
from moot.workflow.workflow import WorkflowInvalid

TEAM = "agents: {ana: {backend: human}}\n"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def write(folder: Path, config: str, before: str = "") -> Path:
    file = folder / "w.yaml"
    file.write_text(f"{before}{TEAM}context:\n  config:\n    {config}\n")
    return file


@pytest.mark.parametrize(
    "name",
    ["../../victim.txt", "/etc/motd.txt", "a/talk.md", "..", ".hidden.md", "proposals.json", "inboxes", "talk",
     "talk.py", "CLAUDE.md", "agents.md", "notes.md", "Notes.MD", "notes.conflict-1.md"],
)  # fmt: skip
def test_a_channel_is_one_file_that_nothing_else_is(tmp_path: Path, name: str) -> None:
    with pytest.raises(WorkflowInvalid) as caught:
        workflows.read(Project(tmp_path), write(tmp_path, f"channel: {name}"))
    assert "w.yaml:4:14: `context.config.channel` cannot be " in caught.value.fact


@pytest.mark.parametrize("name", ["channel.md", "Channel.md", "talk.txt", "Über uns.md"])
def test_a_channel_may_have_any_plain_name(tmp_path: Path, name: str) -> None:
    assert workflows.read(Project(tmp_path), write(tmp_path, f"channel: {name}")).context.channel == name


def test_a_channel_is_no_other_document_either(tmp_path: Path) -> None:
    file = write(tmp_path, "channel: goals.md\n    document: a.md\n    documents: [b.md, Goals.md]")
    with pytest.raises(WorkflowInvalid, match="That is a document"):
        workflows.read(Project(tmp_path), file)


@pytest.mark.parametrize(
    "folder",
    ["../outside", "a/../../b", ".git/x", ".GIT/x", "modules/.git", "/tmp/x", ".//tmp/x", ".", "./", ".moot/x",
     ".workflow", ".workflow/a/b", ".Workflow/default"],
)  # fmt: skip
def test_a_folder_that_is_not_below_the_project_is_refused_with_its_place(tmp_path: Path, folder: str) -> None:
    with pytest.raises(WorkflowInvalid) as caught:
        workflows.read(Project(tmp_path), write(tmp_path, f"dir: {folder}"))
    assert f"w.yaml:4:10: `context.config.dir` cannot be '{folder}'" in caught.value.fact


@pytest.mark.parametrize("folder", ["talk", "./talk/", "a/b/c", ".workflow/${{ instance }}/", ".workflow/default"])
def test_a_folder_below_the_project_is_taken(tmp_path: Path, folder: str) -> None:
    write(tmp_path, f"dir: {folder}")
    assert workflows.load(Project(tmp_path), "w.yaml", "default").workflow.context.dir


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ("document: channel.md", "w.yaml:4:15: `context.config.document`: 'channel.md'"),
        ("document: ../x.md", "w.yaml:4:15: `context.config.document`: '../x.md'"),
        ("documents: [a.md, proposals.json]", "w.yaml:4:23: `context.config.documents item 2`: 'proposals.json'"),
    ],
)
def test_documents_that_cannot_be_are_found_before_a_run(tmp_path: Path, config: str, place: str) -> None:
    with pytest.raises(WorkflowInvalid) as caught:
        workflows.read(Project(tmp_path), write(tmp_path, config))
    assert place in caught.value.fact


@pytest.mark.parametrize("key", ["dir", "channel", "document"])
@pytest.mark.parametrize("value", ["../../victim.txt", "${{ x }}/../a.md"])
def test_what_a_variable_stands_for_is_checked_when_it_is_known(tmp_path: Path, key: str, value: str) -> None:
    file = write(tmp_path, f"{key}: ${{{{ inputs.at }}}}", "inputs: {at: {}}\n")
    assert workflows.read(Project(tmp_path), file)
    with pytest.raises(MootError, match=f"context.config.{key}"):
        workflows.load(Project(tmp_path), "w.yaml", "default", (f"at={value}",))


def test_a_folder_of_another_instance_is_not_taken(tmp_path: Path) -> None:
    write(tmp_path, "dir: .workflow/other")
    with pytest.raises(WorkflowInvalid, match=r"context\.config\.dir"):
        workflows.load(Project(tmp_path), "w.yaml", "default")
