"""The pages on steps: files are taken as they stand and end as they say, tables are those of the code."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from moot.app import workflows
from moot.app.project import Project
from moot.core import yaml
from moot.engine.kinds import KINDS
from moot.engine.shape import StepShape
from moot.engine.steps.failing import FailingShape
from moot.tools import groups, table
from tests.cli.terminal import Terminal

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
STEPS = (DOCS / "steps.md").read_text(encoding="utf-8")
BLOCKS = BLOCK.findall(STEPS)
NAMED = {name: text for _, name, text in BLOCKS if name}
CONSOLES = [text for kind, _, text in BLOCKS if kind == "console"]
PARTS = [text for kind, name, text in BLOCKS if kind == "yaml" and not name]
AROUND = {
    "agents": {"coder": {"backend": "scripted"}, "reviewer": {"backend": "scripted"}},
    "steps": [{"type": "exit"}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / ".moot").mkdir()
    for name, text in NAMED.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "a.txt").write_text("TODO one\nFIXME two\nTODO three\n")
    (tmp_path / "b.txt").write_text("\n")
    return tmp_path


def steady(text: str) -> str:
    """Without times, which a step tells only if it was long."""
    return re.sub(r" +TIME$", "", re.sub(r"\d\d:\d\d:\d\d|\d+\.\d s", "TIME", text), flags=re.MULTILINE)


def test_nothing_on_the_page_is_left_out() -> None:
    assert sorted(NAMED) == ["checks.yaml", "longest.yaml", "twice.yaml"]
    assert (len(PARTS), len(BLOCKS)) == (5, 10)


@pytest.mark.parametrize("name", NAMED)
def test_a_whole_file_is_right(folder: Path, name: str) -> None:
    assert workflows.read(Project(folder), folder / name).warnings == ()


@pytest.mark.parametrize("text", PARTS)
def test_a_part_is_right_with_agents_around_it(folder: Path, text: str) -> None:
    part: Any = yaml.load(text, "part")
    whole: dict[str, Any] = {**AROUND, **({"steps": part} if isinstance(part, list) else part)}
    file = folder / "part.yaml"
    file.write_text(json.dumps(whole))
    assert len(workflows.read(Project(folder), file).agents) == 2


def test_a_workflow_is_included_twice(folder: Path, bytecode: Path) -> None:
    assert Terminal(folder, bytecode).ok("run", "twice.yaml").out.splitlines()[-1] == "2 and 1"


def test_a_file_that_is_too_long_fails_the_run(folder: Path, bytecode: Path) -> None:
    shown, _ = CONSOLES
    command, _, answer = shown.partition("\n")
    assert steady(Terminal(folder, bytecode).ok(*command.removeprefix("$ moot ").split()).out) == steady(answer)
    ended = Terminal(folder, bytecode).run("run", "longest.yaml", "--input", "most=2")
    assert (ended.code, "Too long: ./a.txt." in ended.err) == (1, True), ended


def test_another_result_than_the_recorded_one_is_told(folder: Path, bytecode: Path) -> None:
    terminal, file = Terminal(folder, bytecode), folder / "longest.yaml"
    _, shown = CONSOLES
    command, _, answer = shown.partition("\n")
    words = command.removeprefix("$ moot ").split()
    terminal.ok(*words[:2], "--record", words[-1])
    (folder / "a.txt").unlink()
    assert terminal.ok(*words).out.splitlines()[-1] == "2 texts"
    (said,) = re.findall(r"With `(result: .*)` in the file", STEPS)
    file.write_text(re.sub(r"^result: .*$", said, file.read_text(), flags=re.MULTILINE))
    ended = terminal.run(*words)
    assert (ended.code, ended.err) == (1, answer.removeprefix("…\n"))


def keys_of(model: type[StepShape]) -> set[str]:
    return {str(one.validation_alias or name) for name, one in model.model_fields.items()}


def test_every_kind_is_in_the_table_with_all_its_keys() -> None:
    rows: list[tuple[str, str]] = re.findall(r"^\| `(\w+)` \| (.*?)\| [^|]+ \|$", STEPS, re.MULTILINE)
    table = {kind: set(re.findall(r"`(\w+)`", keys)) for kind, keys in rows if kind in KINDS}
    failing = {kind for kind, keys in rows if "for failures" in keys}
    common, failures = keys_of(StepShape), keys_of(FailingShape)
    assert table == {name: keys_of(kind.said) - common - failures for name, kind in KINDS.items()}
    assert failing == {name for name, kind in KINDS.items() if issubclass(kind.said, FailingShape)}


def test_every_key_for_failures_is_in_its_table() -> None:
    section = STEPS.partition("## When a step fails")[2].partition("```")[0]
    listed = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`\w+`.*?) \|", section, re.MULTILINE)))
    assert set(listed) == keys_of(FailingShape) - keys_of(StepShape)


def test_the_steps_of_the_readme_count_lines(folder: Path, bytecode: Path) -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```yaml\n# loc.yaml\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    (folder / "loc.yaml").write_text(text)
    (folder / "one.py").write_text("a = 1\nb = 2\n")
    assert Terminal(folder, bytecode).ok("run", "loc.yaml").out.splitlines()[-1] == "2 lines"


def test_every_tool_for_steps_is_in_the_table_of_tools() -> None:
    page = (DOCS / "tools.md").read_text(encoding="utf-8")
    wanted = {name: one for name, one in table.TOOLS.items() if one.group in groups.FLOW}
    rows: dict[str, str] = dict(re.findall(r"^\| `(workflow_\w+)` \| (.*?) ?\| .* \|$", page, re.MULTILINE))
    assert wanted.keys() - rows.keys() == set()
    for name, tool in wanted.items():
        arguments = {key if one.is_required() else f"{key}?" for key, one in tool.arguments.model_fields.items()}
        assert arguments == set(re.findall(r"`(\w+\??)`", re.sub(r" \([^)]*\)", "", rows[name]))), name
    named = re.findall(r"`(workflow_[a-z_]+)`", STEPS)
    assert set(named) - table.TOOLS.keys() == set()
