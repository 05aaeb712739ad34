"""Opens a store by its address; the one place that knows which databases there are."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol, cast
from urllib.parse import unquote, urlsplit

from moot.core import extras
from moot.core.clock import Clock
from moot.core.errors import MootError
from moot.store.errors import StoreUrlInvalid
from moot.store.store import Limits, Store

Kind = Literal["sqlite", "postgres", "memory"]
_KINDS: Mapping[str, Kind] = {"sqlite": "sqlite", "postgresql": "postgres", "postgres": "postgres"}


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
    match kind_of(url):
        case "postgres":
            return _postgres().open_url(url, create=create)
        case "memory":
            return _sqlite().open_memory()
        case "sqlite":
            return _sqlite().open_file(file_of(url), create=create)


def kind_of(url: str) -> Kind:
    """Which database an address means."""
    if url in ("memory", "memory:"):
        return "memory"
    try:
        scheme = urlsplit(url).scheme
    except ValueError as error:
        raise StoreUrlInvalid(
            f"The store's address cannot be understood: {error}.", "Write postgresql://host/database."
        ) from error
    kind = _KINDS.get(scheme)
    if kind is None:
        raise StoreUrlInvalid(
            f"{scheme or url[:40]!r} is not a kind of store.",
            "Use sqlite:///path/moot.db, postgresql://host/database or memory:.",
        )
    return kind


def file_of(url: str) -> Path:
    """The file of an SQLite address."""
    path = unquote(url.partition(":")[2].removeprefix("//"))
    if path.startswith("//"):  # as other programs write an absolute path
        path = path.removeprefix("/")
    if not path or path.endswith("/"):
        raise StoreUrlInvalid(f"{url[:80]!r} names no file.", "Write sqlite:///path/moot.db.")
    return Path(path)


def _sqlite() -> _Sqlite:
    return cast(_Sqlite, importlib.import_module("moot.store.sqlite"))


def _postgres() -> _Postgres:
    try:
        return cast(_Postgres, importlib.import_module("moot.store.postgres"))
    except ImportError as error:
        raise MissingExtra(
            "PostgreSQL needs a driver that is not installed.",
            f"Run: {extras.install('postgres')}.",
        ) from error
