"""The page on debugging: what it shows is what the commands print, one after the other."""

import re
import shlex
from pathlib import Path

from moot.cli import flow
from moot.tools import table
from tests.cli.terminal import Terminal

PAGE = (Path(__file__).parents[2] / "docs/debugging.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
NAMED = {name: text for _, name, text in BLOCKS if name}
CONSOLE = [text for kind, _, text in BLOCKS if kind == "console"]


def steady(text: str) -> str:
    """Without ids and times."""
    timeless = re.sub(r"\d\d:\d\d:\d\d|\d+\.\d+ (ms|s)\b", "TIME", re.sub(r"\bwf_\w+", "wf", text))
    return re.sub(r" +TIME$", "", timeless, flags=re.MULTILINE)  # a step tells its own if it was long


def test_nothing_on_the_page_is_left_out() -> None:
    assert (sorted(NAMED), len(CONSOLE), len(BLOCKS)) == (["prices.txt", "prices.yaml"], 6, 8)


def test_the_commands_answer_as_shown(tmp_path: Path, bytecode: Path) -> None:
    for name, text in NAMED.items():
        (tmp_path / name).write_text(text)
    terminal = Terminal(tmp_path, bytecode)
    for shown in CONSOLE:
        command, _, answer = shown.partition("\n")
        ended = terminal.run(*shlex.split(command.removeprefix("$ moot ")))
        assert steady(ended.out or ended.err) == steady(answer), command


def test_commands_and_tools_that_are_named_are_there() -> None:
    assert set(re.findall(r"moot flow ([a-z]+)", PAGE)) == set(flow.command.commands)
    listed = re.findall(r"^\| `(workflow_\w+)` \|", PAGE, re.MULTILINE)
    assert set(listed) <= set(table.TOOLS)
    assert {name for name, one in table.TOOLS.items() if one.group == "debug"} <= set(listed)
