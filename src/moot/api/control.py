"""Control from a terminal: stop, pause, go on. Everything is written down; a host notices."""

from collections.abc import Callable
from typing import TypeVar

from moot.api import rights
from moot.api.access import Access
from moot.api.connection import Connection
from moot.api.targets import Target
from moot.bus import mailbox
from moot.core import text
from moot.core.errors import MootError
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.core.tx import ReadTx, Tx
from moot.jobs import jobs
from moot.registry import agents, attempts, hosts, instances, runs, stopping
from moot.registry.agents import Agent
from moot.registry.errors import AgentNotFound
from moot.registry.hosts import How
from moot.registry.instances import Instance
from moot.registry.runs import Run, RunNotFound
from moot.runner import endings, neighbours, phases
from moot.runner.reactions.wake_agents import attempt_key, wake
from moot.tools import attendance
from moot.tools.talk import Said, Words

T = TypeVar("T")


class NothingWaits(MootError):
    """An agent has nothing to do."""

    code = "NOTHING_WAITS"


@record
class Stopped:
    """What was asked to stop: a run, or a single agent."""

    name: str
    is_run: bool
    is_attended: bool  # somebody is there to end it


async def stop(access: Access, target: Target, how: How) -> list[Stopped]:
    """A run with all its agents, or one agent. At a safe point: what runs now comes to its end."""

    def change(tx: Tx) -> list[Stopped]:
        instance = instances.get(tx, target.instance)
        if target.agent is not None:
            return [_stop_agent(tx, agents.named(tx, instance.stream, target.agent), how)]
        return _stop_instance(tx, instance, how)

    return await write(access, change)


async def stop_all(access: Access, how: How) -> list[Stopped]:
    """Every run, every agent that moot starts, and the hosts that run them."""

    def change(tx: Tx) -> list[Stopped]:
        stopped = [one for instance in instances.all_of(tx) for one in _stop_instance(tx, instance, how)]
        count = hosts.ask_stop(tx, how)
        ended = [Stopped(text.counted(count, "host"), is_run=False, is_attended=True)] if count else []
        return [*stopped, *ended]

    return await write(access, change)


async def pause(access: Access, instance: InstanceName) -> Run:
    """Nobody is woken until the run goes on; who works now comes to an end."""

    def change(tx: Tx) -> Run:
        run = _live(tx, instance)
        runs.pause(tx, run, is_paused=True)
        return run

    return await write(access, change)


async def unpause(access: Access, instance: InstanceName) -> bool:
    """Let a paused run go on where it is attended; False if there is none."""

    def change(tx: Tx) -> bool:
        run = runs.live(tx, instance)
        if run is None or not runs.is_attended(tx, run) or not runs.pause(tx, run, is_paused=False):
            return False
        phases.wake_waiting(tx, runs.get(tx, run.id))
        return True

    return await write(access, change)


async def release(access: Access, target: Target) -> bool:
    """Let an agent work again that was stopped, beginning with what waits for it; False if it was not."""

    def change(tx: Tx) -> bool:
        agent = _named(tx, target)
        is_released = stopping.release(tx, agent)
        attendance.settle(tx, agent.instance)
        if is_released and mailbox.has_queued(tx, agent.id):
            wake(tx, agents.get(tx, agent.id))
        return is_released

    return await write(access, change)


async def nudge(access: Access, target: Target) -> str:
    """Have an agent look at its mail now, though it would only later. NothingWaits, if it has none."""

    def change(tx: Tx) -> str:
        agent = _named(tx, target)
        if not mailbox.has_queued(tx, agent.id):
            raise NothingWaits(f"Nothing waits for {agent.name} that it is not at work on.", "Send it a message.")
        wake(tx, agent)
        jobs.hurry(tx, attempt_key(agent))
        return agent.name

    return await write(access, change)


async def say_now(connection: Connection, words: Words) -> tuple[Said, list[str]]:
    """Say something, and have those who are busy with something older drop it; who they are."""
    rights.check_operator(connection.caller)
    said = await connection.send(words)
    return said, await _interrupt(connection, said)


async def _interrupt(access: Access, said: Said) -> list[str]:
    def change(tx: Tx) -> list[str]:
        members = {one.name: one for one in agents.members(tx, said.message.stream)}
        busy = [members[name] for name in said.recipients if name in members and _is_before(tx, members[name], said)]
        return [agent.name for agent in busy if endings.restart(tx, agent)]

    return await write(access, change)


def _is_before(tx: ReadTx, agent: Agent, said: Said) -> bool:
    attempt = attempts.running(tx, agent.id)
    return attempt is not None and attempt.started_at <= said.message.at


async def write(access: Access, change: Callable[[Tx], T]) -> T:
    """By the person only, and after a look at who is still there: a host that was killed attends nothing."""
    rights.check_operator(access.caller)
    await neighbours.see_to(access.store)
    return await access.store.write(change, caller=access.caller)


def _named(tx: Tx, target: Target) -> Agent:
    found = agents.named(tx, instances.get(tx, target.instance).stream, target.agent or "")
    return _started(found, "wake")


def _started(agent: Agent, what: str) -> Agent:
    if not agent.is_started_by_moot:
        raise AgentNotFound(f"{agent.name} is not started by moot, so moot cannot {what} it.", "See moot list.")
    return agent


def _stop_agent(tx: Tx, agent: Agent, how: How) -> Stopped:
    _started(agent, "stop")
    stopping.stop(tx, agent)
    attendance.settle(tx, agent.instance)
    if how == "now":
        endings.interrupt(tx, agent)
    return Stopped(f"{agent.name}@{agent.instance}", is_run=False, is_attended=True)


def _stop_instance(tx: Tx, instance: Instance, how: How) -> list[Stopped]:
    """The run there is; else the agents that stand alone."""
    run = runs.live(tx, instance.name)
    if run is not None:
        for agent in phases.members_of(tx, run):
            stopping.stop(tx, agent)
        is_attended = runs.is_attended(tx, run)
        if is_attended:
            runs.ask_stop(tx, run, how)
        else:
            phases.close(tx, run.id, "stopped", "stopped")
        return [Stopped(f"{run.name}@{run.instance}", is_run=True, is_attended=is_attended)]
    alone = [one for one in agents.members(tx, instance.stream) if one.is_started_by_moot and one.stopped_at is None]
    return [_stop_agent(tx, one, how) for one in alone]


def _live(tx: Tx, instance: InstanceName) -> Run:
    found = runs.live(tx, instance)
    if found is None:
        raise RunNotFound(f"No run is going on in {instance}.", "Start one with moot run FILE.")
    return found
