"""The first lines of a run: who takes part, run by what, with which limits."""

from pathlib import Path

from moot.api import checking
from moot.app.workflows import Loaded
from moot.cli import cast, terminal
from moot.runner import terms


def show(loaded: Loaded, *, as_json: bool, is_verbose: bool, replays: Path | None = None) -> None:
    """As lines for people, or as one document for programs. `replays` is the recording that is played in place of all
    that is named here."""
    with terminal.unheard():
        if as_json:
            runs = {name: checking.choice(one) for name, one in loaded.choices.items()}
            connected = cast.servers(loaded.workflow.everybody.values())
            told = {} if replays is None else {"replays": str(replays)}
            told |= {"servers": connected} if connected else {}
            terminal.line({"type": "cast", **told, "runs": runs, "warnings": loaded.workflow.warnings})
        else:
            if replays is not None:
                terminal.say(f"replays {replays}: no model, no program, no command is run")
            _show(loaded, is_verbose=is_verbose)


def _show(loaded: Loaded, *, is_verbose: bool) -> None:
    workflow = loaded.workflow
    limits = cast.at_most(terms.spell(workflow.budget)) or "no limits"
    terminal.say(terminal.paint(workflow.name, "bold"), f"  {loaded.source}  {limits}")
    terminal.table([cast.brief(agent, loaded.choices.get(agent.name)) for agent in workflow.agents], (0, 0, 0))
    for connected in cast.servers(workflow.everybody.values()):
        terminal.say(f"server: {terminal.one_line(connected)}")
    if planned := cast.planned(workflow):
        terminal.say(f"tasks: {planned}")
    if is_verbose:
        for task in workflow.setup:
            terminal.say(f"setup: {terminal.one_line(task.shell)}")
    for warning in workflow.warnings:
        terminal.warn(warning)
    terminal.say("")
    terminal.flush()
