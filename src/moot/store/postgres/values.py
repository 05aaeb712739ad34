"""How values are translated for PostgreSQL and back, in the form that psycopg takes it."""

from datetime import datetime

import psycopg
from psycopg.adapt import AdaptersMap, Buffer, Dumper, Loader
from psycopg.types.numeric import Int8Dumper

from moot.core import clock


class _MomentDumper(Dumper):
    """Moments as they are stored, in microseconds."""

    oid = Int8Dumper.oid

    def dump(self, obj: datetime) -> Buffer:
        return b"%d" % clock.to_micros(obj)


class _TruthDumper(Dumper):
    """As SQLite stores it: 0 or 1."""

    oid = Int8Dumper.oid

    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"


class _NumberLoader(Loader):
    """`sum` and `avg` of whole numbers as SQLite gives them: whole, or floating."""

    def load(self, data: Buffer) -> int | float:
        number = bytes(data)
        return float(number) if b"." in number else int(number)


def _adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    # Always the columns' type: by default an int's type follows its size, and every size is prepared anew.
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, _TruthDumper)
    adapters.register_dumper(datetime, _MomentDumper)
    adapters.register_loader("numeric", _NumberLoader)
    return adapters


class _Adapted:
    adapters = _adapters()
    connection = None


adapted = _Adapted()
