"""PostgreSQL's errors in moot's words: the fact, what it means for the write, and the remedy."""

import psycopg
from psycopg import errors

from moot.core.errors import MootError
from moot.store.errors import (
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreNotFound,
    StorePlaceRefused,
    StoreUnavailable,
)

CONFLICTS = (errors.SerializationFailure, errors.DeadlockDetected)  # 40001 and 40P01: run it again


def cannot_connect(error: psycopg.Error, place: str) -> MootError:
    """Why there is no connection. The library gives no code here, only words."""
    reason = _reason(error)
    if "authentication failed" in reason or "no password supplied" in reason or "pg_hba.conf" in reason:
        return StorePlaceRefused(f"{place}, let nobody in: {reason}.", "Check user and password of the store's URL.")
    if reason.startswith("role ") and reason.endswith("does not exist"):
        return StorePlaceRefused(f"{place}, let nobody in: {reason}.", "Check the user of the store's URL.")
    if reason.startswith("database ") and reason.endswith("does not exist"):
        return StoreNotFound(f"{place}, is not there: {reason}.", "Create it with createdb, or check the store's URL.")
    return StoreUnavailable(
        f"{place}, cannot be reached: {reason}. Nothing was written.",
        "Check that it runs and that the address is right.",
    )


def named(error: psycopg.Error) -> MootError | None:
    """A failed statement. None for what callers cannot act on: that is a fault in moot."""
    reason = _reason(error)
    if isinstance(error, errors.DiskFull):
        return StoreFull("The disk of the database server is full; nothing was written.", "Free some space there.")
    if isinstance(error, errors.QueryCanceled | errors.LockNotAvailable):
        return StoreBusy(f"The database took too long ({reason}); nothing was written.", "Try again; see moot doctor.")
    if isinstance(error, errors.DataCorrupted | errors.IndexCorrupted):
        return StoreDamaged(f"The database is damaged: {reason}.", "Stop writing and restore a backup.")
    if isinstance(error, errors.InsufficientPrivilege):
        return StorePlaceRefused(
            f"The database user may not do this: {reason}.",
            "Let it own the schema: alter schema … owner to ….",
        )
    if isinstance(error, errors.OperationalError):
        return StoreUnavailable(f"The database failed ({reason}); nothing was written.", "See its log.")
    return None


def conflict(error: psycopg.Error) -> StoreBusy:
    return StoreBusy(f"Others kept changing the same rows ({_reason(error)}); nothing was written.", "Try again.")


def lost(error: psycopg.Error, place: str) -> StoreUnavailable:
    """The connection ended before COMMIT was sent."""
    return StoreUnavailable(
        f"The connection to {place}, was lost ({_reason(error)}); nothing was written.", "Try again."
    )


def unknown_outcome(error: psycopg.Error, place: str) -> StoreUnavailable:
    """The connection ended during COMMIT, and nobody can say what became of it."""
    return StoreUnavailable(
        f"The connection to {place}, was lost while committing ({_reason(error)})"
        " and whether this was written is not known.",
        "Look whether it is there, and repeat it with the same key.",
    )


def _reason(error: psycopg.Error) -> str:
    """The first line, without where it was tried: `connection to server at "…", port … failed: FATAL: …`."""
    text = error.diag.message_primary or str(error).strip() or type(error).__name__
    return text.splitlines()[0].rpartition("failed: ")[2].removeprefix("FATAL:").strip().rstrip(".")
