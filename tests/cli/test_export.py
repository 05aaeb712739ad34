"""Export: views that can be deleted, and lines for programs."""

import json
import os
import stat
from pathlib import Path

from tests.cli.terminal import Terminal
from tests.cli.test_log import say


def test_the_views_are_rebuilt(either: Terminal) -> None:
    either.join("coder")
    either.join("ann", instance="pr-1")
    either.act(lambda connection: say(connection, "coder", "hello"))
    views = [either.folder / ".workflow" / name / "channel.md" for name in ("default", "pr-1")]
    names = ("channel.md", "inbox-state.json", "proposals.json", "mcp.json")
    assert either.ok("export").out == "".join(f"wrote {view.with_name(name)}\n" for view in views for name in names)
    assert views[0].read_text().endswith(" [coder]\nhello\n\n")
    views[0].unlink()
    either.ok("export")
    assert views[0].read_text().endswith(" [coder]\nhello\n\n")


def test_views_are_private_and_hidden_from_git(either: Terminal) -> None:
    either.join("coder")
    either.ok("export")
    folder = either.folder / ".workflow"
    assert [stat.S_IMODE(one.stat().st_mode) for one in (folder, folder / "default")] == [0o700, 0o700]
    assert stat.S_IMODE((folder / "default" / "channel.md").stat().st_mode) == 0o600
    assert (folder / ".gitignore").read_text() == "*\n"


def test_every_event_and_message_is_a_line(either: Terminal) -> None:
    either.join("coder")
    either.act(lambda connection: say(connection, "coder", "two\nlines"))
    exported = either.ok("export", "--jsonl", "-")
    lines = [json.loads(line) for line in exported.out.splitlines()]
    assert [line["kind"] for line in lines] == ["agent_registered", "message_posted"]
    assert lines[1]["message"]["message"] == "two\nlines"
    assert [line["seq"] for line in lines] == [1, 2]
    assert exported.err == ""


def test_lines_are_written_to_a_file(terminal: Terminal) -> None:
    terminal.join("coder")
    exported = terminal.ok("export", "--jsonl", "all.jsonl")
    assert exported.out == "wrote all.jsonl (1 lines)\n"
    assert len((terminal.folder / "all.jsonl").read_text().splitlines()) == 1
    assert terminal.ok("export", "--jsonl", "all.jsonl", "--json").json["lines"] == 1


def test_a_link_keeps_pointing_and_a_device_stays_a_device(terminal: Terminal, tmp_path: Path) -> None:
    terminal.join("coder")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    terminal.ok("export", "--jsonl", str(link))
    assert link.is_symlink()
    assert (tmp_path / "target").read_text().count("\n") == 1
    terminal.ok("export", "--jsonl", os.devnull)
    assert Path(os.devnull).is_char_device()


def test_a_file_that_cannot_be_written_is_told(terminal: Terminal) -> None:
    terminal.join("coder")
    refused = terminal.run("export", "--jsonl", "no/x.jsonl")
    assert refused.code == 1
    assert "FILE_REFUSED" in refused.err
    assert not (terminal.folder / "no").exists()


def test_without_a_store_there_is_nothing_to_export(terminal: Terminal) -> None:
    refused = terminal.run("export")
    assert refused.code == 1
    assert "STORE_NOT_FOUND" in refused.err
    assert not (terminal.folder / ".workflow").exists()
