"""The project is found where people expect it, and the store where they said."""

import errno
import os
import stat
from pathlib import Path

import pytest

from moot.app import project, stores
from moot.app.project import ConfigInvalid, FolderRefused, Project
from moot.core.yaml import YamlInvalid


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".moot").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("MOOT_STORE", raising=False)
    return home


@pytest.mark.parametrize("marker", [".moot", ".workflow"])
def test_the_nearest_folder_with_a_marker_is_the_root(tmp_path: Path, marker: str) -> None:
    (tmp_path / "a" / marker).mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert project.find(tmp_path / "a" / "b" / "c").root == tmp_path / "a"


def test_settings_in_the_home_folder_do_not_make_it_a_project(home: Path) -> None:
    (home / "work").mkdir()
    assert project.find(home / "work").root == home / "work"


def test_a_store_in_the_home_folder_does(home: Path) -> None:
    (home / ".workflow").mkdir()
    (home / "work").mkdir()
    assert project.find(home / "work").root == home


def test_inside_git_the_main_worktree_is_the_root(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git" / "worktrees" / "side").mkdir(parents=True)
    (tmp_path / "repo" / "src").mkdir()
    (tmp_path / "side").mkdir()
    (tmp_path / "side" / ".git").write_text(f"gitdir: {tmp_path}/repo/.git/worktrees/side\n")
    assert project.find(tmp_path / "repo" / "src").root == tmp_path / "repo"
    assert project.find(tmp_path / "side").root == tmp_path / "repo"


def test_a_submodule_is_its_own_root(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    assert project.find(tmp_path / "sub").root == tmp_path / "sub"


def test_elsewhere_the_folder_itself_is_the_root_and_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert project.find(tmp_path / "plain").root == tmp_path / "plain"
    assert list((tmp_path / "plain").iterdir()) == []


def test_option_goes_before_environment_before_project_before_home(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".moot" / "config.yaml").write_text("store: sqlite:///home.db")
    (tmp_path / ".moot").mkdir()
    assert Project(tmp_path).store_url(None) == "sqlite:///home.db"
    (tmp_path / ".moot" / "config.yaml").write_text("store: sqlite:///project.db")
    assert Project(tmp_path).store_url(None) == "sqlite:///project.db"
    monkeypatch.setenv("MOOT_STORE", "sqlite:///environment.db")
    assert Project(tmp_path).store_url(None) == "sqlite:///environment.db"
    assert Project(tmp_path).store_url("sqlite:///option.db") == "sqlite:///option.db"


def test_without_any_of_them_the_store_is_in_the_project(tmp_path: Path) -> None:
    assert Project(tmp_path).store_url(None) == f"sqlite://{tmp_path}/.workflow/moot.db"


def test_odd_characters_in_the_path_stay_what_they_are(tmp_path: Path) -> None:
    root = tmp_path / "a%41 b#c?d"
    assert stores.file_of(Project(root).store_url(None)) == root / ".workflow" / "moot.db"


@pytest.mark.parametrize("text", ["[1, 2]", "just words", "store: 3", "mcp_servers: {}\nmcpServers: {}"])
def test_a_config_of_the_wrong_shape_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / ".moot").mkdir()
    (tmp_path / ".moot" / "config.yaml").write_text(text)
    with pytest.raises(ConfigInvalid):
        Project(tmp_path).store_url(None)


def test_a_setting_that_nobody_knows_is_refused_with_the_nearest_that_is(tmp_path: Path) -> None:
    (tmp_path / ".moot").mkdir()
    (tmp_path / ".moot" / "config.yaml").write_text("attempt_time_out: 1h")
    with pytest.raises(ConfigInvalid, match="no setting `attempt_time_out`") as caught:
        Project(tmp_path).store_url(None)
    assert caught.value.remedy == "Did you mean `attempt_timeout`?"


def test_a_config_that_is_not_yaml_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / ".moot").mkdir()
    (tmp_path / ".moot" / "config.yaml").write_text("store: [")
    with pytest.raises(YamlInvalid, match=r"config\.yaml:2:1"):
        Project(tmp_path).store_url(None)


def test_a_relative_file_is_seen_from_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".moot").mkdir()
    (tmp_path / ".moot" / "config.yaml").write_text("store: sqlite:data/other.db")
    monkeypatch.delenv("MOOT_STORE", raising=False)
    monkeypatch.chdir("/")
    assert stores.file_of(Project(tmp_path).store_url(None)) == tmp_path / "data" / "other.db"


def test_what_moot_writes_is_private_whatever_is_made_first(tmp_path: Path) -> None:
    here = Project(tmp_path)
    made = (here.make_folder("pr-1"), here.folder)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in made] == [0o700, 0o700]
    assert (here.folder / ".gitignore").read_text() == "*\n"


def test_a_folder_with_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"\xff")
    folder.mkdir()
    with pytest.raises(FolderRefused, match="is not UTF-8"):
        project.find(folder)


def test_a_config_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".moot").mkdir()
    (tmp_path / ".moot" / "config.yaml").write_text("store: memory")

    def refuse(self: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # this may be root, whom nothing is refused
    with pytest.raises(ConfigInvalid, match="cannot be read: Permission denied"):
        _ = Project(tmp_path).config
