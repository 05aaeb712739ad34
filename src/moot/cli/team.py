"""`moot team`: a lead, a reviewer and workers who reach a goal together."""

import functools
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from moot.api import control
from moot.api.access import access
from moot.cli import clearing, loop, opening, play, terminal
from moot.cli.options import budget_option, given, json_option, permissions_option, store_option
from moot.core import text
from moot.core.errors import InvalidInput
from moot.core.ids import InstanceName
from moot.core.permissions import Preset
from moot.core.records import record, replace
from moot.registry import names
from moot.store.errors import StoreNotFound

if TYPE_CHECKING:
    from moot.api.running import Order
    from moot.api.teams import Standing
    from moot.api.workspaces import Retired
    from moot.app.teams.assembling import Wanted
    from moot.app.workflows import Loaded
    from moot.teams.teams import Team

F = TypeVar("F", bound=Callable[..., Any])
NONE = 'no teams yet; begin with: moot team up "what is to be done"'
_USUAL = "team"


def _named(context: click.Context, option: click.Parameter, value: str | None) -> InstanceName | None:
    return None if value is None else InstanceName(names.check_instance(value.removeprefix("@")))


_name_option = click.option(
    "--name", "--session", "name", metavar="NAME", default=_USUAL, callback=_named, help=f"Of the team.  [{_USUAL}]"
)
_name_argument = click.argument("name", metavar="[NAME]", default=_USUAL, callback=_named)
_OPTIONS = (
    _name_option,
    click.option("--file", metavar="FILE", type=click.Path(path_type=Path), help="Its members.  [.moot/team.yaml]"),
    click.option("--workers", metavar="N", type=click.IntRange(1, 20), help="How many workers.  [3]"),
    click.option("--worker", "worker_names", multiple=True, metavar="NAME", help="A worker by name, each."),
    click.option("--reviewer", "reviewers", multiple=True, metavar="NAME", help="A reviewer by name, each."),
    click.option("--lead", type=click.Choice(("external", "human")), help="Who comes by itself, in place of an agent."),
    click.option("--backend", "backends", multiple=True, metavar="[WHO=]NAME", help="What runs all, a part, or one."),
    click.option("--rounds", metavar="N", type=click.IntRange(1, 100), help="Of work and review, at most.  [3]"),
    click.option("--approve-plan/--no-approve-plan", default=None, help="Ask you before anybody works on the plan."),
    click.option("--push/--no-push", default=None, help="Push the branch when everything is merged.  [no]"),
    click.option("--views", type=click.Choice(("on", "off")), help="Files under .codex-teams.  [on]"),
    permissions_option,
    budget_option,
    store_option,
    json_option,
)


@record
class Said:
    """What the command line says of a team."""

    name: InstanceName
    file: Path | None
    workers: int | None
    worker_names: tuple[str, ...]
    reviewers: tuple[str, ...]
    lead: str | None
    backends: tuple[str, ...]
    rounds: int | None
    approve_plan: bool | None
    push: bool | None
    views: str | None
    permissions: Preset | None
    budget: str | None
    store: str | None
    as_json: bool

    def wanted(self, goal: str | None) -> "Wanted":
        from moot.app.teams import assembling
        from moot.app.teams.assembling import Wanted

        if self.workers is not None and self.worker_names:
            raise InvalidInput("--workers and --worker both say who works.", "Leave one of them out.")
        terms = {"rounds": self.rounds, "approve_plan": self.approve_plan, "push": self.push}
        terms |= {"views": None if self.views is None else self.views == "on"}
        return Wanted(
            goal=(goal or "").strip() or None,
            file=self.file,
            lead="human" if self.lead == "human" else "external" if self.lead else None,
            workers=self.worker_names or (assembling.worker_names(self.workers) if self.workers else ()),
            reviewers=self.reviewers,
            backends=self.backends,
            terms={name: value for name, value in terms.items() if value is not None},
        )

    def order(self) -> "Order":
        from moot.api.running import Order
        from moot.workflow.members import Flags

        return Order(
            source=self.name,
            mode="run",
            instance=self.name,
            budget=self.budget,
            store=self.store,
            has_person=play.has_person(as_json=self.as_json),
            flags=Flags(None, self.permissions),
        )


def _takes_team(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give the command these options, as its first argument."""

    @functools.wraps(command)
    def gathered(**given: Any) -> Any:
        said = Said(**{field.name: given.pop(field.name) for field in fields(Said)})
        return command(said, **given)

    for option in reversed(_OPTIONS):
        gathered = option(gathered)
    return gathered


@click.group()
def command() -> None:
    """A lead plans, workers work in worktrees of their own, lead and reviewer judge, one worker merges."""


@command.command()
@json_option
def setup(as_json: bool) -> None:
    """Make this project ready: a git repository, a first commit, a name to commit under. What is there stays."""
    from moot.api import teams

    root, done = loop.run(teams.setup())
    if as_json:
        told = {"folder": str(root), "repository": done.has_made_repository}
        terminal.document({**told, "committed": done.committed, "identity": done.has_set_identity})
        return
    if root != Path.cwd():
        terminal.say(f"the project is in {root}")
    if done.has_made_repository:
        terminal.say("made a git repository")
    if done.has_set_identity:
        terminal.say("commits here are by moot, until you say otherwise: git config user.name, user.email")
    if done.committed is not None:
        terminal.say(f"committed {text.counted(done.committed, 'file')} to begin from")
    terminal.say('ready; begin with: moot team up "what is to be done"')


@command.command()
@click.argument("goal", required=False)
@_takes_team
def create(said: Said, *, goal: str | None) -> None:
    """Put a team together without starting it. GOAL may follow with moot team up."""
    from moot.api import teams

    wanted = said.wanted(goal)
    is_said = wanted.goal is not None or teams.has_goal(said.order(), wanted)

    async def work() -> tuple["Team", "Loaded"]:
        loaded = await teams.load(said.order(), wanted if is_said else replace(wanted, goal="to be said"))
        async with access("manage", store=said.store, create=True) as opened:
            return await teams.create(opened, said.name, loaded, wanted.goal or ""), loaded

    team, loaded = loop.run(work())
    if said.as_json:
        terminal.document({"name": team.instance, "members": dict(team.members), "goal": team.goal})
        return
    _open(loaded, said)
    words = ["moot team up", *(() if is_said else ('"what is to be done"',)), given(click.get_current_context())]
    terminal.say(f"the team {team.instance} is there; start it with: {' '.join(filter(None, words))}")


@command.command()
@click.argument("goal", required=False)
@click.option("--verbose", "-v", is_flag=True, help="Also show what agents do on their way.")
@click.option("--background", "in_background", is_flag=True, help="Detach from the terminal; write to a log.")
@click.option("--dry-run", is_flag=True, help="Say who would run, and stop there.")
@_takes_team
def up(said: Said, *, goal: str | None, verbose: bool, in_background: bool, dry_run: bool) -> int:
    """Start a team on GOAL, and attend it until it is done. Without a goal, on the one it was created
    with, or that of its file.

    Exit codes are those of moot run; a team that was interrupted goes on with moot resume @NAME.
    """
    from moot.api import background, running, teams

    order = replace(said.order(), heard=_heard(as_json=said.as_json) if verbose else None)
    loaded = loop.run(teams.load(order, loop.run(teams.aimed(order, said.wanted(goal)))))
    order = replace(order, seat=_own_seat(loaded))
    if not dry_run and not in_background:
        running.check_trust(order, loaded)
    if in_background:
        arguments = [one for one in sys.argv[1:] if one != "--background"]
        return _tell_started(background.start(arguments, said.name), said)
    _open(loaded, said)
    if dry_run:
        return 0
    return loop.run(play.show(running.run(order, loaded), order, as_json=said.as_json))


command.add_command(up, "run")


def _own_seat(loaded: "Loaded") -> str:
    """The name under which the person at the terminal leads, if that is so."""
    team = loaded.workflow.team
    lead = None if team is None else loaded.workflow.everybody[team.lead]
    return lead.name if lead is not None and lead.backend == "human" else ""


def _heard(*, as_json: bool) -> Callable[[str, str, str], None]:
    return play.progress_line if as_json else play.progress


def _open(loaded: "Loaded", said: Said) -> None:
    """Who takes part, what it may cost, and which branches there will be, before anything is spent."""
    from moot.api import teams

    opening.show(loaded, as_json=said.as_json, is_verbose=False)
    where = teams.branches_of(loaded, said.name)
    team = loaded.workflow.team
    assert team is not None
    if said.as_json:
        terminal.line({"type": "team", "members": team.parts, "branches": dict(where), "push": team.pushes})
        return
    merged = f"merged into {next(iter(where.values()))}, {'and pushed' if team.pushes else 'pushed nowhere'}"
    terminal.say(f"branches: {', '.join(where.values())}; {merged}")
    asks = "you approve the plan; " if team.asks_for_plan and not _own_seat(loaded) else ""
    terminal.say(f"{asks}at most {text.counted(team.rounds, 'round')} of work and review")
    terminal.say("")
    terminal.flush()


def _tell_started(started: Any, said: Said) -> int:
    if not started.is_ready:
        for line in started.last_words:
            terminal.note(line)
        return started.exit_code or 1
    if said.as_json:
        terminal.document({"name": said.name, "status": "live", "pid": started.pid, "log": str(started.log)})
        return 0
    terminal.say(f"the team {said.name} works in the background (process {started.pid})")
    terminal.say(f"see it with: moot team status {said.name}    end it with: moot team down {said.name}")
    return 0


@command.command()
@click.argument("name", required=False, callback=_named)
@store_option
@json_option
def status(name: InstanceName | None, store: str | None, as_json: bool) -> None:
    """How far teams have come: their stage, and who does what."""
    from moot.api import teams

    async def work() -> list["Standing"]:
        async with access("agent_list", store=store) as opened:
            return await teams.listed(opened, name)

    try:
        found = loop.run(work())
    except StoreNotFound:
        if name is not None:
            raise
        found = []
    if as_json:
        terminal.document([teams.document(one) for one in found])
    elif not found:
        terminal.say(NONE)
    for one in found if not as_json else ():
        _show(one)


def _show(one: "Standing") -> None:
    from moot.cli import status as statuses

    team = one.team
    how = f"{team.stage}, round {team.round} of {team.most_rounds}" if team.round else team.stage
    terminal.say(terminal.paint(team.instance, "bold"), f"  {how}  ", text.shortened(team.goal, 100))
    if team.reason:
        terminal.say("  ", terminal.paint("! ", "yellow"), team.reason)
    for said in one.reviews:
        what = text.counted(len(said.issues), "issue") if said.verdict == "changes" else said.verdict or "not given yet"
        terminal.say(f"  review {said.round} by {said.reviewer}: {what}")
    statuses.show(one.status)


@command.command()
@_name_argument
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="Begin with the last N.")
@store_option
def attach(name: InstanceName, limit: int, store: str | None) -> None:
    """See a team as it works, and sit in the lead's seat if nobody is started there. /help says what can be typed."""
    loop.run(_attach(name, limit, store))


async def _attach(name: InstanceName, limit: int, store: str | None) -> None:
    from moot.api import seats
    from moot.api.connection import connect
    from moot.cli import watch

    async with connect("channel_read", store=store, instance=name, waits=True) as opened:  # TeamNotFound says more
        seat = await seats.look(opened, name)
        who = f"you are {seat.lead.name}" if seat.is_free else f"{seat.lead.name} is run by {seat.lead.backend}"
        terminal.note(f"{name} is {seat.team.stage}; {who}; /help says what can be typed")
        await watch.take_part(opened, limit, seats.taken(store, name), seats.obey)


@command.command()
@_name_argument
@click.option("--now", is_flag=True, help="Do not let running attempts finish; their mail waits.")
@store_option
@json_option
def down(name: InstanceName, now: bool, store: str | None, as_json: bool) -> None:
    """Stop a team at a safe point. It goes on with moot resume @NAME."""
    from moot.api import teams
    from moot.api.control import Stopped
    from moot.api.targets import Target

    async def work() -> list[Stopped]:
        async with access("manage", store=store) as opened:
            await teams.listed(opened, name)  # TeamNotFound, rather than whatever else has this name
            return await control.stop(opened, Target(None, name), "now" if now else "safely")

    stopped = loop.run(work())
    if as_json:
        terminal.document([{"name": one.name, "is_attended": one.is_attended} for one in stopped])
    elif not any(one.is_run for one in stopped):
        terminal.say(f"the team {name} is not at work")
    else:
        waits = "" if now else " when its members have finished what they are doing"
        terminal.say(f"the team {name} stops{waits}")


@command.command()
@_name_argument
@click.option("--force", is_flag=True, help="End its process first, if one runs.")
@store_option
@json_option
def delete(name: InstanceName, force: bool, store: str | None, as_json: bool) -> None:
    """Delete a team with everything that was said and done. What is not merged stays on its branches."""
    from moot.api import removing, teams

    async def work() -> "Retired":
        async with access("manage", store=store) as opened:
            await teams.listed(opened, name)
            if force:
                await teams.end_processes(opened, name)
            return await removing.remove(opened, name)

    retired = loop.run(work())
    if as_json:
        terminal.document({"name": name, "status": "deleted", **clearing.document(retired)})
        return
    terminal.say(f"the team {name} is deleted")
    clearing.tell(retired)
