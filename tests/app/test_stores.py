"""A store is opened by its address, or refused in words."""

from pathlib import Path

import pytest

from moot.app import stores
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
