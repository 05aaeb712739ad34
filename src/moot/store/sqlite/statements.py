"""Statements as apsw is given them: short, with their values by place, and what makes records of their rows."""

import re
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, cast

from moot.core.records import record
from moot.store import queries
from moot.store.rows import Reader

_PIECE = re.compile(r"""('[^']*'|"[^"]*")|--[^\n]*|(?<!:):([a-z_][a-z0-9_]*)|\s*([,()=])\s*|\s+""")
_STREAMS = re.compile(r"\b(streams|events)\b")


@record
class Statement:
    text: str
    in_order: Callable[[Mapping[str, Any]], tuple[Any, ...]]  # its values as they are bound
    readers: dict[type, Reader]  # for each type that its rows were made into
    looks_at_streams: bool  # or at their events, and so wants to see what was counted


class Statements(dict[str, Statement]):
    """By their text in the `.sql` file; made when they are first asked for, and kept as long as the process lives."""

    def __missing__(self, sql: str) -> Statement:
        names = queries.parameters(sql)
        made = self[sql] = Statement(short(sql, names), _in_order(names), {}, _STREAMS.search(sql) is not None)
        return made


def short(sql: str, names: tuple[str, ...]) -> str:
    """The same in fewer letters: apsw finds what is prepared by its text, and reads all of it every time."""

    def shortened(piece: re.Match[str]) -> str:
        literal, name, mark = piece.groups()
        return literal or mark or (f"?{names.index(name) + 1}" if name else " ")

    return _PIECE.sub(shortened, sql)


def _in_order(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """By place, because looking up names takes as long as many a statement."""
    match names:
        case ():
            return lambda values: ()
        case (name,):
            return lambda values: (values[name],)
        case _:
            return cast(Callable[[Mapping[str, Any]], tuple[Any, ...]], itemgetter(*names))


statements = Statements()
