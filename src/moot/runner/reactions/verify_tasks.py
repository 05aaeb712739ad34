"""Somebody has answered: if that is what a task waits for, a job looks at it again. If a task waits no more, neither
does anybody who was asked."""

from moot.board import checks, tasks
from moot.core.events import StoredEvent
from moot.core.ids import TaskId
from moot.core.tx import Tx
from moot.tools import verifying


def verify_tasks(tx: Tx, event: StoredEvent) -> None:
    check = checks.by_subject(tx, event.subject)
    task = check and tasks.find(tx, check.task)
    if task is not None:
        verifying.look_again(tx, task)


def withdraw_questions(tx: Tx, event: StoredEvent) -> None:
    task = tasks.find(tx, TaskId(event.subject))
    if task is not None and task.checks and task.status != "verifying":
        verifying.withdraw(tx, task)
