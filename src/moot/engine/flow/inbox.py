"""What others want of a flow: changes of its state, work that was done, answers that came. Whoever advances the flow
takes them in, all that wait at once, and notes what each is answered."""

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

from moot.core import json
from moot.core.ids import FlowId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.engine.flow.strands import MAIN
from moot.store import queries

sql = queries.beside(__file__)
# update: of the state. complete: an agent has done its step. outcome: what moot waited for has come.
Kind = Literal["update", "complete", "outcome", "begin"]
_KEPT = timedelta(minutes=10)  # for whoever still waits for the answer


@record
class Submission:
    id: str
    strand: int
    kind: Kind
    body: Mapping[str, Json]


def submit(tx: Tx, flow: FlowId, kind: Kind, body: Mapping[str, Json], strand: int = MAIN) -> str:
    id = tx.new_id("fi")
    tx.run(sql.submit, id=id, flow=flow, strand=strand, kind=kind, body=json.dumps(body), now=tx.now)
    return id


def mark(body: Mapping[str, Json]) -> str:
    """By which the same is known that is said again."""
    return hashlib.sha256(json.dumps(body).encode()).hexdigest()


def waiting(tx: ReadTx, flow: FlowId, limit: int = 256) -> list[Submission]:
    return tx.all(sql.waiting, Submission, flow=flow, limit=limit)


def open_for(tx: ReadTx, flow: FlowId, strand: int, kind: Kind) -> str | None:
    """What of this kind was submitted for a strand and is not taken in yet."""
    return tx.maybe(sql.open_for, str, flow=flow, strand=strand, kind=kind)


def is_empty(tx: ReadTx, flow: FlowId) -> bool:
    return tx.maybe(sql.first, str, flow=flow) is None


def answer(tx: Tx, id: str, said: Mapping[str, Json]) -> None:
    tx.put(sql.answer, id=id, answer=json.dumps(said))


def answered(tx: ReadTx, id: str) -> dict[str, Json] | None:
    found = tx.maybe(sql.answered, str, id=id)
    return None if found is None else json.load_object(found)


def clear(tx: Tx, flow: FlowId) -> None:
    """What was answered long ago."""
    tx.put(sql.clear, flow=flow, before=tx.now - _KEPT)
