"""`moot flow`: workflows that go step by step; where they are, their state, what they did, one step more."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from moot.api.access import access
from moot.cli import flow_lines, loop, pictures, terminal
from moot.cli.options import instance_option, json_option, limit_option, store_option
from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.store.errors import StoreNotFound

if TYPE_CHECKING:
    from moot.api.flows import Trace
    from moot.api.stepping import Walked
    from moot.api.whereabouts import Whereabouts
    from moot.engine.flow.flows import Flow
    from moot.tools.flow_debug import TestCard

T = TypeVar("T")
NONE = "no workflow with steps was begun here; begin one with: moot run FILE"
HEADING = ("ID", "NAME", "STATUS", "STEPS", "WHERE")
LEAST_WIDTHS = (23, 12, 11, 5)


@record
class Here:
    """Which store is meant, and how to answer."""

    instance: str | None
    store: str | None
    as_json: bool


def _here(function: Callable[..., T]) -> Callable[..., T]:
    @wraps(function)
    def with_place(*, instance: str | None, store: str | None, as_json: bool, **others: Any) -> T:
        return function(Here(instance, store, as_json), **others)

    return instance_option(store_option(json_option(with_place)))


@click.group()
def command() -> None:
    """Workflows with steps, while they go on and afterwards. FLOW: an id or a name; the newest, if it is left out."""


@command.command("ls")
@_here
def list_all(here: Here) -> None:
    """List the flows, the newest first: where each is, and what it waits for."""
    from moot.api import flows, whereabouts

    async def work() -> list["Whereabouts"]:
        async with access("workflow_debug_info", store=here.store, instance=here.instance) as opened:
            return await flows.listed(opened)

    try:
        found = loop.run(work())
    except StoreNotFound:
        found = []
    if here.as_json:
        terminal.document([whereabouts.plain(one) for one in found])
    elif not found:
        terminal.say(NONE)
    else:
        terminal.table([HEADING, *map(flow_lines.row, found)], LEAST_WIDTHS)


@command.command()
@click.argument("words", nargs=-1, metavar="[FLOW] [PATH]...")
@click.option("--sections", is_flag=True, help="Raw, state and computed apart.")
@click.option("--checkpoint", metavar="ID", help="As it was kept then.")
@_here
def state(here: Here, words: Sequence[str], sections: bool, checkpoint: str | None) -> None:
    """Show the state of a flow, each field under its own name; or only what lies at some paths."""
    from moot.api import flows

    if sections and checkpoint is not None:
        raise click.UsageError("A checkpoint is flat; leave --sections out.", click.get_current_context())

    async def work() -> tuple[dict[str, Json], tuple[str, ...]]:
        async with access("workflow_state_read", store=here.store, instance=here.instance) as opened:
            flow, paths = await flows.split(opened, words)
            return await flows.state(opened, flow, flows.Wanted(paths, checkpoint, sections)), paths

    found, paths = loop.run(work())
    if here.as_json:
        terminal.document(found[paths[0]] if len(paths) == 1 else found)
    elif len(paths) == 1:
        only = found[paths[0]]
        terminal.say(only if isinstance(only, str) else json.pretty(only))
    elif sections and not paths:
        for section, fields in found.items():
            terminal.say(terminal.paint(section, "bold"))
            flow_lines.fields(cast(Mapping[str, Json], fields), "  ")
    else:
        flow_lines.fields(found)


@command.command()
@click.argument("transform", required=False)
@click.option("--input", "given", metavar="JSON", required=True, help="What `input` is; @FILE reads it.")
@click.option("--context", metavar="JSON", default="{}", help="Further names that it knows, as an object; or @FILE.")
@click.option("--file", "workflow", metavar="WORKFLOW", help="Try a computed field of this workflow.")
@click.option("--field", metavar="NAME", help="Which one.")
@json_option
def test(
    *, transform: str | None, given: str, context: str, workflow: str | None, field: str | None, as_json: bool
) -> int:
    """Try a transform in the sandbox: JavaScript, as in `input.filter(x => x > 1)`, or @FILE. Nothing is stored. The
    exit code is 1 if it fails."""
    if (workflow is None) != (field is None) or (transform is None) == (workflow is None):
        raise click.UsageError("Give a TRANSFORM, or --file and --field.", click.get_current_context())
    from moot.api import transforms

    value, names = _json(given, "--input"), _json(context, "--context")
    if not isinstance(names, Mapping):
        raise InvalidInput("--context is no object.", 'Write it as {"name": value}.')

    async def work() -> "TestCard":
        if workflow is not None and field is not None:
            return await transforms.tried_field(workflow, field, value, names)
        return await transforms.tried(_text(transform or "", "TRANSFORM"), value, names)

    found = loop.run(work())
    if as_json:
        terminal.document(found.model_dump(exclude_none=True))
    elif found.success:
        terminal.say("undefined" if "output" not in found.model_fields_set else json.pretty(found.output))
        terminal.flush()
        terminal.note(f"in {found.execution_time_ms:.1f} ms")
    else:
        terminal.note(f"it failed: {found.error}")
    return 0 if found.success else 1


@command.command()
@click.argument("flow", required=False)
@click.option("--field", metavar="NAME", help="Only how this computed field was computed.")
@limit_option(50, "The last N of each.")
@_here
def trace(here: Here, flow: str | None, field: str | None, limit: int) -> None:
    """Show the steps that were taken, and what was computed on the way: why, and how long it took."""
    from moot.api import flows

    async def work() -> "Trace":
        async with access("workflow_trace_transformations", store=here.store, instance=here.instance) as opened:
            return await flows.trace(opened, await flows.find(opened, flow), field, limit)

    found = loop.run(work())
    if here.as_json:
        told = {"workflow_id": found.flow.id, "name": found.flow.name, "status": found.flow.status}
        taken = [flows.plain_step(one, found.tasks.get(one.strand, "")) for one in found.steps]
        steps = {} if field is not None else {"steps": taken}
        terminal.document({**told, **steps, "traces": [flows.plain_trace(one) for one in found.computed]})
        return
    terminal.say(terminal.paint(found.flow.name, "bold"), f"  {found.flow.id}  {found.flow.status}")
    flow_lines.trace(found)


@command.command()
@click.argument("flow", required=False)
@click.option("--steps", "-n", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="How many.")
@click.option("--go", "goes_on", is_flag=True, help="Let it go on by itself from now on.")
@_here
def step(here: Here, flow: str | None, steps: int, goes_on: bool) -> None:
    """Let a flow that is run step by step (moot run --step) take the next one, and show what came of it."""
    from moot.api import flows, stepping

    async def work() -> tuple["Flow", "Walked | None"]:
        async with access("manage", store=here.store, instance=here.instance) as opened:
            found = await flows.find(opened, flow)
            seen = await stepping.allow(opened, found.id, None if goes_on else steps)
            is_waited_for = not goes_on and await stepping.is_served(opened)
            return found, await stepping.walked(opened, seen) if is_waited_for else None

    found, walked = loop.run(work())
    if here.as_json:
        terminal.document({"workflow_id": found.id, **({} if walked is None else flow_lines.plain(walked))})
    elif walked is None:
        terminal.say(f"{found.name} goes on" if goes_on else f"{found.name} may take {steps} more")
    else:
        flow_lines.walked(walked)
    if walked is None and not goes_on:
        terminal.warn("nobody carries it out; go on with: moot resume, or moot serve")


@command.command()
@click.argument("target", required=False, metavar="[FLOW|FILE]")
@click.option("--state", "only_state", is_flag=True, help="Only the state: what is computed from what.")
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help="Write a picture instead.")
@_here
def draw(here: Here, target: str | None, only_state: bool, svg: Path | None) -> None:
    """Draw the steps of a flow or of a workflow file, and what of its state is computed from what."""
    from moot.api import flow_plans
    from moot.cli import steps

    plan = loop.run(flow_plans.find(target, store=here.store, instance=here.instance))
    if svg is not None:
        from moot.engine import drawing

        pictures.write(svg, drawing.state(plan) if only_state else drawing.steps(plan))
    if here.as_json:
        terminal.document(flow_plans.plain(plan))
    elif svg is not None:
        terminal.say(f"{svg} is written")
    else:
        terminal.say(terminal.paint(plan.definition.name, "bold"))
        steps.show_state(plan) if only_state else steps.show(plan)


def _text(said: str, what: str) -> str:
    if not said.startswith("@"):
        return said
    try:
        return Path(said[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The file of {what} cannot be read: {said[1:]}.", "Name another one.") from error


def _json(said: str, what: str) -> Json:
    text = sys.stdin.read() if said == "-" else _text(said, what)
    try:
        return json.loads(text)
    except InvalidInput as error:
        raise InvalidInput(
            f"{what} is no JSON: {error.fact}", 'Write text in quotes: \'"text"\'; a list as \'["a", "b"]\'.'
        ) from error
