"""`moot check`: validate a file, and show who would run where. Runs nothing."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from moot.api import checking
from moot.api.checking import Checked, CheckedAgent
from moot.app import choosing
from moot.app.workflows import BackendUnavailable, Casting
from moot.cli import cast, completing, pictures, steps, terminal
from moot.cli.options import input_option, json_option
from moot.core import durations
from moot.core.errors import InvalidInput
from moot.runner import terms
from moot.workflow import inputs as wanted
from moot.workflow.patterns import Kind
from moot.workflow.trees import Tree
from moot.workflow.workflow import Workflow

_KINDS: Mapping[Kind, str] = {
    "agent": "agent",
    "advisor": "advisor",
    "handoff": "handoff to",
    "destination": "router to",
    "member": "team member",
    "supervisor": "team supervisor",
}


@click.command()
@click.argument("file", required=False, shell_complete=completing.workflows)
@input_option
@click.option("--svg", type=click.Path(path_type=Path), metavar="FILE", help="Draw its steps instead.")
@click.option("--state-svg", type=click.Path(path_type=Path), metavar="FILE", help="Draw its state instead.")
@click.option("--schema", "shows_schema", is_flag=True, help="Print the JSON Schema of workflow files, for editors.")
@json_option
def command(
    *,
    file: str | None,
    inputs: tuple[str, ...],
    svg: Path | None,
    state_svg: Path | None,
    shows_schema: bool,
    as_json: bool,
) -> int:
    """Say what is wrong with FILE, or who would run where, who leads to whom, whom the kickoff wakes, what steps do.

    FILE is a workflow, by path or by name, or an agent file (.md). Nothing is run. The exit code is 2 if there is a
    problem, or if an agent cannot be run here.
    """
    if shows_schema:
        terminal.document(checking.editor_schema())
        return 0
    if file is None:
        raise click.UsageError("Which file? Write moot check FILE.", click.get_current_context())
    try:
        found = checking.check(file, inputs)
    except InvalidInput as error:
        if not as_json:
            raise
        terminal.document(checking.refused(error))
        return error.exit_code
    if svg is not None or state_svg is not None:
        _write_pictures(found, svg, state_svg)
    elif as_json:
        terminal.document(checking.plain(found))
    elif isinstance(found, CheckedAgent):
        _show_agent(found.casting, file)
    else:
        _show(found)
    return BackendUnavailable.exit_code if found.casting.obstacles else 0


def _write_pictures(found: Checked | CheckedAgent, svg: Path | None, state_svg: Path | None) -> None:
    plan = found.plan if isinstance(found, Checked) else None
    if plan is None:
        raise InvalidInput("This file has no steps to draw.", "Leave --svg and --state-svg out.")
    from moot.engine import drawing

    for file, draw in ((svg, drawing.steps), (state_svg, drawing.state)):
        if file is not None:
            pictures.write(file, draw(plan))
            terminal.say(f"{file} is written")


def _show_agent(casting: Casting, file: str) -> None:
    everybody = tuple(casting.workflow.everybody.values())
    terminal.say(f"{casting.workflow.name} ({file}): {_verdict(casting)}")
    terminal.say("")
    terminal.table(cast.rows(everybody, casting.choices), cast.LEAST_WIDTHS)
    _draw(casting, with_alone=True)
    held = [("tools", f"{one.name}: {', '.join(one.tools)}") for one in everybody if one.tools]
    facts = [*held, *(("server", one) for one in cast.servers(everybody))]
    if facts:
        terminal.say("")
    _tell(facts)
    _warn(casting)


def _show(found: Checked) -> None:
    workflow = found.workflow
    terminal.say(f"{workflow.name} ({workflow.source}): {_verdict(found.casting)}")
    if workflow.agents:
        terminal.say("")
        terminal.table(cast.rows(tuple(workflow.everybody.values()), found.casting.choices), cast.LEAST_WIDTHS)
    _draw(found.casting)
    if found.plan is not None:
        steps.show(found.plan)
    terminal.say("")
    connected = [("server", one) for one in cast.servers(workflow.everybody.values())]
    _tell([*_chosen(found), *connected, *_facts(workflow)])
    if workflow.kickoff or found.plan is None:
        terminal.say(terminal.paint("kickoff  ", "bold"), f"  wakes {', '.join(found.woken) or 'nobody'}")
    _warn(found.casting)


def _tell(facts: Iterable[tuple[str, str]]) -> None:
    for heading, line in facts:
        terminal.say(terminal.paint(f"{heading:<9}", "bold"), "  ", terminal.one_line(line))


def _draw(casting: Casting, *, with_alone: bool = False) -> None:
    """Below each agent those it leads to, by the pattern that leads there."""
    for tree in checking.grown(casting, with_alone=with_alone):
        terminal.say("")
        for depth, one in _lines(tree, 0):
            kind = "" if one.kind is None else f"{_KINDS[one.kind]} "
            models = ", else ".join(one.models) or _scripted(casting, one)
            facts = [models, "terminal" if one.has_last_word else "", "see above" if one.is_shown_before else ""]
            about = ", ".join(fact for fact in facts if fact)
            terminal.say(terminal.one_line(f"{'  ' * depth}{kind}{one.agent}{f'  ({about})' if about else ''}"))


def _scripted(casting: Casting, tree: Tree) -> str:
    return "scripted" if casting.workflow.everybody[tree.agent].backend == "scripted" else ""


def _lines(tree: Tree, depth: int) -> Iterator[tuple[int, Tree]]:
    yield depth, tree
    for branch in tree.branches:
        yield from _lines(branch, depth + 1)


def _verdict(casting: Casting) -> str:
    stuck = ", ".join(casting.obstacles)
    return f"the file is right, but {stuck} cannot be run here" if stuck else "nothing is wrong with it"


def _warn(casting: Casting) -> None:
    terminal.flush()
    for warning in casting.workflow.warnings:
        terminal.warn(warning)
    for name, one in casting.obstacles.items():
        terminal.warn(f"{name}: {one.fact}.")
        terminal.remedies(choosing.remedy((one,)))


def _chosen(found: Checked) -> list[tuple[str, str]]:
    """What was not said, but found."""
    choices = found.casting.choices.items()
    return [("chosen", f"{one.backend} for {name}: {one.why}") for name, one in choices if not one.is_said]


def _facts(workflow: Workflow) -> list[tuple[str, str]]:
    facts = [("input", wanted.spelled(one)) for one in workflow.inputs]
    for task in workflow.setup:
        becomes = f"  becomes {task.name}" if task.name else ""
        facts.append(("setup", f"{task.shell.strip()}{becomes}  (at most {durations.spell(task.timeout)})"))
    facts += [("tasks", planned)] if (planned := cast.planned(workflow)) else []
    facts += [("documents", _owner(workflow))] if workflow.agents else []
    return [*facts, ("budget", terms.spell(workflow.budget) or "no limit")]


def _owner(workflow: Workflow) -> str:
    context = workflow.context
    if not context.is_on:
        return "none, and no channel: the agents share nothing"
    match context.owner_rule:
        case "named":
            return f"{context.document}, written by {context.owner} alone"
        case "none":
            return f"{context.document}, written by everybody"
        case "default" | "elect":
            return f"{context.document}, written by whom the agents elect, or by everybody if one writes alone"
