"""A store is opened by its address, or refused in words."""

import re
import sys
from pathlib import Path

import pytest

from moot.app import stores
from moot.app.stores import MissingExtra
from moot.store.errors import StoreNotFound, StoreUrlInvalid
from moot.store.sqlite import SqliteStore


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:///var/moot.db", "/var/moot.db"),
        ("sqlite:////var/moot.db", "/var/moot.db"),
        ("sqlite:///with%20space/moot.db", "/with space/moot.db"),
        ("sqlite:here/moot.db", "here/moot.db"),
    ],
)
def test_an_sqlite_address_names_a_file(url: str, file: str) -> None:
    assert stores.file_of(url) == Path(file)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("sqlite:///moot.db", "sqlite"),
        ("SQLite:moot.db", "sqlite"),
        ("postgresql://host/x", "postgres"),
        ("postgres://host/x", "postgres"),
        ("memory", "memory"),
        ("memory:", "memory"),
    ],
)
def test_the_address_says_which_database(url: str, kind: str) -> None:
    assert stores.kind_of(url) == kind


def test_without_a_driver_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "moot.store.postgres", None)
    with pytest.raises(MissingExtra, match=rf"Run: {re.escape(sys.executable)} -m pip install 'moot\[postgres\]'"):
        stores.open_store("postgresql://host/x", create=False)


@pytest.mark.parametrize("url", ["", "mysql://host/x", "moot.db", "sqlite:", "sqlite:///folder/", "postgresql://[x"])
def test_an_address_that_names_no_store_is_refused(url: str) -> None:
    with pytest.raises(StoreUrlInvalid):
        stores.open_store(url, create=True)


def test_opening_to_read_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFound):
        stores.open_store(f"sqlite://{tmp_path}/new/moot.db", create=False)
    assert list(tmp_path.iterdir()) == []


async def test_a_store_in_memory_is_gone_when_it_is_closed() -> None:
    store = stores.open_store("memory:", create=True)
    assert isinstance(store, SqliteStore)
    assert (store.folder / "moot.db").exists()
    await store.close()
    assert not store.folder.exists()
