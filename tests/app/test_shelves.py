"""Workflows are found by name in the project, then among the person's own, and spelled exactly."""

import os
from pathlib import Path

import pytest

from moot.app import shadows
from moot.app.project import Project
from moot.app.shadows import Shadow
from moot.app.shelves import Shelves
from moot.core.library import Library
from moot.engine.files import compiling
from moot.workflow import finding
from moot.workflow.finding import WorkflowNotFound
from moot.workflow.workflow import WorkflowInvalid

EXIT = "steps: [{type: exit}]\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "p").mkdir()
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path


def write(file: Path, text: str = EXIT) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def shelves(here: Path) -> Shelves:
    return Shelves(Project(here / "p"))


def test_names_are_looked_for_in_a_fixed_order(here: Path) -> None:
    library: Library = shelves(here)
    spellings = ("a:b.yaml", "a:b.yml", "a/b.yaml", "a/b.yml")
    roots = ("p/.moot", "p/.aromcp", "home/.moot", "home/.aromcp")
    files = [write(here / root / "workflows" / spelling) for root in roots for spelling in spellings]
    for file in files:
        found = library.find("a:b")
        origin = "project" if "/p/" in str(file) else "global"
        assert (found.path, found.origin, found.name) == (str(file), origin, "a:b")
        theirs = [str(one) for one in files if one.exists() and "/home/" in str(one)]
        assert found.shadows == (theirs[0] if origin == "project" else "")
        file.unlink()


def test_a_source_has_all_that_is_run(here: Path) -> None:
    include = "steps: [{id: x, type: include_workflow, workflow: 'lib:x'}]"
    write(here / "home/.moot/workflows/w.yaml", f"imports: [lib/y.yaml]\n{include}\n")
    write(here / "home/.moot/workflows/lib/y.yaml", "sub_agent_tasks: {}\n")
    write(here / "p/.moot/workflows/lib/x.yaml")
    found = shelves(here).find("w")
    names = ["~/.moot/workflows/w.yaml", "~/.moot/workflows/lib/y.yaml", ".moot/workflows/lib/x.yaml"]
    assert [name for name, _ in found.files] == names
    assert compiling.compiled(found.files).steps[0].detail.definition.name == "x"


def test_what_is_not_found_is_told_with_where_was_looked(here: Path) -> None:
    looked = "Looked in .moot/workflows, .aromcp/workflows, ~/.moot/workflows, ~/.aromcp/workflows."
    with pytest.raises(WorkflowNotFound) as caught:
        shelves(here).find("standards:fix")
    put = "Write the path of a file, or put it into .moot/workflows/; moot init writes a first one."
    assert str(caught.value) == f"There is no workflow `standards:fix`. {put} {looked}"
    write(here / "p/.moot/workflows/standards/fix.yaml")
    with pytest.raises(WorkflowNotFound) as caught:
        shelves(here).find("standard:fix")
    assert str(caught.value) == f"There is no workflow `standard:fix`. Did you mean `standards:fix`? {looked}"


@pytest.mark.parametrize(
    "name", ["", ":", "a:", ":x", "..", "..:x", "a:..:x", "../x", "/x", "a/x", ".:x", "x\0", "x" * 5000]
)
def test_no_name_leads_anywhere_else(here: Path, name: str) -> None:
    for file in ("p/.moot/x.yaml", "p/.moot/workflows/x.yaml", "p/.moot/workflows/a/x.yaml", "p/x.yaml"):
        write(here / file)
    with pytest.raises(WorkflowNotFound):
        shelves(here).find(name)


def test_capitals_are_not_small_letters(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(here / "p/.moot/workflows/team/Fix.yaml")

    def is_file(one: Path) -> bool:  # as where the system does not tell them apart
        return str(one).casefold() == str(file).casefold()

    monkeypatch.setattr(Path, "is_file", is_file)
    assert (here / "p/.moot/workflows/team/fix.yaml").is_file()
    assert [str(one) for one in finding.named("team:Fix", shelves(here).folders)] == [str(file)]
    for name in ("team:fix", "Team:Fix", "team:FIX"):
        assert list(finding.named(name, shelves(here).folders)) == []


def test_what_is_wrong_is_told_before_it_is_started(here: Path) -> None:
    text = "inputs: {n: {type: number, default: x}}\nstps: 1\nsteps: [{type: exi}]"
    file = write(here / "p/.moot/workflows/w.yaml", text)
    with pytest.raises(WorkflowInvalid) as caught:
        shelves(here).find("w")
    assert [(one.file, one.line, one.column) for one in caught.value.faults] == [
        (str(file), 1, 37),
        (str(file), 2, 1),
        (str(file), 3, 16),
    ]
    write(file, "agents: {a: {script: []}}")
    with pytest.raises(WorkflowInvalid, match="has no steps"):
        shelves(here).find("w")


def test_those_with_steps_are_listed(here: Path) -> None:
    ours = write(here / "p/.moot/workflows/a/b.yaml", "description: Checks.\n" + EXIT)
    write(here / "home/.moot/workflows/a:b.yaml", "description: Not this one.\n" + EXIT)
    theirs = write(here / "home/.aromcp/workflows/c.yml", "workflow:\n  description: Shared.\n  " + EXIT)
    broken = write(here / "p/.aromcp/workflows/d.yaml", "steps: [")
    write(here / "p/.moot/workflows/talk.yaml", "agents: {}")
    write(here / "p/.moot/workflows/list.yaml", "- a")
    found = shelves(here).listed()
    assert [(one.name, one.path, one.origin) for one in found] == [
        ("a:b", str(ours), "project"),
        ("c", str(theirs), "global"),
        ("d", str(broken), "project"),
    ]
    assert [one.description for one in found[:2]] == ["Checks.", "Shared."]
    assert "is not YAML" in found[2].description
    assert [one.name for one in shelves(here).listed(with_global=False)] == ["a:b", "d"]


def test_what_is_hidden_is_told_once_for_each_pair_of_files(here: Path) -> None:
    project = Project(here / "p")
    ours, theirs = write(here / "p/.moot/workflows/w.yaml"), write(here / "home/.moot/workflows/w.yaml")
    shadow = shadows.of(project, "w", ours)
    assert shadow is not None
    assert shadow == Shadow("w", str(ours), str(theirs))
    assert shadow.told == f"w is that of this project ({ours}), and not your own ({theirs})."
    assert not shadows.is_known(project, shadow)
    shadows.remember(project, shadow)
    shadows.remember(project, shadow)
    assert shadows.is_known(project, shadow)
    assert len((project.folder / "moot.shadows").read_text().splitlines()) == 1
    assert not shadows.is_known(project, Shadow("w", str(ours), "another"))
    os.unlink(theirs)
    assert shadows.of(project, "w", ours) is None
