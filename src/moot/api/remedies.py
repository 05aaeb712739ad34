"""What helps where nothing moves: how a run stands, and the commands that go on with it or run an agent again."""

import re
import shlex

from moot.api import targets
from moot.api.access import Access
from moot.core import library
from moot.core.ids import InstanceName
from moot.core.tx import ReadTx
from moot.engine.flow import flows
from moot.ledger import budgets
from moot.registry import agents, runs
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner import phases
from moot.runner.flows import section
from moot.tools import flow_access

_COMMAND = re.compile(r"\bmoot (?:resume|retry)\b(?! [@-])")
_WAITS = "waits for "


def resuming(tx: ReadTx, run: Run) -> str:
    """The command that goes on with a run; where its budget is used up, with a larger one."""
    over = budgets.used_up(budgets.shares(tx, run.id), run.reason) if run.state == "limit" else []
    return targets.whole(budgets.raising(over) if over else "moot resume", run.instance)


def beginning(tx: ReadTx, run: Run) -> str:
    """What helps where a run has failed and would come to the same if it was resumed; nothing where that helps. Files
    are named as seen from the project's root."""
    flow = section.flow_of(tx, run) if run.state == "failed" else None
    if flow is None or not flow_access.is_in_vain(tx, flow):
        return ""
    name = library.called(flows.files(tx, flow.id)[0][0])
    home = library.HOME if name.startswith(library.HOME) else ""  # which a shell knows only without quotes
    said = home + shlex.quote(name.removeprefix(home))
    return f"once that is mended, start anew: {targets.at(f'moot run {said}', run.instance)}"


def releasing(tx: ReadTx, agent: Agent) -> str:
    """The command that runs an agent again that is stopped."""
    run = runs.latest(tx, agent.instance)
    if run is not None and agent.id in {one.id for one in phases.members_of(tx, run)}:
        if run.state == "done":
            return targets.at(f"moot run {run.source}", run.instance)
        if run.state == "live" and runs.is_attended(tx, run):
            return f"moot stop @{run.instance}, then {resuming(tx, run)}"
        return resuming(tx, run)
    source = agent.metadata.get("source")
    return targets.at(f"moot serve --agents {source}" if source else f"moot new {agent.name} …", agent.instance)


async def after_answer(access: Access) -> str | None:
    """The command that goes on with a run that had ended because it waited for a person."""

    def look(tx: ReadTx) -> str | None:
        run = runs.latest(tx, access.caller.instance)
        is_waiting = run is not None and run.state == "interrupted" and run.reason.startswith(_WAITS)
        return resuming(tx, run) if run is not None and is_waiting else None

    return await access.store.read(look)


def of_run(run: Run, resume: str, *, is_attended: bool, begin: str = "") -> str | None:
    """Why a run does not go on, and what helps; None if it does, or is done. `begin` says how, if not by `resume`."""
    why = f" ({run.reason})" if run.reason not in ("", run.state) else ""
    match run.state:
        case "done":
            return None
        case "live" if not is_attended:
            return f"nobody attends the run any more; go on with: {resume}"
        case "live":
            return f"the run is paused; go on with: {resume}" if run.is_paused else None
        case "interrupted" if run.reason.startswith(_WAITS):
            return f"the run {run.reason}; answer with: {answering(run.reason, run.instance)}, then: {resume}"
        case "interrupted":
            return f"the run was interrupted{why}; go on with: {resume}"
        case "limit":
            return f"the run reached a limit{why}; go on with: {resume}"
        case "stopped":
            return f"the run was stopped{why}; go on with: {resume}"
        case "failed":
            told = in_place(run.reason, run.instance)
            if "moot resume" in told:
                return f"the run failed: {told}"
            return f"the run failed: {told.rstrip('.')}; {begin or f'go on with: {resume}'}"


def answering(reason: str, instance: InstanceName) -> str:
    """How to answer what a run waits for."""
    name = reason.removeprefix(_WAITS)
    return inbox(name if "," not in name else agents.PERSON, instance) + " --answer"


def inbox(person: str, instance: InstanceName) -> str:
    return targets.at("moot inbox" if person == agents.PERSON else f"moot inbox --as {person}", instance)


def in_place(words: str, instance: InstanceName) -> str:
    """The same words, with the instance in the commands that they name."""
    return _COMMAND.sub(lambda found: targets.whole(found[0], instance), words)
