"""SQLite's errors in moot's words: the fact, what it means for the write, and the remedy."""

import errno

import apsw

from moot.core.errors import MootError
from moot.store.errors import StoreBusy, StoreClosed, StoreDamaged, StoreFull, StoreUnavailable


class TransactionLost(Exception):
    """The database has rolled back more than one function, or the transaction is over."""


def in_words(error: BaseException) -> Exception:
    """What the caller of a function that was not committed is told."""
    if isinstance(error, TransactionLost):
        return in_words(error.__cause__) if isinstance(error.__cause__, apsw.Error) else _failed(error)
    if isinstance(error, apsw.Error):
        return named(error) or error
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    # To whoever awaits the answer these would mean the end of the program, of a task, of a loop.
    wrapped = RuntimeError(f"A transaction function raised {error!r}.")
    wrapped.__cause__ = error
    return wrapped


def named(error: apsw.Error) -> MootError | None:
    """A failed statement. None for what callers cannot act on: that is a fault in moot."""
    match error:
        case apsw.FullError():
            return _full()
        case apsw.IOError() if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
            return _full()  # of the disk's end SQLite tells only where it writes, not where it makes room
        case apsw.BusyError():
            return StoreBusy("Another program holds the database; nothing was written.", "See moot doctor.")
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreDamaged(f"The store is damaged: {error}.", "Keep a copy and run moot doctor.")
        case apsw.ConnectionClosedError():
            return StoreClosed("The store is closed.", "Open it again.")
        case apsw.IOError() | apsw.NoMemError() | apsw.ReadOnlyError() | apsw.CantOpenError():
            return _failed(error)
        case _:
            return None


def no_room(error: OSError) -> StoreFull | None:
    """A failed step of our own, if it failed for want of room."""
    return _full() if error.errno in (errno.ENOSPC, errno.EDQUOT) else None


def outcome_unknown(cause: BaseException) -> StoreUnavailable:
    """The database failed where nobody can tell whether the commit will be there after a crash."""
    return StoreUnavailable(
        f"The database failed ({_reason(cause)}) and whether this was written is not known.",
        "Check the disk (moot doctor), look whether it is there, and repeat it with the same key.",
    )


def _full() -> StoreFull:
    return StoreFull("The disk is full; nothing was written.", "Free some space and try again.")


def _failed(error: BaseException) -> StoreUnavailable:
    return StoreUnavailable(f"The database failed ({_reason(error)}); nothing was written.", "Run moot doctor.")


def _reason(error: BaseException) -> str:
    cause = error.__cause__ if isinstance(error, TransactionLost) and error.__cause__ else error
    return str(cause) or type(cause).__name__
