"""The doctor: finds what was broken on purpose, and breaks nothing itself."""

import os
import shutil
import socket
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from moot.api.connection import Connection
from moot.bus import mailbox
from moot.core.caller import SYSTEM
from moot.core.ids import AgentId, AttemptId
from moot.core.tx import Tx
from moot.process import confinement
from moot.registry import hosts
from moot.registry.hosts import NewHost
from moot.runner import neighbours
from tests.cli.terminal import Ended, Terminal


def checks(ended: Ended) -> dict[str, Any]:
    return {one["name"]: one for one in ended.json["checks"]}


def problems(terminal: Terminal, *words: str) -> dict[str, Any]:
    """The checks that failed, of a command that must fail."""
    ended = terminal.run("doctor", "--json", *words)
    assert ended.code == 1, ended
    assert ended.json["ok"] is False
    return {name: one for name, one in checks(ended).items() if one["state"] == "problem"}


def test_a_healthy_store_has_no_problem(either: Terminal) -> None:
    either.join("coder")
    ended = either.ok("doctor")
    assert all(line.startswith(("ok ", "absent ", " ")) for line in ended.out.splitlines())
    found = checks(either.ok("doctor", "--json"))
    assert {"moot", "extras", "claude", "codex", "api", "store", "writing", "hosts", "parked"} <= found.keys()
    assert "none is running" in found["hosts"]["fact"]


def test_it_says_whether_commands_are_confined(terminal: Terminal) -> None:
    state = "absent" if confinement.reach() == "unconfined" else "ok"
    assert checks(terminal.ok("doctor", "--json"))["shell"]["state"] == state
    waived = checks(terminal.ok("doctor", "--json", env={confinement.SETTING: "unconfined"}))["shell"]
    assert (waived["state"], waived["remedy"]) == ("absent", "Unset MOOT_SHELL.")


def test_nothing_is_made_where_nothing_is(terminal: Terminal) -> None:
    assert "none yet" in checks(terminal.ok("doctor", "--json"))["store"]["fact"]
    assert not (terminal.folder / ".workflow").exists()


def test_a_file_that_is_no_store_is_found(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    file.write_text("no database at all, longer than a header " * 5)
    found = problems(terminal, "--store", f"sqlite://{file}")["store"]
    assert "is not a moot store" in found["fact"]
    assert found["remedy"] == "Move it away, or choose another with --store."


def test_a_folder_in_the_place_of_the_store_is_found(terminal: Terminal) -> None:
    (terminal.folder / ".workflow" / "moot.db").mkdir(parents=True)
    (terminal.folder / ".workflow").chmod(0o700)
    found = problems(terminal)
    assert found.keys() == {"store"}
    assert "is not a regular file" in found["store"]["fact"]


def test_a_damaged_page_is_found(terminal: Terminal) -> None:
    terminal.join("coder")
    file = terminal.folder / ".workflow" / "moot.db"
    connection = sqlite3.connect(file)
    (page,) = connection.execute("select rootpage from sqlite_master where name = 'operations'").fetchone()
    (size,) = connection.execute("pragma page_size").fetchone()
    connection.close()
    with file.open("r+b") as store:
        store.seek((page - 1) * size)
        store.write(b"\xff" * size)
    assert problems(terminal).keys() == {"integrity"}


@pytest.mark.parametrize("kept", [0, 100, 4096, 5000, 40960])
def test_a_file_that_was_cut_off_is_found_with_a_remedy(terminal: Terminal, kept: int) -> None:
    terminal.join("coder")
    file = terminal.folder / ".workflow" / "moot.db"
    assert file.stat().st_size > kept
    os.truncate(file, kept)
    (found,) = problems(terminal).values()
    assert str(file) in found["fact"]
    assert "estore a backup" in found["remedy"]
    assert file.stat().st_size == kept


def test_a_store_of_a_newer_moot_is_found(terminal: Terminal) -> None:
    terminal.join("coder")
    connection = sqlite3.connect(terminal.folder / ".workflow" / "moot.db")
    connection.execute("pragma user_version = 999")
    connection.close()
    assert problems(terminal)["schema"]["remedy"] == "Upgrade moot."


def test_open_permissions_are_found_with_the_command_that_helps(terminal: Terminal) -> None:
    terminal.join("coder")
    folder = terminal.folder / ".workflow"
    folder.chmod(0o755)
    (folder / "moot.db").chmod(0o644)
    remedy = problems(terminal)["private"]["remedy"]
    assert f"chmod 700 {folder}" in remedy
    assert f"chmod 600 {folder / 'moot.db'}" in remedy
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_a_socket_that_nobody_serves_is_found(terminal: Terminal) -> None:
    terminal.join("coder")
    path = terminal.folder / ".workflow" / "moot.sock"
    _listen(path).close()
    path.chmod(0o600)
    assert "nobody answers" in problems(terminal)["socket"]["fact"]


def test_a_host_that_vanished_is_found(either: Terminal) -> None:
    new = NewHost(neighbours.machine(), "999999999:1", ("serve", "react", "work", "run"))

    def register(tx: Tx) -> None:
        hosts.register(tx, new)

    either.act(lambda connection: connection.store.write(register, caller=SYSTEM))
    assert problems(either)["hosts"]["fact"].startswith("1 ended without a word")


def test_parked_mail_is_found(either: Terminal) -> None:
    coder = either.join("coder")
    either.ok("send", "hello", "--to", "coder")
    either.act(lambda connection: _park(connection, coder.id))
    assert problems(either)["parked"]["fact"] == "Mail was given up: 1 for coder@default."


def test_a_lock_that_is_not_given_back_is_found(terminal: Terminal) -> None:
    terminal.join("coder")
    holder = sqlite3.connect(terminal.folder / ".workflow" / "moot.db", isolation_level=None)
    holder.execute("begin immediate")
    try:
        assert "STORE_BUSY" in problems(terminal)["writing"]["fact"]
    finally:
        holder.close()


def test_a_database_that_cannot_be_reached_is_found(terminal: Terminal) -> None:
    found = problems(terminal, "--store", "postgresql://me:secret@127.0.0.1:1/x")
    assert "STORE_UNAVAILABLE" in found["store"]["fact"]
    assert "secret" not in str(found)


def test_secrets_of_an_address_are_not_shown(either: Terminal) -> None:
    either.join("coder")
    text = either.ok("doctor").out
    assert "?" not in text
    assert "schema=" not in text


def test_a_broken_configuration_is_a_problem_like_others(terminal: Terminal) -> None:
    (terminal.folder / ".moot" / "config.yaml").write_text("{")
    assert "config.yaml" in problems(terminal)["project"]["fact"]


@pytest.mark.parametrize(
    ("text", "key"),
    [("retry: {backoff: banana}", "retry.backoff"), ("attempt_timeout: 0s", "attempt_timeout"),
     ("notify: {shell: x, timeout: 0s}", "notify.timeout"), ("retry: {attempts: 0}", "retry.attempts")],
)  # fmt: skip
def test_a_setting_that_no_host_would_begin_with_is_found(terminal: Terminal, text: str, key: str) -> None:
    (terminal.folder / ".moot" / "config.yaml").write_text(text)
    found = problems(terminal)
    assert found.keys() == {"settings"}
    assert f"`{key}` in config.yaml" in found["settings"]["fact"]
    assert terminal.run("serve").code == 2


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_configuration_that_cannot_be_read_is_not_overlooked(terminal: Terminal, kind: str) -> None:
    file = terminal.folder / ".moot" / "config.yaml"
    file.mkdir() if kind == "folder" else file.symlink_to("/nowhere/config.yaml")
    assert f"{file} is no file." in problems(terminal)["project"]["fact"]
    assert (ended := terminal.run("list")).code == 2, ended


def test_what_lies_in_the_place_of_the_socket_is_found(terminal: Terminal) -> None:
    terminal.join("coder")
    path = terminal.folder / ".workflow" / "moot.sock"
    path.touch(0o600)
    found = problems(terminal)["socket"]
    assert (found["fact"], found["remedy"]) == (f"{path} is there and is not a socket.", "Move it away.")


def test_a_file_in_the_place_of_the_folder_is_found(terminal: Terminal) -> None:
    (terminal.folder / ".workflow").touch()
    assert "is a file, where a folder is to be" in problems(terminal)["place"]["fact"]


@pytest.mark.parametrize("name", ["moot.db-turn", "moot.db-wake"])
def test_what_lies_in_the_way_beside_the_store_is_named(terminal: Terminal, name: str) -> None:
    terminal.join("coder")
    place = terminal.folder / ".workflow" / name
    shutil.rmtree(place, ignore_errors=True)
    place.unlink(missing_ok=True)
    place.touch() if name.endswith("wake") else place.mkdir()
    ended = terminal.run("list")
    assert (ended.code, f"{place} is not what the store needs there" in ended.err) == (1, True), ended


KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
BARE = {**dict.fromkeys((*KEYS, "OPENAI_API_KEY", "CODEX_API_KEY", "ANTHROPIC_BASE_URL"), ""), "PATH": "/usr/bin:/bin"}


def programs(terminal: Terminal, *names: str) -> str:
    """A PATH where they are."""
    folder = terminal.folder / "bin"
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("#!/bin/sh\necho 1.2.3\n")
        (folder / name).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def test_what_cannot_be_used_is_absent_and_told_with_what_helps(terminal: Terminal) -> None:
    ended = terminal.ok("doctor", env=BARE)
    assert "absent   claude     claude was not found\n" in ended.out
    assert "\n                    Install it: npm install -g @anthropic-ai/claude-code\n" in ended.out
    told = terminal.ok("doctor", "--json", env=BARE).json
    assert told["ok"] is True
    (found,) = [one for one in told["checks"] if one["name"] == "cursor"]
    assert (found["ok"], found["state"]) == (False, "absent")
    assert found["remedy"] == "Install it: curl https://cursor.com/install -fsS | bash"


def test_a_program_is_shown_with_the_login_or_key_that_is_really_there(terminal: Terminal) -> None:
    env = {**BARE, "PATH": programs(terminal, "claude", "codex", "cursor-agent")}
    found = checks(terminal.ok("doctor", "--json", env=env))
    assert found["claude"]["state"] == "absent"
    assert "no login was found, and no key is set" in found["claude"]["fact"]
    assert found["claude"]["remedy"].splitlines()[0] == "Log in: claude /login"
    assert found["cursor"]["fact"].endswith("with your login, if there is one: that cannot be seen from here")
    login = terminal.folder / "home" / ".claude" / ".credentials.json"
    login.parent.mkdir()
    login.touch()
    env |= {"OPENAI_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    found = checks(terminal.ok("doctor", "--json", env=env))
    assert found["claude"]["state"] == "ok"
    assert found["claude"]["fact"].endswith("with your login at http://127.0.0.1:9")
    assert found["codex"]["fact"].endswith("with key OPENAI_API_KEY")
    assert "openai (key OPENAI_API_KEY)" in found["api"]["fact"]
    assert "anthropic (no key at http://127.0.0.1:9)" in found["api"]["fact"]


def _listen(path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()
    return listening


async def _park(connection: Connection, agent: AgentId) -> None:
    def change(tx: Tx) -> None:
        mailbox.hand_out(tx, agent, AttemptId("at_1"), 10)
        mailbox.park(tx, agent, AttemptId("at_1"))

    await connection.store.write(change, caller=SYSTEM)
