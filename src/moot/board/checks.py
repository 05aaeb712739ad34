"""Checks: whether what a task was asked for is there, round by round; what they found is kept."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from moot.board import evidence
from moot.board.evidence import Evidence
from moot.board.tasks import Task
from moot.core import json
from moot.core.ids import TaskId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.store import queries

sql = queries.beside(__file__)
State = Literal["waiting", "asked", "passed", "failed"]
CHECKED = "task_checked"


@record
class Check:
    task: TaskId
    round: int  # counts from 1: how often its holder has said that it is done
    place: int
    words: Mapping[str, Json]
    state: State
    subject: str | None  # the request or proposal by which somebody was asked
    output: str
    at: datetime

    @property
    def is_over(self) -> bool:
        return self.state in ("passed", "failed")

    @property
    def evidence(self) -> Evidence:
        return evidence.parse(self.words)

    @property
    def spelled(self) -> str:
        return evidence.spell(self.evidence)


def begin(tx: Tx, task: Task) -> int:
    """A new round of all that the task is asked for."""
    number = last_round(tx, task.id) + 1
    tx.many(
        sql.add,
        [
            {"task": task.id, "round": number, "place": place, "words": json.dumps(words), "now": tx.now}
            for place, words in enumerate(task.checks)
        ],
    )
    return number


def last_round(tx: ReadTx, task: TaskId) -> int:
    return tx.maybe(sql.last_round, int, task=task) or 0


def latest(tx: ReadTx, task: TaskId) -> list[Check]:
    """Those of the last round, in the order of the plan."""
    return of_round(tx, task, last_round(tx, task))


def of_round(tx: ReadTx, task: TaskId, number: int) -> list[Check]:
    return tx.all(sql.of_round, Check, task=task, round=number)


def tries(tx: ReadTx, task: TaskId) -> int:
    """How often its holder has said that it is done."""
    return tx.one(sql.tries, int, task=task)


def by_subject(tx: ReadTx, subject: str) -> Check | None:
    return tx.maybe(sql.by_subject, Check, subject=subject)


def ask(tx: Tx, check: Check, subject: str) -> None:
    """Somebody was asked, and has not answered yet."""
    _note(tx, check, "asked", subject, "")


def settle(tx: Tx, check: Check, *, has_passed: bool, output: str = "") -> None:
    _note(tx, check, "passed" if has_passed else "failed", check.subject, output)


def _note(tx: Tx, check: Check, state: State, subject: str | None, output: str) -> None:
    tx.run(
        sql.note,
        task=check.task,
        round=check.round,
        place=check.place,
        state=state,
        subject=subject,
        output=output,
        now=tx.now,
    )
