"""An attempt's folder is private and gone after it; what a killed host has left is cleared away, processes included."""

import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from moot.app import private_folders
from moot.process import environment

SLEEPER = "import time; print('up', flush=True); time.sleep(600)"


async def test_it_is_private_while_it_is_there(tmp_path: Path) -> None:
    async with private_folders.opened(tmp_path / "private", "at_1") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
        (folder / "token").write_text("secret")
        assert private_folders.clear(tmp_path / "private") == []
    assert list((tmp_path / "private").iterdir()) == []


async def test_it_is_gone_when_the_attempt_failed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with private_folders.opened(tmp_path, "at_1"):
            raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_host_has_left_is_ended_and_removed(tmp_path: Path) -> None:
    (tmp_path / "private/at_2").mkdir(parents=True)
    (tmp_path / "private/at_2/config.json").write_text("{}")
    env = environment.marked(environment.build(), "at_2")
    with subprocess.Popen([sys.executable, "-c", SLEEPER], env=env, stdout=subprocess.PIPE) as left:
        assert left.stdout is not None
        assert left.stdout.readline() == b"up\n"
        assert private_folders.clear(tmp_path / "private") == ["at_2"]
        assert left.wait(20) != 0
    assert not psutil.pid_exists(left.pid)
    assert list((tmp_path / "private").iterdir()) == []


def test_where_nothing_is_there_is_nothing_to_clear(tmp_path: Path) -> None:
    assert private_folders.clear(tmp_path / "nowhere") == []


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("kept")
    (tmp_path / "private").mkdir()
    (tmp_path / "private/at_3").symlink_to(tmp_path / "mine")
    assert private_folders.clear(tmp_path / "private") == []
    assert (tmp_path / "mine/file").read_text() == "kept"


def test_a_link_in_the_place_of_all_of_them_is_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "home/documents").mkdir(parents=True)
    (tmp_path / "private").symlink_to(tmp_path / "home")
    assert private_folders.clear(tmp_path / "private") == []
    assert (list(tmp_path.iterdir()), list((tmp_path / "home").iterdir())) == (
        [tmp_path / "home"],
        [tmp_path / "home/documents"],
    )
