"""The embedded store: one SQLite file, safe between the processes of one machine."""

from moot.store.sqlite.store import SqliteStore as SqliteStore
from moot.store.sqlite.store import open_file as open_file
from moot.store.sqlite.store import open_memory as open_memory
