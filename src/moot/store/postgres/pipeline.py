"""Statements on their way to PostgreSQL: what need not be known at once is sent together and answered together.

A way to the server and back costs both sides more than most statements do. So a statement is only put into the line,
and the line is settled when somebody looks at a reply. A statement that failed makes the server leave out those that
were sent behind it. Not psycopg's cursors, which take twice the CPU for a statement, nor its pipelines, which take six
times as much for three.
"""

import re
import select
from collections.abc import Callable, Mapping
from functools import cache
from operator import itemgetter
from typing import Any, cast

import psycopg
from psycopg import errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.rows import TupleRow

from moot.core.records import record

Connection = psycopg.Connection[TupleRow]
_Key = tuple[str, tuple[int, ...] | None]  # a statement and the types of its values
_GOOD = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
_LONGEST = 256  # replies the server can always write down, however slowly they are read


class Reply:
    """What the server says to one statement. Whoever looks at it first settles the line."""

    __slots__ = ("_failure", "_pipeline", "_result")

    def __init__(self, pipeline: "Pipeline") -> None:
        self._pipeline = pipeline
        self._result: PGresult | None = None
        self._failure: psycopg.Error | None = None

    def rows(self) -> list[TupleRow]:
        return self._pipeline.loaded(self._good())

    def columns(self) -> tuple[str, ...]:
        result = self._good()
        return tuple((result.fname(at) or b"").decode() for at in range(result.nfields))

    def count(self) -> int:
        """How many rows it touched."""
        return self._good().command_tuples or 0

    def hear(self) -> str:
        """What was done, in the server's word: `COMMIT`, or `ROLLBACK` where it could not be."""
        return (self._good().command_status or b"").decode()

    def answer(self, result: PGresult, failure: psycopg.Error | None) -> None:
        self._result, self._failure = result, failure

    def _good(self) -> PGresult:
        if self._result is None:
            self._pipeline.settle()
        if self._failure is not None:
            raise self._failure
        assert self._result is not None, "the line was lost before it was answered"
        return self._result


class Pipeline:
    """The one user of a connection, which it keeps in pipeline mode. Belongs to one thread at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._wire = connection.pgconn
        self._transformer = Transformer(connection)
        self._prepared: dict[_Key, bytes] = {}
        self._names = 0
        self._unsure: list[_Key] = []  # on their way to be prepared
        self._waiting: list[Reply] = []
        self._input, self._either = select.poll(), select.poll()
        self._input.register(self._wire.socket, select.POLLIN)
        self._either.register(self._wire.socket, select.POLLIN | select.POLLOUT)
        self._wire.enter_pipeline_mode()

    @property
    def is_settled(self) -> bool:
        return not self._waiting

    def put(self, statement: str, values: Mapping[str, Any] | None = None) -> Reply:
        """Into the line. The values are translated here, so one that cannot be fails here."""
        if len(self._waiting) >= _LONGEST:
            self._waiting[-1].hear()
        form = _form(statement)
        translated = self._transformer.dump_sequence(form.in_order(values or {}), form.formats)
        types = self._transformer.types
        name = self._prepared.get((statement, types)) or self._prepare(statement, form.text, types)
        self._wire.send_query_prepared(name, translated, self._transformer.formats)
        return self._expect()

    def settle(self) -> None:
        """Send what waits and hear every reply. Raises when the connection is lost; a statement that failed tells
        whoever looks at its reply, or at that of one behind it."""
        waiting, self._waiting = self._waiting, []
        try:
            self._send()
            self._hear(waiting)
        except BaseException:
            self._connection.close()  # nobody could tell whose reply comes next
            raise

    def loaded(self, result: PGresult) -> list[TupleRow]:
        self._transformer.set_pgresult(result)
        return self._transformer.load_rows(0, result.ntuples, tuple)

    def _prepare(self, statement: str, text: bytes, types: tuple[int, ...] | None) -> bytes:
        """Under a name that tells whoever watches the server what is done: `commit_7`."""
        self._names += 1
        word = re.match(rb"\w*", text)
        name = self._prepared[statement, types] = b"%s_%d" % (word[0] if word else b"", self._names)
        self._unsure.append((statement, types))
        self._wire.send_prepare(name, text, types)
        self._expect()
        return name

    def _expect(self) -> Reply:
        reply = Reply(self)
        self._waiting.append(reply)
        return reply

    def _send(self) -> None:
        self._wire.pipeline_sync()
        while self._wire.flush():  # no room: the server may be waiting for us to read
            self._either.poll()
            self._wire.consume_input()

    def _hear(self, waiting: list[Reply]) -> None:
        failure: psycopg.Error | None = None
        try:
            for reply in waiting:
                result = self._next_result()
                if failure is None and result.status not in _GOOD:
                    failure = errors.error_from_result(result, self._transformer.encoding)
                reply.answer(result, failure)
                self._wire.get_result()  # the mark that there are no more for this statement
            self._next_result()  # the mark that the server is through
        except psycopg.OperationalError as error:
            raise failure or error from None  # what the server said last says more
        if failure is not None:
            for key in self._unsure:
                del self._prepared[key]
        self._unsure.clear()

    def _next_result(self) -> PGresult:
        wire = self._wire
        while wire.is_busy():
            self._input.poll()
            wire.consume_input()
        if (result := wire.get_result()) is None:
            raise psycopg.OperationalError("the connection has ended")
        return result


@record
class _Form:
    """A statement as the server wants it."""

    text: bytes
    in_order: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    formats: list[PyFormat]


@cache
def _form(statement: str) -> _Form:
    """From psycopg's spelling of it: `%(name)s`, and `%%` for a percent sign."""
    places: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        return f"${places.setdefault(found[1], len(places) + 1)}" if found[1] else "%"

    text = re.sub(r"%%|%\((\w+)\)s", numbered, statement)
    return _Form(text.encode(), _getter(list(places)), [PyFormat.AUTO] * len(places))


def _getter(names: list[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    match names:
        case []:
            return lambda values: ()
        case [name]:
            return lambda values: (values[name],)
        case _:
            return cast(Callable[[Mapping[str, Any]], tuple[Any, ...]], itemgetter(*names))
