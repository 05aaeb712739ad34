"""Where a PostgreSQL store lives: `postgresql://user:password@host/database?schema=moot`, parsed once."""

import re
from dataclasses import field
from urllib.parse import unquote

import psycopg
from psycopg import conninfo

from moot.core.records import record
from moot.store.errors import StoreUrlInvalid

DEFAULT_SCHEMA = "moot"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,57}")  # PostgreSQL cuts names at 63, and the channel adds a few letters
_PORTS = re.compile(r"[0-9,]*")
_EXAMPLE = "Write postgresql://user:password@host:5432/database?schema=moot."

# A cut network is noticed by both sides: here by the kernel, there by the server while it works for us.
_CLIENT = {
    "application_name": "moot",
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
    "target_session_attrs": "read-write",
}
_SERVER = {
    "client_connection_check_interval": "5s",
    "idle_in_transaction_session_timeout": "30s",
    "statement_timeout": "30s",
    "jit": "off",  # our statements are short; compiling one takes longer than it runs
}


@record
class Database:
    """One schema of one database, as PostgreSQL's library wants to be told."""

    schema: str
    place: str  # in words, without the password
    connection: str = field(repr=False)

    @property
    def channel(self) -> str:
        """What this store's processes listen to."""
        return f"moot_{self.schema}"


def parse(url: str) -> Database:
    """The address in this URL; what it says of timeouts wins over ours."""
    head, _, query = url.partition("?")
    if not head.startswith(("postgresql://", "postgres://")):
        raise StoreUrlInvalid("The store's address does not start with postgresql://.", _EXAMPLE)
    pairs = [pair for pair in query.split("&") if pair]
    ours = [unquote(pair.removeprefix("schema=")) for pair in pairs if pair.startswith("schema=")]
    rest = "&".join(pair for pair in pairs if not pair.startswith("schema="))
    given = _given(f"{head}?{rest}")
    schema = _checked(ours[-1] if ours else DEFAULT_SCHEMA)
    return Database(schema, _place(given), conninfo.make_conninfo("", **_complete(given, schema)))


def _given(url: str) -> dict[str, str]:
    unclear = StoreUrlInvalid("The store's address cannot be understood.", _EXAMPLE)
    try:
        given = {name: str(value) for name, value in conninfo.conninfo_to_dict(url).items()}
    except psycopg.ProgrammingError:
        raise unclear from None  # its words may quote a part of the password
    if not _PORTS.fullmatch(given.get("port", "")):
        raise unclear
    return given


def _checked(schema: str) -> str:
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        raise StoreUrlInvalid(
            f"{schema!r} cannot be the schema of a store.",
            "Use small letters, digits and underscores, at most 58, not starting with a digit or pg_.",
        )
    return schema


def _complete(given: dict[str, str], schema: str) -> dict[str, str]:
    settings = _SERVER | {"search_path": schema}
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    last = {"client_encoding": "UTF8", "options": f"{options} {given.get('options', '')}".strip()}
    return _CLIENT | given | last


def _place(given: dict[str, str]) -> str:
    host = given.get("host") or given.get("hostaddr") or "localhost"
    port = given.get("port", "5432")
    server = f"the socket in {host}" if host.startswith("/") else f"{host}:{port}"
    return f"PostgreSQL at {server}, database {given.get('dbname') or given.get('user') or 'by default'}"
