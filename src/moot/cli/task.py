"""`moot task`: tasks of a plan; list, show, claim, release, and say what came of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from moot.api.access import access
from moot.cli import loop, terminal
from moot.cli.options import instance_option, json_option, limit_option, person_option, store_option
from moot.core.records import record

if TYPE_CHECKING:
    from moot.api.plans import Drawn
    from moot.api.tasks import Deed
    from moot.board.checks import Check
    from moot.board.tasks import Task

T = TypeVar("T")
_STATES = ("pending", "blocked", "planning", "in_progress", "verifying", "completed", "failed", "skipped")


@record
class Here:
    """Which plan of which store is meant, and how to answer."""

    plan: str | None
    instance: str | None
    store: str | None
    as_json: bool
    person: str | None = None  # who speaks, if it is not the one at the terminal


def _here(function: Callable[..., T]) -> Callable[..., T]:
    @wraps(function)
    def with_place(*, plan: str | None, instance: str | None, store: str | None, as_json: bool, **others: Any) -> T:
        return function(Here(plan, instance, store, as_json, others.pop("person", None)), **others)

    option = click.option("--plan", metavar="PLAN", help="Which one; needed if several are open.")
    return option(instance_option(store_option(json_option(with_place))))


@click.group()
def command() -> None:
    """The tasks of a plan. TASK: its id, or its name in the plan that is open."""


@command.command("ls")
@click.option("--status", "statuses", multiple=True, type=click.Choice(_STATES), help="Only those.")
@limit_option(100, "The first N.")
@_here
def list_all(here: Here, statuses: Sequence[str], limit: int) -> None:
    """List the tasks of a plan, in its order."""
    from moot.api import plans
    from moot.cli.plan import show_tasks

    async def work() -> list["Drawn"]:
        async with access("workflow_list", store=here.store, instance=here.instance) as opened:
            return await plans.page(opened, await plans.find(opened, here.plan), statuses, limit)

    found = loop.run(work())
    if here.as_json:
        from moot.tools import standing  # heavy, and only programs want the form of it

        terminal.document([standing.task_line(one.task).model_dump(exclude_none=True) for one in found])
    elif found:
        show_tasks(found)
    else:
        terminal.say("no such tasks")


@command.command()
@click.argument("task")
@_here
def show(here: Here, task: str) -> None:
    """Everything about one task: what it is, what it waits for, what was noted and checked."""
    from moot.api import plans, tasks

    async def work() -> tuple[dict[str, Any], "list[Check]"]:
        async with access("task_get", store=here.store, instance=here.instance) as opened:
            return await tasks.whole(opened, await plans.find_task(opened, task, here.plan))

    told, checked = loop.run(work())
    if here.as_json:
        rounds = [{"check": dict(one.words), "state": one.state, "output": one.output} for one in checked]
        terminal.document({**told, "checked": rounds})
        return
    terminal.say(terminal.paint(told["name"], "bold"), f"  {told['id']}  {told['status']}")
    for name in ("description", "outcome", "error"):
        if told.get(name):
            terminal.say(f"  {told[name]}".replace("\n", "\n  "))
    for one in told["dependencies"]:
        terminal.say(f"  needs {one['name']} ({one['type']}): {one['status']}")
    for one in told["dependants"]:
        terminal.say(f"  is needed by {one['name']}: {one['status']}")
    for one in checked:
        terminal.say(f"  {one.state}: {one.spelled}", f"\n    {one.output}" if one.output else "")
    for one in told["checkpoints"]:
        terminal.say(f"  {one['created_at']} {one['type']}: {one['summary']}")


@command.command()
@click.argument("task")
@person_option
@_here
def claim(here: Here, task: str) -> int:
    """Take a task for yourself."""
    from moot.api import tasks

    found, answer = _done(here, tasks.claiming(), task)
    if here.as_json:
        terminal.document(answer)
    elif answer["success"]:
        terminal.say(f"{found.name} is yours; when it is done: moot task done {found.id} --outcome TEXT")
    else:
        terminal.note(f"not claimed: {tasks.why(answer)}")
    return 0 if answer["success"] else 1


@command.command()
@click.argument("task")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@person_option
@_here
def release(here: Here, task: str, reason: str) -> None:
    """Take a task from whoever holds it; somebody else can claim it then."""
    from moot.api import tasks

    _say(here, *_done(here, tasks.releasing(reason), task))


@command.command()
@click.argument("task")
@click.option("--outcome", required=True, metavar="TEXT", help="What came of it.")
@person_option
@_here
def done(here: Here, task: str, outcome: str) -> None:
    """Say that a task is done; it is claimed first, if nobody holds it."""
    from moot.api import tasks

    _say(here, *_done(here, tasks.completing(outcome), task))


@command.command()
@click.argument("task")
@click.option("--error", required=True, metavar="TEXT", help="What went wrong.")
@person_option
@_here
def fail(here: Here, task: str, error: str) -> None:
    """Say that a task has failed; it is claimed first, if nobody holds it."""
    from moot.api import tasks

    _say(here, *_done(here, tasks.failing(error), task))


@command.command()
@click.argument("task")
@click.option("--reason", default="", metavar="TEXT", help="Why.")
@person_option
@_here
def skip(here: Here, task: str, reason: str) -> None:
    """Leave a task out; what needs it does not wait for it."""
    from moot.api import tasks

    _say(here, *_done(here, tasks.skipping(reason), task))


@command.command()
@click.argument("task")
@person_option
@_here
def retry(here: Here, task: str) -> None:
    """Have a failed task tried again."""
    from moot.api import tasks

    _say(here, *_done(here, tasks.retrying(), task))


def _done(here: Here, deed: "Deed", task: str) -> tuple["Task", Mapping[str, Any]]:
    from moot.api import people, tasks

    async def work() -> tuple["Task", Mapping[str, Any]]:
        async with access(deed.tool, store=here.store, instance=here.instance) as opened:
            return await tasks.do(await people.acting_as(opened, here.person), deed, task, here.plan)

    return loop.run(work())


def _say(here: Here, found: "Task", answer: Mapping[str, Any]) -> None:
    if here.as_json:
        terminal.document({"id": found.id, "name": found.name, **answer})
    else:
        terminal.say(f"{found.name} is {answer['status']}")
