"""The first lines of a run: who takes part, run by what, with which limits."""

from moot.app.workflows import Loaded
from moot.cli import terminal
from moot.core import durations
from moot.workflow.workflow import AgentDefinition, Budget


def show(loaded: Loaded, *, as_json: bool, is_verbose: bool) -> None:
    """On the terminal only: programs are told by `moot check --json`."""
    if as_json:
        return
    workflow = loaded.workflow
    terminal.say(terminal.paint(workflow.name, "bold"), f"  {loaded.source}  {limits(workflow.budget)}")
    rows = [_row(agent) for agent in workflow.agents]
    terminal.table(rows, (0, 0, 0))
    if is_verbose:
        for task in workflow.setup:
            terminal.say(f"setup: {terminal.one_line(task.shell)}")
    for warning in workflow.warnings:
        terminal.warn(warning)
    terminal.say("")
    terminal.flush()


def limits(budget: Budget) -> str:
    """`at most $10.00, 60m, 200 attempts`."""
    found = [
        f"${budget.cost:.2f}" if budget.cost is not None else "",
        durations.spell(budget.time) if budget.time is not None else "",
        f"{budget.attempts} attempts" if budget.attempts is not None else "",
        f"{budget.tokens} tokens" if budget.tokens is not None else "",
        f"{budget.turns} turns" if budget.turns is not None else "",
    ]
    told = [one for one in found if one]
    return f"at most {', '.join(told)}" if told else "no limits"


def _row(agent: AgentDefinition) -> tuple[str, str, str, str]:
    runs_on = agent.backend or "api"
    model = agent.model or ""
    own = limits(agent.budget)
    rest = [agent.permissions.spelling, agent.workspace, *([own] if own != "no limits" else [])]
    return f"  {agent.name}", runs_on, model, ", ".join(rest)
