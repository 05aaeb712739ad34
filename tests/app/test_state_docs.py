"""The page on state: files and paths are taken as they stand, every expression has the value beside it."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args

import pytest

from moot.app import workflows
from moot.app.project import Project
from moot.engine import resolving
from moot.engine.expressions import template, worker
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.files import compiling
from moot.engine.flow import beginning
from moot.engine.resolving import View
from moot.engine.shape import ComputedShape
from moot.engine.state.operations import Operation
from tests.cli.terminal import Terminal

PAGE = (Path(__file__).parents[2] / "docs/state.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
NAMED = {name: text for _, name, text in BLOCKS if name}
ROWS: list[tuple[str, str]] = re.findall(r"^\| `(.*\{\{.*)` \| `(.*)` \|$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
async def sandbox(anyio_backend: object) -> AsyncIterator[Sandbox]:
    async with Sandbox().open() as found:
        yield found


def test_nothing_on_the_page_is_left_out() -> None:
    assert (sorted(NAMED), len(BLOCKS), len(ROWS)) == (["shop.yaml", "wrong.yaml"], 4, 10)


@pytest.mark.parametrize("name", NAMED)
def test_a_whole_file_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / name).write_text(NAMED[name])
    assert workflows.read(Project(tmp_path), tmp_path / name).warnings == ()


@pytest.mark.parametrize(("expression", "value"), ROWS)
async def test_an_expression_has_the_value_beside_it(sandbox: Sandbox, expression: str, value: str) -> None:
    definition = compiling.compiled((("shop.yaml", NAMED["shop.yaml"]),))
    known = (await beginning.state(sandbox, definition, beginning.inputs(definition, {}))).over({})
    view = View(known, definition.schema, {})
    found = (await resolving.resolve(sandbox, view, expression.replace("\\|", "|"))).value
    assert json.dumps(found, separators=(",", ":")) == value


def test_paths_lead_where_the_page_says(tmp_path: Path, bytecode: Path) -> None:
    (text,) = [text for kind, name, text in BLOCKS if kind == "yaml" and not name]
    wanted = "result: \"{{ [found['src/a.ts'].errors, notes, names, version] }}\"\n"
    (tmp_path / "paths.yaml").write_text(NAMED["shop.yaml"].partition("steps:")[0] + "steps:\n" + text + wanted)
    ended = Terminal(tmp_path, bytecode).ok("run", "paths.yaml")
    assert json.loads(ended.out.splitlines()[-1]) == [9, ["1 left"], ["Bea", "ben", "Ann"], 2]


def test_keys_operations_and_filters_are_those_of_the_code() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    computed = {str(one.validation_alias or name) for name, one in ComputedShape.model_fields.items()}
    assert computed | set(get_args(Operation)) <= rows
    listed = PAGE.partition("else JavaScript: ")[2].partition(".")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == template.FILTERS


def test_the_limits_are_those_of_the_sandbox() -> None:
    seconds, memory, most = worker._SECONDS, worker._MEMORY, worker._MOST  # pyright: ignore[reportPrivateUsage]
    told = (f"| {seconds} s |", f"| {memory >> 20} MB |", f"| {most >> 20} million characters |")
    assert all(one in PAGE for one in told)


def test_an_error_names_the_field_and_the_line(tmp_path: Path, bytecode: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(NAMED["wrong.yaml"])
    (shown,) = [text for kind, _, text in BLOCKS if kind == "console"]
    command, _, answer = shown.partition("\n")
    ended = Terminal(tmp_path, bytecode).run(*command.removeprefix("$ moot ").split())
    assert (ended.code, ended.err.startswith(answer.rstrip())) == (1, True), ended
