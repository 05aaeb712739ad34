"""Traces: what attempts were given, did and said, as far as it is on record; prompts, answers and arguments are left
out."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

from moot.core import json
from moot.core.ids import AgentId, AttemptId, InstanceName, JobId, MessageId, OperationId, RunId, StreamId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tree_path import TreePath
from moot.core.tx import ReadTx
from moot.ledger.journal import State
from moot.store import queries

sql = queries.beside(__file__)
_LAST = 2**62  # behind every number


@record
class Step:
    """One try of something in a tree of sessions."""

    root: str
    path: TreePath
    number: int
    kind: str
    name: str
    agent: str
    trigger: str
    state: State
    attempt: AttemptId
    stop: str
    error: str | None
    refusal: str | None  # what a tool answered that did not do it, as JSON, cut off
    reserve: int
    cost: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    is_estimated: bool
    started_at: datetime
    ended_at: datetime | None
    answer: str | None = None  # of a model that asks for calls, as JSON

    @property
    def calls(self) -> tuple[str, ...]:
        """The tools that an answer asks for."""
        if self.answer is None:
            return ()
        found = cast(Sequence[Sequence[str]], json.load_object(self.answer)["calls"])
        return tuple(name for _, name, _ in found)


@record
class ToolCall:
    """A call of a tool, as the tool knows it."""

    id: OperationId
    kind: str
    name: str
    state: str
    error: str | None
    started_at: datetime
    ended_at: datetime | None


@record
class Tried:
    """An attempt, and whose it is."""

    id: AttemptId
    agent: AgentId
    name: str
    instance: InstanceName
    stream: StreamId
    backend: str
    settings: Mapping[str, Json]
    job: JobId
    run: RunId | None
    number: int
    state: str
    error: str | None
    started_at: datetime
    ended_at: datetime | None

    @property
    def model(self) -> str:
        return model_of(self.backend, self.settings)


def model_of(backend: str, settings: Mapping[str, Json]) -> str:
    """An agent's model if it names one, else what runs it; who only leads a team has none, and a member that names none
    has a script."""
    model = settings.get("model")
    return model if isinstance(model, str) and model else "scripted" if backend == "api" else backend


@record
class Word:
    """The beginning of a message, and the attempt that was given it or has said it."""

    attempt: AttemptId
    id: MessageId
    seq: int
    sender: str
    kind: str
    body: str
    hops: int
    said_in: AttemptId | None
    at: datetime


@record
class Range:
    """A part of a stream."""

    stream: StreamId
    first: int = 0
    last: int = _LAST


def roots(tx: ReadTx, tried: Tried) -> list[str]:
    """The trees that an attempt may have worked on: an agent is in one attempt at a time, and goes on with its last
    tree or begins another."""
    ended_at = tried.ended_at or tx.now
    return tx.all(sql.roots, str, owner=tried.agent, started_at=tried.started_at, ended_at=ended_at)


def steps(tx: ReadTx, root: str) -> list[Step]:
    """Of one tree, in the order in which they were begun."""
    return tx.all(sql.steps, Step, root=root)


def tool_calls(tx: ReadTx, attempt: AttemptId) -> list[ToolCall]:
    return tx.all(sql.tool_calls, ToolCall, attempt=attempt)


def attempt_of_deed(tx: ReadTx, id: OperationId) -> AttemptId | None:
    found = tx.maybe(sql.attempt_of_deed, str, id=id)
    return None if found is None else AttemptId(found)


def of_attempt(tx: ReadTx, id: AttemptId) -> Tried | None:
    return tx.maybe(sql.of_attempt, Tried, id=id)


def of_job(tx: ReadTx, job: JobId) -> list[Tried]:
    return tx.all(sql.of_job, Tried, job=job)


def of_run(tx: ReadTx, run: RunId) -> list[Tried]:
    return tx.all(sql.of_run, Tried, run=run)


def last_of_agent(tx: ReadTx, agent: AgentId) -> AttemptId | None:
    found = tx.maybe(sql.last_of_agent, str, agent=agent)
    return None if found is None else AttemptId(found)


def last(tx: ReadTx, instance: InstanceName | None = None) -> AttemptId | None:
    found = tx.maybe(sql.last, str, instance=instance or "")
    return None if found is None else AttemptId(found)


def after(tx: ReadTx, id: AttemptId, limit: int) -> Sequence[AttemptId]:
    """Attempts in the order in which they were begun; the first come after an empty id."""
    return [AttemptId(one) for one in tx.all(sql.after, str, id=id, limit=limit)]


def given(tx: ReadTx, part: Range, attempt: AttemptId | None = None) -> list[Word]:
    """What attempts were given and nobody has taken back."""
    return tx.all(sql.given, Word, stream=part.stream, first=part.first, last=part.last, attempt=attempt or "")


def said(tx: ReadTx, part: Range, attempt: AttemptId | None = None) -> list[Word]:
    return tx.all(sql.said, Word, stream=part.stream, first=part.first, last=part.last, attempt=attempt or "")


def word(tx: ReadTx, id: MessageId) -> Word | None:
    return tx.maybe(sql.word, Word, id=id)


def readers(tx: ReadTx, id: MessageId) -> list[AttemptId]:
    return [AttemptId(one) for one in tx.all(sql.readers, str, id=id)]


def is_finished(tx: ReadTx, root: str, job: JobId) -> bool:
    """Whether nobody goes on with a tree after the last attempt at this delivery."""
    return tx.maybe(sql.finished, int, root=root, job=job) is not None
