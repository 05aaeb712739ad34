"""Running a workflow: a host in this process, and somebody who attends the run until it is over."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from moot.api import access, summaries, taping, targets
from moot.api.attending import Attendant, Ending, Expected, Failed, Paused, Staged, Warned
from moot.api.connection import Connection, connect
from moot.api.footsteps import Footstep, Sight
from moot.api.summaries import Summary
from moot.api.taping import Replayed, Taping
from moot.app import budgets, hosting, settings, shadows, trust, workflows
from moot.app.choosing import Rehearsal
from moot.app.hosting import HostOptions, Running
from moot.app.project import Project
from moot.app.stores import open_store
from moot.app.trust import NobodyToAsk
from moot.app.workflows import Loaded
from moot.bus.messages import Message
from moot.core.caller import SYSTEM, Caller
from moot.core.errors import InvalidInput, MootError
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tool import Tool
from moot.core.tx import Tx
from moot.edge.page import Page
from moot.ledger.budgets import BudgetUsedUp
from moot.process.errors import NotConfined
from moot.registry import instances, runs
from moot.registry.agents import PERSON
from moot.registry.runs import Mode, NewRun, Run
from moot.runner import neighbours, own_limits, phases, terms
from moot.runner.trails import Heard
from moot.store.store import Store
from moot.tools import talk
from moot.tools.table import Functions
from moot.tools.talk import Words
from moot.web import visiting
from moot.workflow import stored
from moot.workflow.members import Flags

if TYPE_CHECKING:
    from moot.taping.recording.recorder import Recorder
    from moot.taping.replaying.player import Player

_MEMORY = "memory:"


@record
class Shown:
    """The live page of this run can be opened."""

    link: str


Piece = Run | Shown | Message | Failed | Warned | Paused | Staged | Expected | Footstep | Ending | Summary | Replayed


class FunctionsMissing(MootError):
    """A run goes on only where the functions are that its agents call."""

    code = "FUNCTIONS_MISSING"


@dataclass(slots=True)
class Desk:
    """Where the person at the terminal sits while this process attends a run."""

    store: Store | None = None  # of a run in memory, which nobody can open but who runs it


@record
class Order:
    """Which workflow is to be run, how, and where."""

    source: str
    mode: Mode
    instance: InstanceName
    inputs: tuple[str, ...] = ()
    budget: str | None = None  # as `--budget` has it
    store: str | None = None
    has_person: bool = False  # at the terminal, who can answer
    flags: Flags = field(default_factory=Flags)  # what is said of all agents
    taping: Taping = field(default_factory=Taping)
    heard: Heard | None = None  # hears what agents do on their way
    project: Project | None = None  # None: the one around the current folder
    question: str | None = None  # for the first of its agents, instead of a kickoff
    desk: Desk = field(default_factory=Desk)
    seat: str = ""  # in a team, if the person at the terminal leads it
    is_stepped: bool = False  # each step of the file waits until somebody lets it be taken
    sight: Sight = field(default_factory=Sight)
    functions: Mapping[str, Tool] = field(default_factory=dict[str, Tool])  # in Python, for its agents
    hears_signals: bool = True  # Ctrl-C ends the run, and not the process
    shows_page: bool = False  # on which somebody can answer, too

    @property
    def can_be_answered(self) -> bool:
        return self.has_person or self.shows_page


def load(order: Order) -> Loaded:
    """Read and check everything before anything happens."""
    budgets.parse(order.budget)  # what is wrong with it is told first
    order.taping.check()
    machine = Rehearsal({}) if order.taping.replay else None
    project = order.project or access.find_project()
    flags = replace(order.flags, functions=tuple(order.functions))
    loaded = workflows.load(project, order.source, order.instance, order.inputs, flags, machine)
    if order.taping.replay is not None:
        loaded = taping.rehearsed(loaded, order.taping.replay)
    return prepared(order, loaded)


def prepared(order: Order, loaded: Loaded) -> Loaded:
    """With what the order says of the run, once its workflow is read."""
    workflow = loaded.workflow
    if workflow.team is not None and (order.taping.record or order.taping.replay):
        raise InvalidInput("The run of a team cannot be recorded, nor played again.", "Leave that out.")
    if order.is_stepped and order.taping.replay is not None:
        raise InvalidInput("--step and --replay were given.", "Leave one of them out: a replay takes every step.")
    if order.is_stepped and not workflow.flow:
        raise InvalidInput(f"{loaded.source} has no steps to be taken one by one.", "Leave --step out.")
    budget = budgets.changed(workflow.budget, budgets.parse(order.budget))
    return replace(loaded, workflow=replace(workflow, budget=budget, is_stepped=order.is_stepped))


def check_trust(order: Order, loaded: Loaded) -> None:
    """NobodyToAsk, if an agent may have to ask and nobody can answer; NotConfined, if one would not even ask."""
    found = refusal(order, loaded)
    if found is not None:
        raise found


def refusal(order: Order, loaded: Loaded) -> NobodyToAsk | NotConfined | None:
    if order.taping.replay is not None:
        return None
    everybody = tuple(loaded.workflow.everybody.values())
    asking = trust.asking(everybody, loaded.choices)
    if asking and not _can_answer(order, loaded):
        is_team = loaded.workflow.team is not None
        return trust.refusal(asking, is_team=is_team, is_question=order.question is not None)
    return trust.unconfined_refusal(everybody)


def _can_answer(order: Order, loaded: Loaded) -> bool:
    """Whether somebody is there: a run that stays can be answered from any other terminal; so can one that calls, and a
    lead from outside answers for the person."""
    workflow = loaded.workflow
    if order.can_be_answered or order.mode == "start" or workflow.notify is not None:
        return True
    if workflow.team is not None and workflow.everybody[workflow.team.lead].backend == "external":
        return True
    return settings.notify((order.project or access.find_project()).config) is not None


async def run(order: Order, loaded: Loaded) -> AsyncIterator[Piece]:
    """Start it, and attend it to its end: the run, what is said, how it ended, what came of it."""

    if loaded.shadow is not None:
        shadows.remember(order.project or access.find_project(), loaded.shadow)
    stage = _stage(order, loaded)
    player = taping.playing(stage)
    played = taping.adapted(loaded, player.recorded) if player else loaded
    definition = stored.to_json(played.workflow)

    def begin(tx: Tx, running: Running) -> Run:
        instance = instances.ensure(tx, order.instance)
        new = NewRun(
            played.workflow.name,
            played.source,
            "taped" if stage else "bound" if order.functions else order.mode,
            definition,
            played.given,
            running.host.id,
        )
        run = phases.launch(tx, instance, new, played.members)
        if order.question is not None:  # in the words of whoever asks, which mention nobody
            talk.say(tx, instance, None, Words(order.question, to=(played.members[0].name,), spoken=""))
        return run

    is_kept = loaded.workflow.context.provider == "file"
    wanted = order if is_kept else replace(order, store=_MEMORY)
    options = HostOptions(keeps_files=is_kept, stage=stage)
    if player is not None:
        options = replace(options, retry=taping.AT_ONCE)
        wanted = replace(wanted, has_person=False, shows_page=False)
    async for piece in _attended(wanted, begin, options):
        yield piece


@asynccontextmanager
async def taking_part(order: Order) -> AsyncGenerator[Connection]:
    """The person at the terminal, in the store of the run that is attended here."""
    if order.desk.store is not None:
        caller = Caller(PERSON, "operator", order.instance)
        yield Connection(order.desk.store, order.project or access.find_project(), caller)
        return
    async with connect("channel_send", store=order.store, instance=order.instance, create=True) as connection:
        yield connection


def _stage(order: Order, loaded: Loaded) -> "Recorder | Player | None":
    if order.taping.replay is not None:
        return taping.player(order.taping.replay, order.instance, loaded)
    if order.taping.record is not None:
        return taping.recorder(order.taping, order.instance, loaded, has_person=_can_answer(order, loaded))
    return None


async def resume(order: Order) -> AsyncIterator[Piece]:
    """Go on with the last run of an instance, with another budget if one is given."""
    changes = terms.limit_changes(budgets.parse(order.budget))

    def begin(tx: Tx, running: Running) -> Run:
        before = runs.latest(tx, order.instance)
        run = runs.resume(tx, order.instance, running.host.id)
        _check_functions(run, order)
        if before is not None and before.state == "limit":
            own_limits.renew(tx, run)
        try:
            phases.carry_on(tx, run, changes)
        except BudgetUsedUp as error:
            raise BudgetUsedUp(error.fact, targets.whole(error.remedy.rstrip("."), run.instance) + ".") from error
        return run

    async for piece in _attended(order, begin):
        yield piece


def _check_functions(run: Run, order: Order) -> None:
    missing = [str(one) for one in cast("list[str]", run.definition.get("functions", ())) if one not in order.functions]
    if missing:
        raise FunctionsMissing(
            f"The agents of this run call Python functions that are not here: {', '.join(missing)}.",
            "Go on with it where they are: moot.resume(tools=[…]) in Python.",
        )


async def _attended(
    order: Order, begin: Callable[[Tx, Running], Run], options: HostOptions | None = None
) -> AsyncIterator[Piece]:
    project = order.project or access.find_project()
    functions = Functions(order.functions, order.instance)
    chosen = replace(options or HostOptions(), has_person=order.can_be_answered, heard=order.heard, functions=functions)
    stage = cast("Recorder | Player | None", chosen.stage)
    player = taping.playing(stage)
    if player is not None:
        chosen = replace(chosen, has_person=player.has_person)
    async with _opened(project, order.store) as store:
        if order.store == _MEMORY:
            order.desk.store = store
        await neighbours.see_to(store)  # who attended a run and was killed does not count as busy
        if order.shows_page:
            chosen = replace(chosen, page=_page(store, project))
        async with hosting.hosting(project, store, chosen) as running:
            run = await store.write(lambda tx: begin(tx, running), caller=SYSTEM)
            yield run
            if order.shows_page:
                yield Shown(await visiting.link(store, running.address.url, order.instance))
            ending: Ending | None = None
            played = player.is_playing if player else None
            attendant = Attendant(store, running.host, order.can_be_answered, played, order.sight, order.hears_signals)
            async with taping.taped(stage, store, run):
                async for piece in attendant.attend(run):
                    if isinstance(piece, Ending):
                        ending = piece
                    else:
                        yield piece
            assert ending is not None
            if ending.is_hasty:
                running.host.stop(now=True)
        if stage is not None:
            await stage.finish(store, run, ending.exit_code)
        yield ending
        yield await summaries.of_run(store, run.id)
        if player is not None:
            yield Replayed(player.drifts, taping.DRIFTED if player.drifts else ending.exit_code)


def _page(store: Store, project: Project) -> Page:
    from moot.api.page import making  # noqa: PLC0415  # most runs show none

    return making.make(store, project)


@asynccontextmanager
async def _opened(project: Project, url: str | None) -> AsyncGenerator[Store]:
    store = open_store(project.store_url(url), create=True)
    try:
        yield store
    finally:
        await store.close()
