"""What people get wrong: one sentence, a remedy, the right exit code, and never a traceback."""

import os
import re
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, Terminal

# An error is one line with a code and a fact, and a line with a remedy.
SHAPE = re.compile(r"error: [A-Z_]+: .+\n  .+\n")


def check(ended: Ended, code: int, *words: str) -> None:
    assert ended.code == code, ended
    assert SHAPE.fullmatch(ended.err), ended.err
    for word in words:
        assert word in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sned"], "Did you mean 'send'"),
        (["lst"], "'list'"),
        (["--stoer", "x", "list"], "Did you mean '--store'"),
        (["send"], "Missing argument 'MESSAGE'"),
        (["send", "a", "b"], "unexpected extra argument"),
        (["send", "hello", "--kind", "rumour"], "'rumour' is not one of"),
        (["send", "hello", "--wait", "--timeout", "60"], "'60' is not a duration"),
        (["send", "hello", "--wait", "--timeout", "9" * 30 + "d"], "longer than anything lasts"),
        (["send", "hello", "--to", ""], "--to names nobody"),
        (["send", "hello", "--to", "ann@"], "names no instance"),
        (["send", "hello", "--to", "ann@../x"], "cannot be an instance's name"),
        (["send", "hello", "--instance", "../x"], "cannot be an instance's name"),
        (["doc", "show", "notes.md", "--version", "9" * 23], "not in the range"),
        (["send", ""], "empty"),
        (["send", "   "], "empty"),
        (["inbox", "@pr-1"], "a whole instance"),
        (["inbox", "ann@one", "--instance", "two"], "not in the instance two"),
        (["log", "--limit", "0"], "not in the range"),
        (["log", "--limit", "-1"], "not in the range"),
        (["log", "--limit", "many"], "'many' is not a whole number."),
        (["log", "--limit", "99999999999999999999"], "not in the range"),
        (["log", "--receipts", "--events"], "cannot be used with --events"),
        (["list", "--instance", "a b"], "cannot be an instance's name"),
        (["list", "extra"], "unexpected extra argument"),
        (["list", "--store", "mysql://x"], "'mysql' is not a kind of store"),
        (["list", "--store", "nonsense"], "not a kind of store"),
        (["list", "--store", "sqlite:"], "names no file"),
        (["list", "--store", "postgresql://[x"], "cannot be understood"),
    ],
)
def test_wrong_usage_is_told(terminal: Terminal, words: list[str], said: str) -> None:
    terminal.join("ann")
    check(terminal.run(*words), 2, said)


def test_bytes_that_are_no_text_are_refused(terminal: Terminal) -> None:
    terminal.join("ann")
    refused = terminal.run("send", os.fsdecode(b"caf\xe9"))
    assert refused.code == 2
    assert refused.err.startswith("error: INVALID_INPUT: The argument caf\\xe9 is not UTF-8.")


def test_a_nul_character_is_refused(terminal: Terminal) -> None:
    terminal.join("ann")
    check(terminal.run("send", "-", stdin=b"a\0b"), 2, "NUL")


def test_an_answer_to_nothing_is_refused(terminal: Terminal) -> None:
    terminal.join("ann")
    check(terminal.run("send", "hello", "--reply-to", "ms_x"), 1, "MESSAGE_NOT_FOUND")


@pytest.mark.parametrize("command", ["list", "log", "inbox", "export", "send hello"])
def test_a_file_that_is_no_store_is_left_alone(terminal: Terminal, tmp_path: Path, command: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, and longer than the header of one: " + "x" * 200)
    before = file.read_bytes()
    check(terminal.run(*command.split(), "--store", url(file)), 1, "STORE_DAMAGED", "is not a moot store")
    assert file.read_bytes() == before


@pytest.mark.parametrize("command", ["list", "send hello"])
def test_a_folder_is_no_store(terminal: Terminal, tmp_path: Path, command: str) -> None:
    check(terminal.run(*command.split(), "--store", url(tmp_path)), 1, "STORE_PLACE_REFUSED")


def test_a_store_under_a_file_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    check(terminal.run("send", "hello @ann", "--store", url(tmp_path / "file" / "moot.db")), 1, "STORE_PLACE_REFUSED")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    check(terminal.run("send", "hello @ann", "--store", url(folder / "moot.db")), 1, "STORE_PLACE_REFUSED")


def test_a_run_in_the_background_needs_a_place_for_its_log(terminal: Terminal) -> None:
    (terminal.folder / ".workflow").write_text("in the way")
    (terminal.folder / "one.yaml").write_text("agents: {ann: {backend: human}}")
    check(terminal.run("start", "one.yaml", "--background"), 1, "FOLDER_REFUSED", "Not a directory")


def test_a_database_that_cannot_be_reached_is_told(terminal: Terminal) -> None:
    refused = terminal.run("list", "--store", "postgresql://me:secret@127.0.0.1:1/x")
    check(refused, 1, "STORE_UNAVAILABLE", "127.0.0.1:1")
    assert "secret" not in refused.err


@pytest.mark.parametrize("text", ["store: [1]", "- a", "{", "store: 5"])
def test_a_broken_configuration_is_told(terminal: Terminal, text: str) -> None:
    (terminal.folder / ".moot" / "config.yaml").write_text(text)
    ended = terminal.run("list")
    assert ended.code == 2
    assert re.match(r"error: (CONFIG|YAML)_INVALID: .*config\.yaml", ended.err), ended.err


def test_a_folder_that_is_gone_is_told(terminal: Terminal) -> None:
    gone = terminal.folder / "gone"
    gone.mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); from moot.cli.main import run; sys.exit(run(['moot', 'list']))"
    check(Terminal(gone, terminal.bytecode).python(code), 1, "FOLDER_GONE")


def url(file: Path) -> str:
    return f"sqlite://{file}"


def test_what_is_not_there_is_not_asked_about(terminal: Terminal) -> None:
    terminal.join("coder")
    check(terminal.run("rm", "nope"), 1, "INSTANCE_NOT_FOUND", "nope")


def test_nobody_is_waited_for_where_nobody_was_addressed(terminal: Terminal) -> None:
    ended = terminal.run("send", "hello @nobody", "--wait")
    assert ended.code == 1, ended
    assert "NOBODY_ADDRESSED" in ended.err


def test_an_export_names_what_is_in_its_way_and_writes_the_rest(terminal: Terminal) -> None:
    for instance in ("default", "other"):
        terminal.join("coder", instance=instance)
        terminal.ok("send", "hello", "--to", f"coder@{instance}")
    (terminal.folder / ".workflow/default/proposals.json").mkdir(parents=True)
    check(terminal.run("export"), 1, "VIEWS_BLOCKED", "default", "proposals.json")
    assert "hello" in (terminal.folder / ".workflow/other/channel.md").read_text()
