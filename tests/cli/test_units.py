"""`moot serve --unit` prints a service file that its system takes, whatever the folder is called."""

import configparser
import plistlib
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

SYSTEMD_ANALYZE = shutil.which("systemd-analyze")


def parsed(text: str) -> configparser.ConfigParser:
    found = configparser.ConfigParser(interpolation=None)
    found.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    found.read_string(text)
    return found


@pytest.fixture
def odd(terminal: Terminal) -> Terminal:
    folder = terminal.folder / 'my "50%" $HOME project'
    (folder / ".moot").mkdir(parents=True)
    return Terminal(folder, terminal.bytecode)


def test_systemd_is_told_what_to_run_where_and_with_which_options(odd: Terminal) -> None:
    text = odd.ok("serve", "--unit", "systemd", "--agents", "a b.yaml", "--port", "7000").out
    unit = parsed(text)["Service"]
    assert unit["WorkingDirectory"] == str(odd.folder).replace("%", "%%")
    words = [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(unit["ExecStart"])]
    assert words[1:] == ["-m", "moot", "serve", "--agents", str(odd.folder / "a b.yaml"), "--port", "7000"]
    assert unit["EnvironmentFile"] == "-%h/.config/moot-my-50-HOME-project.env"
    assert "# Write this to ~/.config/systemd/user/moot-my-50-HOME-project.service, then:" in text


@pytest.mark.skipif(SYSTEMD_ANALYZE is None, reason="there is no systemd here to ask")
def test_systemd_itself_takes_the_file(odd: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "moot-odd.service"
    file.write_text(odd.ok("serve", "--unit", "systemd").out)
    assert SYSTEMD_ANALYZE is not None
    verified = subprocess.run(
        [SYSTEMD_ANALYZE, "--user", "verify", str(file)],
        capture_output=True, text=True, check=False, timeout=60, env=odd.env({"XDG_RUNTIME_DIR": str(tmp_path)}),
    )  # fmt: skip
    assert "moot-odd" not in verified.stderr
    file.write_text(file.read_text().replace("ExecStart=", "ExecStart=none "))
    wrong = subprocess.run(
        [SYSTEMD_ANALYZE, "--user", "verify", str(file)],
        capture_output=True, text=True, check=False, timeout=60, env=odd.env({"XDG_RUNTIME_DIR": str(tmp_path)}),
    )  # fmt: skip
    assert "moot-odd" in wrong.stderr, "it finds fault with nothing, and so says nothing of ours"


def test_launchd_is_told_the_same_in_its_own_form(odd: Terminal) -> None:
    text = odd.ok("serve", "--unit", "launchd", "--instance", "night").out
    told = plistlib.loads(text.encode())
    assert told["ProgramArguments"][1:] == ["-m", "moot", "serve", "--instance", "night"]
    assert told["WorkingDirectory"] == str(odd.folder)
    assert told["KeepAlive"] == {"SuccessfulExit": False}


@pytest.mark.parametrize("system", ["systemd", "launchd"])
def test_a_password_is_not_printed_and_its_place_is_named(terminal: Terminal, system: str) -> None:
    env = {"MOOT_STORE": "postgresql://ann:secret@host/moot"}
    text = terminal.ok("serve", "--unit", system, env=env).out
    assert "secret" not in text
    assert "MOOT_STORE has a password and goes there, too" in text
    plain = terminal.ok("serve", "--unit", system, "--store", "postgresql://host/moot").out
    assert "postgresql://host/moot" in plain
    assert "MOOT_STORE" not in plain


def test_without_a_name_it_is_the_one_of_this_system_and_nothing_is_made(terminal: Terminal) -> None:
    assert "[Service]" in terminal.ok("serve", "--unit").out or "<plist" in terminal.ok("serve", "--unit").out
    assert not (terminal.folder / ".workflow").exists()
