"""Facts about the store that callers may have to act on."""

from moot.core.errors import MootError


class StoreBusy(MootError):
    """The write waited its whole time in the queue and was not done."""

    code = "STORE_BUSY"


class StoreFull(MootError):
    """There was no room on the disk; the write was not done."""

    code = "STORE_FULL"


class StoreUnavailable(MootError):
    """The database failed in the middle; whether the write was done is not known."""

    code = "STORE_UNAVAILABLE"


class StoreClosed(MootError):
    """The store was closed while, or before, the write waited; it was not done."""

    code = "STORE_CLOSED"


class StoreDamaged(MootError):
    """The file is not a database, or its pages contradict each other."""

    code = "STORE_DAMAGED"


class StoreNotFound(MootError):
    """There is no store here, and reading never makes one."""

    code = "STORE_NOT_FOUND"


class StoreTooNew(MootError):
    """A newer moot has migrated this store."""

    code = "STORE_TOO_NEW"


class StoreInUse(MootError):
    """A migration would pull the tables from under a living host."""

    code = "STORE_IN_USE"


class StorePlaceRefused(MootError):
    """A store cannot live here: network file system, no permission, old SQLite."""

    code = "STORE_PLACE_REFUSED"


class StoreUrlInvalid(MootError):
    """The store's address cannot be understood."""

    code = "STORE_URL_INVALID"
    exit_code = 2


class TransactionTooSlow(MootError):
    """A transaction function used too much time of the one writer."""

    code = "TRANSACTION_TOO_SLOW"


class RowMissing(MootError):
    """A statement that always has a row had none: a fault in moot or a damaged store."""

    code = "ROW_MISSING"
