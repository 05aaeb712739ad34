"""Help, versions, names, and that starting imports nothing it does not need."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from moot import __version__
from moot.cli import program
from tests.cli.terminal import Terminal

HEAVY = {
    "anyio",
    "httpx2",
    "mcp",
    "psutil",
    "psycopg",
    "pydantic",
    "rich",
    "starlette",
    "uvicorn",
    "watchfiles",
    "yaml",
}
SHOW_MODULES = """
import sys
from moot.cli.main import run
code = run(["moot", *sys.argv[1:]])
print("modules:", *sys.modules, file=sys.stderr)
raise SystemExit(code)
"""


def test_help_groups_the_commands(terminal: Terminal) -> None:
    text = terminal.ok("--help").out
    places = [text.index(f"\n{section}:") for section in ("Begin", "Take part", "See", "Serve")]
    assert places == sorted(places)
    assert text.index("\nTake part:") < text.index("\n  send ") < text.index("\nSee:") < text.index("\n  list ")
    assert "peek" not in text
    assert terminal.ok("-h").out == text


def test_without_a_command_help_is_shown(terminal: Terminal) -> None:
    assert terminal.ok().out == terminal.ok("--help").out


@pytest.mark.parametrize("name", sorted(program.MODULES))
def test_every_command_explains_itself(terminal: Terminal, name: str) -> None:
    text = terminal.ok(name, "-h").out
    assert text.startswith(f"Usage: moot {name} ")


def test_the_version_is_printed(terminal: Terminal) -> None:
    assert terminal.ok("--version").out == f"moot {__version__}\n"


def test_the_program_is_called_as_its_script_is(terminal: Terminal) -> None:
    script = Path(sys.executable).with_name("agent-worker")
    done = subprocess.run([script, "--version"], capture_output=True, timeout=60, check=True, env=terminal.env())
    assert done.stdout.decode() == f"agent-worker {__version__}\n"


def test_other_spellings_are_known_but_hidden(terminal: Terminal) -> None:
    assert terminal.ok("ls").out == terminal.ok("list").out
    assert terminal.ok("peek").out == terminal.ok("log").out


@pytest.mark.parametrize(
    "words",
    [["--help"], ["list"], ["send", "hello @nobody"], ["inbox"], ["log"], ["status"]],
    ids=lambda words: words[0],
)
def test_the_fast_path_imports_nothing_heavy(terminal: Terminal, words: list[str]) -> None:
    terminal.ok("send", "so that there is a store @nobody")
    assert not _modules(terminal, *words) & HEAVY


def test_only_the_live_view_imports_rich() -> None:
    source = Path(program.__file__).parents[1]
    importing = re.compile(r"^\s*(from|import) rich\b", re.MULTILINE)
    found = {one.relative_to(source).parent for one in source.rglob("*.py") if importing.search(one.read_text())}
    assert found == {Path("cli/live")}
    live = re.compile(r"^(from|import) moot\.cli\.live", re.MULTILINE)  # at the top, where it is loaded with the file
    importers = [one for one in source.rglob("*.py") if live.search(one.read_text()) and one.parent.name != "live"]
    assert importers == []


def test_help_imports_no_command_and_no_event_loop(terminal: Terminal) -> None:
    modules = _modules(terminal, "--help")
    assert not modules & (set(program.MODULES.values()) | {"asyncio", "apsw", "moot.api", "moot.store"})


def test_a_run_of_scripted_agents_imports_neither_sessions_nor_programs_of_agents(terminal: Terminal) -> None:
    workflow = "agents: {a: {backend: scripted, script: [{say: done}]}}\nkickoff: '@a go'\n"
    (terminal.folder / "plain.yaml").write_text(workflow)
    heavy = {"moot.session.session", "moot.runner.api_agents", "moot.backends.programs.kinds", "moot.taping", "mcp"}
    assert not _modules(terminal, "run", "plain.yaml") & heavy


def _modules(terminal: Terminal, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SHOW_MODULES, *words],
        cwd=terminal.folder, env=terminal.env(), capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    listed = done.stderr.decode().partition("modules:")[2].split()
    assert "moot.cli.program" in listed
    return set(listed)


def test_the_store_can_be_named_before_and_after_the_command(terminal: Terminal, tmp_path: Path) -> None:
    url = f"sqlite:///{str(tmp_path / 'elsewhere' / 'x.db').lstrip('/')}"
    terminal.ok("--store", url, "send", "one @nobody")
    terminal.ok("send", "two @nobody", "--store", url)
    assert [one["message"] for one in terminal.ok("--store", url, "log", "--json").json] == [
        "one @nobody",
        "two @nobody",
    ]
    assert [one["message"] for one in terminal.ok("--store", url, "peek", "--json").json] == [
        "one @nobody",
        "two @nobody",
    ]
    assert not (terminal.folder / ".workflow").exists()


def test_the_store_after_the_command_wins(terminal: Terminal, tmp_path: Path) -> None:
    first, second = (f"sqlite:///{str(tmp_path / name).lstrip('/')}" for name in ("a.db", "b.db"))
    terminal.ok("--store", first, "send", "hello @nobody", "--store", second)
    assert (tmp_path / "b.db").exists()
    assert not (tmp_path / "a.db").exists()
