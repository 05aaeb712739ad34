"""Teams, as a person has them: made ready, put together, started, looked at, ended and deleted."""

import os
from collections.abc import Mapping
from pathlib import Path

from moot.api import access, rights, running, showing, status
from moot.api.access import Access
from moot.api.running import Order
from moot.api.status import Status
from moot.app import choosing, workflows
from moot.app.project import Project
from moot.app.teams import assembling
from moot.app.teams.assembling import Wanted
from moot.app.workflows import Loaded
from moot.core.errors import InvalidInput, MootError
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.core.records import record, replace
from moot.core.tx import ReadTx, Tx
from moot.core.yaml import Document
from moot.process import ending, identity
from moot.registry import agents, hosts, instances, runs
from moot.registry.hosts import Host
from moot.registry.runs import InstanceBusy
from moot.runner import neighbours
from moot.runner.teams import section
from moot.store.errors import StoreNotFound
from moot.teams import reviews, teams
from moot.teams.reviews import Review
from moot.teams.teams import Team
from moot.views.team.keeper import TeamViews
from moot.workspaces import branches, preparing
from moot.workspaces.errors import NoRemote
from moot.workspaces.preparing import Prepared

NAME = InstanceName("team")  # of a team that has no other
_END_SECONDS = 10.0  # for a process to end that was asked to


class NotPrepared(InvalidInput):
    """A team needs a repository to work in."""

    code = "NOT_PREPARED"


class ProcessStays(MootError):
    """The process that runs a team cannot be ended from here."""

    code = "PROCESS_STAYS"


@record
class Standing:
    """A team, what its reviewers have said in this run, and what its members do."""

    team: Team
    reviews: tuple[Review, ...]
    status: Status


async def setup() -> tuple[Path, Prepared]:
    """Where the project is, which may be above, and what was missing there."""
    root = access.find_project().root
    return root, await preparing.prepare(root)


async def aimed(order: Order, wanted: Wanted) -> Wanted:
    """With what the team is to reach: as is said, as it was created with, as its file says, or the same as last."""
    if wanted.goal is not None:
        return wanted
    is_in_file = has_goal(order, wanted)
    before = await _before(order)
    if before is not None and before.goal and (before.stage == "formed" or not is_in_file):
        return replace(wanted, goal=before.goal)
    if not is_in_file:
        raise InvalidInput("The team has no goal.", 'Say it: moot team up "what is to be done"')
    return wanted


def has_goal(order: Order, wanted: Wanted) -> bool:
    """Whether a file says what the team is to reach."""
    return assembling.has_goal(order.project or access.find_project(), wanted)


async def _before(order: Order) -> Team | None:
    """The team of this name that is there already."""
    try:
        async with access.access("agent_list", store=order.store) as opened:
            return await opened.store.read(lambda tx: teams.find(tx, order.instance))
    except StoreNotFound:
        return None


async def load(order: Order, wanted: Wanted) -> Loaded:
    """The team, checked before anything happens; NotPrepared where it could not work."""
    assembling.check_switches(os.environ)
    project = order.project or access.find_project()
    document, file = assembling.assembled(project, wanted)
    _check_backends(project, document, wanted)
    if missing := await preparing.missing(project.root):
        remedy = "Check one out: git switch NAME" if missing.is_for_person else "Run: moot team setup"
        raise NotPrepared(f"The workers of a team need worktrees, and {missing.fact}.", remedy)
    loaded = workflows.load_document(project, document, file, order.instance, order.flags)
    if loaded.workflow.team is not None and loaded.workflow.team.pushes:
        await _check_remote(project)
    return running.prepared(order, loaded)


async def _check_remote(project: Project) -> None:
    """Before anything is spent: what a team pushes, it pushes at its very end."""
    try:
        await preparing.remote(project.root)
    except NoRemote as error:
        raise NotPrepared(f"The team is to push what it has merged. {error.fact}", error.remedy) from error


def _check_backends(project: Project, document: Document, wanted: Wanted) -> None:
    """The usual team needs something that runs it; what files say is looked at with them."""
    is_said = wanted.backends or document.root is not None or "defaults" in project.config
    if not is_said and choosing.first(choosing.this_machine(project.root)) is None:
        found = choosing.nothing()
        raise workflows.BackendUnavailable(found.fact, choosing.remedy([found]))


def branches_of(loaded: Loaded, instance: InstanceName) -> Mapping[str, str]:
    """Where each worker will work."""
    team = loaded.workflow.team
    own = {one.name for one in loaded.workflow.agents if one.backend not in ("human", "external")}
    return {} if team is None else {name: branches.default(instance, name) for name in team.workers if name in own}


async def create(opened: Access, instance: InstanceName, loaded: Loaded, goal: str) -> Team:
    """The team without a run: its members are known, and nobody is started."""
    rights.check_operator(opened.caller)
    definition = loaded.workflow.team
    assert definition is not None

    def change(tx: Tx) -> Team:
        place = instances.ensure(tx, instance)
        _check_free(tx, instance)
        for member in loaded.members:
            agents.ensure(tx, place, member)
        return section.form(tx, place, definition, goal)

    made = await opened.store.write(change, caller=opened.caller)
    await TeamViews(opened.store, opened.project.root).settle(instance)  # what is in their way, a person is warned of
    return made


def _check_free(tx: ReadTx, instance: InstanceName) -> None:
    run = runs.live(tx, instance)
    if run is not None and runs.is_attended(tx, run):
        raise InstanceBusy(f"The team {instance} is at work.", f"End it with: moot team down {instance}")


async def listed(opened: Access, only: str | None = None) -> list[Standing]:
    """All teams, or one; TeamNotFound if there is none of this name. Their files show the same from now on."""
    await showing.bring_all(opened.store, opened.project)
    found = await opened.store.read(lambda tx: [teams.get(tx, only)] if only else teams.all_of(tx))
    return [await _standing(opened, one) for one in found]


async def _standing(opened: Access, team: Team) -> Standing:
    found = await status.of_all(opened, team.instance)
    said = await opened.store.read(lambda tx: reviews.of_run(tx, team.run) if team.run else [])
    return Standing(team, tuple(said), found[0])


def document(one: Standing) -> dict[str, Json]:
    team = one.team
    return {
        "name": team.instance,
        "goal": team.goal,
        "stage": team.stage,
        "reason": team.reason,
        "round": team.round,
        "rounds": team.most_rounds,
        "workflow_id": team.run,
        "members": dict(team.members),
        "approve_plan": team.asks_for_plan,
        "push": team.pushes,
        "views": team.has_views,
        "reviews": [
            {"round": each.round, "by": each.reviewer, "verdict": each.verdict or None, "issues": list(each.issues)}
            for each in one.reviews
        ],
        "status": status.document(one.status),
    }


async def end_processes(opened: Access, instance: InstanceName) -> None:
    """The process that runs the team, if it is on this machine and runs nothing else: asked first, then killed. Who it
    is was written down with the time it started, so nobody else is ended in its place."""
    rights.check_operator(opened.caller)
    await neighbours.see_to(opened.store)
    found = await opened.store.write(lambda tx: _attending(tx, instance), caller=opened.caller)
    if found is None:
        return
    process = identity.parse(found.process)
    if not await ending.is_over(process, _END_SECONDS) and not await ending.end(process, _END_SECONDS):
        raise ProcessStays(f"The process {process.pid} does not end.", "See what it waits for.")
    await neighbours.see_to(opened.store)


def _attending(tx: Tx, instance: InstanceName) -> Host | None:
    """Whoever attends its run, which is asked to end at once."""
    run = runs.live(tx, instance)
    host = next((one for one in hosts.alive(tx) if run is not None and one.id == run.attended_by), None)
    if run is None or host is None:
        return None
    others = [one for one in runs.all_live(tx) if one.attended_by == host.id and one.id != run.id]
    if others or host.machine != neighbours.machine():
        where = f"also runs {others[0].instance}" if others else f"is on {host.machine.partition('/')[0]}"
        raise ProcessStays(
            f"The process that runs {instance} {where}.", f"End the team with: moot team down {instance}"
        )
    runs.ask_stop(tx, run, "now")
    return host
