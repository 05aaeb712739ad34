"""Failures of the database and of the disk are told apart."""

import errno

import apsw
import pytest

from moot.core.errors import MootError
from moot.store.errors import StoreBusy, StoreDamaged, StoreFull, StoreUnavailable
from moot.store.sqlite import faults


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (apsw.SQLITE_FULL, StoreFull),
        (apsw.SQLITE_IOERR_SHMSIZE, StoreFull),
        (apsw.SQLITE_IOERR_READ, StoreUnavailable),
        (apsw.SQLITE_BUSY, StoreBusy),
        (apsw.SQLITE_CORRUPT, StoreDamaged),
    ],
)
def test_what_sqlite_reports_has_a_name(code: int, kind: type[MootError]) -> None:
    error = apsw.exception_for(code)
    assert isinstance(error, apsw.Error)
    assert type(faults.named(error)) is kind


@pytest.mark.parametrize(("number", "is_full"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EACCES, False)])
def test_a_step_without_room_is_not_a_refused_place(number: int, is_full: bool) -> None:
    assert (faults.no_room(OSError(number, "x")) is not None) == is_full
