"""What the page on cost and trace shows is what the commands print."""

import re
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/cost-and-trace.md").read_text()
SHOWN: list[tuple[str, str]] = re.findall(r"^```console\n\$ moot (.+)\n((?:.*\n)*?)```$", PAGE, re.MULTILINE)


def steady(text: str) -> str:
    """Without ids and times."""
    return re.sub(r"\d+ ms|\d+\.\d s", "TIME", re.sub(r"\b(wf|at)_[\w…]+", r"\1", text))


def test_the_commands_answer_as_shown(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / ".moot").mkdir()
    assert pytestconfig.cache is not None
    terminal = Terminal(tmp_path, pytestconfig.cache.mkdir("bytecode"))
    terminal.ok("run", str(ROOT / "examples/model.yaml"))
    assert [command for command, _ in SHOWN] == ["cost", "trace"]
    for command, answer in SHOWN:
        assert steady(terminal.ok(*command.split()).out) == steady(answer)
