"""The phases of a run: it is launched, set up, perhaps elects an owner of its documents, then talks, then perhaps
works on its tasks, then goes through its steps, then is closed.

Each step is one transaction that finds the run in the phase before, so that whoever comes first takes it and a crash
between two steps loses nothing.
"""

from collections.abc import Mapping, Sequence

from moot.bus import mailbox
from moot.core.errors import MootError
from moot.core.ids import BoardId, InstanceName, RunId
from moot.core.tx import ReadTx, Tx
from moot.documents import documents, ownership, places
from moot.documents.places import Place
from moot.jobs import jobs
from moot.jobs.jobs import NewJob
from moot.proposals import proposals
from moot.registry import agents, instances, runs, stopping
from moot.registry.agents import Agent, NewAgent
from moot.registry.instances import Instance
from moot.registry.runs import NewRun, Run, State
from moot.requests import requests
from moot.runner import endings, handing_out, idle, limits, plan_section, values
from moot.runner.flows import asking_agents, section
from moot.runner.reactions.wake_agents import attempt_key, wake
from moot.runner.teams import advancing as team_advancing
from moot.runner.teams import section as team_section
from moot.tools import asking, attendance, talk, voting
from moot.tools.talk import Words
from moot.workflow import stored, templates
from moot.workflow.workflow import AgentDefinition, Context

SETUP = "setup"


class FolderTaken(MootError):
    """The files of two runs that go on would lie in one folder."""

    code = "FOLDER_TAKEN"


def launch(tx: Tx, instance: Instance, new: NewRun, members: Sequence[NewAgent]) -> Run:
    """Begin a run: its agents are known from now on, and its setup is a job."""
    workflow = stored.from_json(new.definition)
    place = _place(workflow.context, instance.name)
    _check_folder(tx, instance.name, place)
    before = runs.latest(tx, instance.name)
    run = runs.start(tx, instance, new)
    if before is not None:
        _leave_behind(tx, instance, runs.get(tx, before.id))
    limits.open_for(tx, run, workflow)
    jobs.add(tx, _setup(run))
    for member in members:
        agents.ensure(tx, instance, member)
    places.put(tx, instance.name, place)
    if workflow.context.is_on:
        documents.configure(tx, instance.name, workflow.context.document, workflow.context.documents)
    team_section.launch(tx, instance, run, workflow)
    ownership.give(tx, instance.name, workflow.context.owner)  # None until an election has found one
    return run


def _check_folder(tx: Tx, instance: InstanceName, place: Place) -> None:
    """Two runs that go on at once would write over each other's files."""
    if place.folder is None:
        return
    for other in places.sharing(tx, instance, place.folder):
        tx.lock("instances", other)
        run = runs.live(tx, other)
        if run is not None and runs.is_attended(tx, run):
            raise FolderTaken(
                f"The run of {run.name} in {other} keeps its files in {place.folder}, too.",
                f"End it with moot stop @{other}, or write ${{{{ instance }}}} in context.config.dir.",
            )


def _leave_behind(tx: Tx, instance: Instance, before: Run) -> None:
    """The run before is over for good: nobody works for it any more, votes for it or reads its mail. What came after
    its end belongs to the next one."""
    limits.close(tx, before)
    plan_section.abandon(tx, before)
    section.abandon(tx, before)
    for agent in members_of(tx, before):
        endings.interrupt(tx, agent)
        stopping.stop(tx, agent)
        mailbox.bury_until(tx, agent.id, before.last_seq or before.first_seq)
    for proposal in proposals.open_of(tx, instance.stream):
        voting.cancel(tx, instance, proposal.id, None, "another run was started")
    for request in requests.open_of(tx, instance.stream):
        asking.cancel(tx, instance, request.id, agents.person(tx, instance), is_operator=True)


def carry_on(tx: Tx, run: Run, changes: Mapping[str, int | None]) -> None:
    """Go on with a run that was interrupted, whatever it was doing; `changes` are other limits of its budget."""
    limits.carry_on(tx, run, changes)
    if run.phase == "setup":
        jobs.add(tx, _setup(run))
    for agent in members_of(tx, run):
        stopping.release(tx, agent)
    attendance.settle(tx, run.instance)
    if run.phase == "election" and not _is_electing(tx, run):
        kick_off(tx, run)  # it ended while nobody attended the run
    elif run.phase != "setup":
        wake_waiting(tx, run)


def _is_electing(tx: ReadTx, run: Run) -> bool:
    election = proposals.latest_for(tx, run.stream, "document_owner")
    return election is not None and election.is_open


def begin(tx: Tx, run: Run) -> None:
    """Setup is done: elect an owner of the documents first where one is to be elected."""
    electors = _electors(tx, run)
    if not electors:
        kick_off(tx, run)
    elif runs.enter(tx, run, "election"):
        voting.start_election(tx, instances.get(tx, run.instance), electors)
        wake_waiting(tx, run)


def kick_off(tx: Tx, run: Run) -> None:
    """Say the first words, unless that was done; mail that came before the run is read now."""
    if not runs.enter(tx, run, "talk"):
        return
    workflow = stored.from_json(run.definition)
    if workflow.team is not None:
        team_section.open(tx, run, templates.expand(workflow.kickoff, values.of_run(run, workflow, run.outputs)).text)
    elif workflow.kickoff:
        said = templates.expand(workflow.kickoff, values.of_run(run, workflow, run.outputs))
        talk.say(tx, instances.get(tx, run.instance), None, Words(said.text, spoken=said.spoken))
    wake_waiting(tx, run)
    if workflow.is_together:
        begin_tasks(tx, runs.get(tx, run.id))
        begin_steps(tx, runs.get(tx, run.id))


def begin_tasks(tx: Tx, run: Run) -> bool:
    """Lay the plan of the file, whose tasks are handed out from now on; False if there is none, or it was done."""
    workflow = stored.from_json(run.definition)
    if not workflow.tasks or not runs.enter(tx, run, "tasks"):
        return False
    plan_section.lay(tx, run, workflow)
    return True


def begin_steps(tx: Tx, run: Run) -> bool:
    """Begin with the steps of the file; False if there are none, or if that was done. Tasks that did not end well stop
    what would follow them."""
    workflow = stored.from_json(run.definition)
    is_due = workflow.is_together or not plan_section.trouble(tx, run)
    if not workflow.flow or not is_due or not runs.enter(tx, run, "steps"):
        return False
    section.begin(tx, run, workflow)
    return True


def close(tx: Tx, id: RunId, state: State, reason: str) -> bool:
    """End a run; False if it turned out to have more to do. Its agents are stopped, and what they have not read is kept
    for whoever resumes it."""
    tx.lock("instances", runs.get(tx, id).instance)
    run = runs.get(tx, id)
    if run.state != "live":
        return True  # somebody else has ended it, and perhaps begun another with the same agents
    if state == "done" and (not idle.is_idle(tx, run.stream) or begin_tasks(tx, run) or begin_steps(tx, run)):
        return False
    if state in ("done", "failed") and team_advancing.comes_further(tx, run):
        return False
    limits.close(tx, run, is_at_limit=state == "limit")
    section.stop(tx, run)
    for agent in members_of(tx, run):
        stopping.stop(tx, agent)
    runs.end(tx, run, state, reason)
    attendance.settle(tx, run.instance)
    return True


def wake_waiting(tx: Tx, run: Run) -> None:
    """Have everybody read what waits for them, also who is here without being of the run. What somebody was given
    counts: a host that takes it from a dead one at this moment may be about to find that nobody attends the run."""
    handing_out.add(tx, BoardId(run.id))
    section.carry_on(tx, run)
    team_section.carry_on(tx, run)
    counts = mailbox.counts(tx, run.stream)
    for agent in agents.members(tx, run.stream):
        if agent.id in counts and counts[agent.id].unread:
            wake(tx, agent)
            jobs.hurry(tx, attempt_key(agent))


def members_of(tx: ReadTx, run: Run) -> list[Agent]:
    """The agents of the run's own workflow, and those that were made for tasks of its steps."""
    found = (agents.find(tx, run.stream, name) for name in stored.names(run.definition))
    made = asking_agents.made_for(tx, run) if section.has_steps(run) else []
    return [*(agent for agent in found if agent is not None), *made]


def _place(context: Context, instance: InstanceName) -> Place:
    folder = context.dir.removeprefix("./").rstrip("/")
    return Place(None if folder == f".workflow/{instance}" else folder, context.channel, context.is_on)


def _setup(run: Run) -> NewJob:
    return NewJob(f"setup:{run.id}", SETUP, run.stream, run.id)


def _electors(tx: ReadTx, run: Run) -> list[Agent]:
    """Who chooses an owner: with a kickoff, everybody who can write documents, if they are two or more."""
    workflow = stored.from_json(run.definition)
    context = workflow.context
    is_wanted = context.is_on and context.owner_rule in ("default", "elect")
    if workflow.team is not None or not workflow.kickoff or not is_wanted:
        return []
    writers = {agent.name for agent in workflow.agents if _writes_documents(agent)}
    found = [agent for agent in members_of(tx, run) if agent.name in writers]
    return found if len(found) > 1 else []


def _writes_documents(agent: AgentDefinition) -> bool:
    chosen = {"documents"} if agent.tools is None else set(agent.tools)
    # Who joins from outside may not be here yet: an election would wait for it in vain.
    return agent.backend not in ("human", "external") and not chosen.isdisjoint(
        ("documents", "document_write", "document_append")
    )
