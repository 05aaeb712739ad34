"""A definition is gathered whole: what it imports, what it includes by name, and nothing from anywhere else."""

from pathlib import Path

import pytest

from moot.app import flow_files, workflows
from moot.app.project import Project
from moot.engine.files import compiling
from moot.workflow.workflow import Workflow, WorkflowInvalid

EXIT = "steps: [{type: exit}]\n"


def include(workflow: str) -> str:
    return f"steps: [{{id: x, type: include_workflow, workflow: {workflow}}}]\n"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "p").mkdir()
    monkeypatch.chdir(tmp_path / "p")


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def read(folder: Path, target: str = "w.yaml") -> Workflow:
    project = Project(folder / "p")
    return workflows.read(project, workflows.find(project, target))


def refused(folder: Path, target: str = "w.yaml") -> list[str]:
    with pytest.raises(WorkflowInvalid) as caught:
        read(folder, target)
    return [f"{one.file}:{one.line}:{one.column}: {one.fact} {one.remedy}" for one in caught.value.faults]


def test_everything_that_a_file_leads_to_is_kept_with_it(tmp_path: Path) -> None:
    here = tmp_path / "p"
    write(here / "flows/w.yaml", "imports: [lib/one.yaml]\n" + include("one") + "# end\n")
    write(here / "flows/lib/one.yaml", "imports: [../two.yaml]\n" + include("two"))
    write(here / "flows/two.yaml", "workflow:\n  " + include("a:b"))
    write(here / ".aromcp/workflows/a/b.yaml", "imports: [c.yaml]\n" + EXIT)
    write(here / ".aromcp/workflows/a/c.yaml", "sub_agent_tasks: {}\n")
    found = read(tmp_path, "flows/w.yaml").flow
    assert [name for name, _ in found] == [
        "flows/w.yaml",
        "flows/lib/one.yaml",
        "flows/two.yaml",
        ".aromcp/workflows/a/b.yaml",
        ".aromcp/workflows/a/c.yaml",
    ]
    assert found[0][1].endswith("# end\n")
    for file in here.rglob("*.yaml"):
        file.unlink()
    (step,) = compiling.compiled(found).steps
    names: list[str] = []
    while step.type == "include_workflow":
        names.append(step.detail.definition.name)
        (step,) = step.blocks["workflow"]
    assert names == ["one", "two", "b"]


def test_a_person_s_own_definition_has_its_files_beside_it(tmp_path: Path) -> None:
    shelf = tmp_path / "home/.moot/workflows"
    write(shelf / "team/w.yaml", "imports: [../lib/x.yaml]\n" + include("x"))
    write(shelf / "lib/x.yaml", EXIT)
    assert [name for name, _ in read(tmp_path, "team:w").flow] == [
        "~/.moot/workflows/team/w.yaml",
        "~/.moot/workflows/lib/x.yaml",
    ]


def test_an_import_may_lead_from_one_folder_of_workflows_into_another(tmp_path: Path) -> None:
    write(tmp_path / "p/.moot/workflows/w.yaml", "imports: [../../.aromcp/workflows/x.yaml]\n" + include("x"))
    write(tmp_path / "p/.aromcp/workflows/x.yaml", EXIT)
    assert len(read(tmp_path, "w").flow) == 2


OUT = "leads out of the workflow's folder. Keep it in there."


@pytest.mark.parametrize("written", ["../x.yaml", "sub/../../x.yaml", "~/x.yaml", "../home/.moot/workflows/x.yaml"])
def test_an_import_cannot_lead_out_of_the_folder(tmp_path: Path, written: str) -> None:
    for file in (tmp_path / "x.yaml", tmp_path / "home/x.yaml", tmp_path / "home/.moot/workflows/x.yaml"):
        write(file, EXIT)
    write(tmp_path / "p/w.yaml", f"imports:\n  - {written}\n{EXIT}")
    assert refused(tmp_path) == [f"w.yaml:2:5: `{written}` {OUT}"]


def test_an_absolute_import_is_refused_wherever_it_leads(tmp_path: Path) -> None:
    write(tmp_path / "p/x.yaml", EXIT)
    write(tmp_path / "p/w.yaml", f"imports: [{tmp_path}/p/x.yaml]\n{EXIT}")
    assert refused(tmp_path) == [f"w.yaml:1:11: `{tmp_path}/p/x.yaml` {OUT}"]


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_link_cannot_lead_out_of_the_folder(tmp_path: Path, is_folder: bool) -> None:
    write(tmp_path / "other/x.yaml", EXIT)
    (tmp_path / "p/in").symlink_to(tmp_path / "other" if is_folder else tmp_path / "other/x.yaml")
    written = "in/x.yaml" if is_folder else "in"
    write(tmp_path / "p/w.yaml", f"imports: [{written}]\n{EXIT}")
    assert refused(tmp_path) == [f"w.yaml:1:11: `{written}` {OUT}"]


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "p/lib/x.yaml", EXIT)
    (tmp_path / "p/y.yaml").symlink_to("lib/x.yaml")
    write(tmp_path / "p/w.yaml", "imports: [y.yaml]\n" + include("y"))
    assert [name for name, _ in read(tmp_path).flow] == ["w.yaml", "y.yaml"]


def test_files_that_import_each_other_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "p/w.yaml", "imports: [a/x.yaml]\n" + EXIT)
    write(tmp_path / "p/a/x.yaml", "imports: [../w.yaml]\n")
    circle = "w.yaml → a/x.yaml → w.yaml"
    assert refused(tmp_path) == [f"a/x.yaml:1:11: files import each other: {circle}. Leave one of the imports out."]


def test_a_link_to_its_own_folder_ends_in_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "p/a").symlink_to(".")
    write(tmp_path / "p/w.yaml", "imports: [a/w.yaml]\n" + EXIT)
    (told,) = refused(tmp_path)
    assert "/a/w.yaml:1:11: there is no file " in told  # at the depth at which the system gives up


def test_a_definition_has_a_hundred_files_at_most(tmp_path: Path) -> None:
    for number in range(101):
        write(tmp_path / f"p/{number}.yaml", f"imports: [{number + 1}.yaml]\n")
    write(tmp_path / "p/101.yaml", EXIT)
    write(tmp_path / "p/2.yaml", EXIT)
    write(tmp_path / "p/w.yaml", "imports: [1.yaml, 0.yaml]\n" + EXIT)
    assert len(read(tmp_path).flow) == 4
    write(tmp_path / "p/2.yaml", "imports: [3.yaml]\n")
    assert refused(tmp_path) == ["98.yaml:1:11: this leads to more than 100 files. Use fewer."]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("imports: [lib/X.yaml]\n" + EXIT, "w.yaml:1:11: there is no file lib/X.yaml. Correct the path."),
        ("imports: [lib]\n" + EXIT, "w.yaml:1:11: there is no file lib. Correct the path."),
        ("imports: [bad.yaml]\n" + EXIT, "w.yaml:1:11: bad.yaml:2:1 is not YAML: did not find expected node content."),
        ("imports: [tag.yaml]\n" + EXIT, "w.yaml:1:11: tag.yaml:1:8 is not YAML: could not determine a constructor"),
        ("imports: [twice.yaml]\n" + EXIT, "w.yaml:1:11: twice.yaml:2:1: 'name' stands here a second time. Keep one."),
        ("imports: [empty.yaml]\n" + EXIT, "w.yaml:1:11: empty.yaml is empty. See docs/workflows.md for an example."),
        ("imports: [typo.yaml]\n" + EXIT, "typo.yaml:2:1: `stps` is no key of this file. Did you mean `steps`?"),
        (
            include("lib:x"),
            (
                "w.yaml:1:51: there is no workflow `lib:x`, neither imported nor in the library. "
                "Write the path of a file, or put it into .moot/workflows/; moot init writes a first one. "
                "Looked in .moot/workflows, .aromcp/workflows, ~/.moot/workflows, ~/.aromcp/workflows."
            ),
        ),
        (include("../lib/x"), "w.yaml:1:51: there is no workflow `../lib/x`, neither imported nor in the library."),
    ],
)
def test_what_cannot_be_read_is_told_where_it_is_named(tmp_path: Path, text: str, told: str) -> None:
    here = tmp_path / "p"
    write(here / "lib/x.yaml", EXIT)
    write(here / "bad.yaml", "steps: [")
    write(here / "tag.yaml", "steps: !!python/object:os.system []")
    write(here / "twice.yaml", "name: a\nname: b\n")
    write(here / "empty.yaml", "")
    write(here / "typo.yaml", "name: a\nstps: []\n")
    write(here / "w.yaml", text)
    (found,) = refused(tmp_path)
    assert found.startswith(told)


def test_a_text_is_named_from_the_project_or_from_home(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    files = ("p/a/b.yaml", "home/.moot/workflows/c.yaml", "d.yaml")
    found = [flow_files.name_of(tmp_path / one, project) for one in files]
    assert found == ["a/b.yaml", "~/.moot/workflows/c.yaml", (tmp_path / "d.yaml").as_posix()]


def test_a_folder_of_workflows_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "dotfiles/w.yaml", "imports: [x.yaml]\n" + include("x"))
    write(tmp_path / "dotfiles/x.yaml", EXIT)
    (tmp_path / "p/.moot").mkdir()
    (tmp_path / "p/.moot/workflows").symlink_to(tmp_path / "dotfiles")
    assert [name for name, _ in read(tmp_path, "w").flow] == [".moot/workflows/w.yaml", ".moot/workflows/x.yaml"]
