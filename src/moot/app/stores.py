"""Opens a store by its address; the one place that knows which databases there are."""

import importlib
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import unquote, urlsplit

from moot.core.clock import Clock
from moot.core.errors import MootError
from moot.store.errors import StoreUrlInvalid
from moot.store.store import Limits, Store


class MissingExtra(MootError):
    """An optional part is not installed."""

    code = "MISSING_EXTRA"


class _Postgres(Protocol):
    def open_url(
        self, url: str, *, create: bool, clock: Clock | None = None, limits: Limits | None = None
    ) -> Store: ...


class _Sqlite(Protocol):
    def open_file(
        self, file: Path, *, create: bool, clock: Clock | None = None, limits: Limits | None = None
    ) -> Store: ...

    def open_memory(self, *, clock: Clock | None = None, limits: Limits | None = None) -> Store: ...


def open_store(url: str, *, create: bool) -> Store:
    """`sqlite:///path`, `postgresql://…` or `memory:`. Only with `create` is anything made."""
    scheme = scheme_of(url)
    if scheme in ("postgresql", "postgres"):
        return _postgres().open_url(url, create=create)
    if url in ("memory", "memory:"):
        return _sqlite().open_memory()
    return _sqlite().open_file(file_of(url), create=create)


def file_of(url: str) -> Path:
    """The file of an SQLite address."""
    if not url.startswith("sqlite:"):
        raise StoreUrlInvalid(
            f"{scheme_of(url) or url[:40]!r} is not a kind of store.",
            "Use sqlite:///path/moot.db, postgresql://host/database or memory:.",
        )
    path = unquote(url.removeprefix("sqlite:").removeprefix("//"))
    if path.startswith("//"):  # as other programs write an absolute path
        path = path.removeprefix("/")
    if not path or path.endswith("/"):
        raise StoreUrlInvalid(f"{url[:80]!r} names no file.", "Write sqlite:///path/moot.db.")
    return Path(path)


def scheme_of(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError as error:
        raise StoreUrlInvalid(
            f"The store's address cannot be understood: {error}.", "Write postgresql://host/database."
        ) from error


def _sqlite() -> _Sqlite:
    return cast(_Sqlite, importlib.import_module("moot.store.sqlite"))


def _postgres() -> _Postgres:
    try:
        return cast(_Postgres, importlib.import_module("moot.store.postgres"))
    except ImportError as error:
        raise MissingExtra(
            "PostgreSQL needs a driver that is not installed.",
            "Run: pip install 'moot[postgres]' (in a checkout: pip install '.[postgres]').",
        ) from error
