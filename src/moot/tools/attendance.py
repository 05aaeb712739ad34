"""Tells a team who of its members is here: `online` and `offline` as statuses of moot's own, each when it becomes so.

Heartbeats are never said: they keep what is known of an agent fresh. Nobody is woken by any of this.
"""

from moot.core.ids import InstanceName
from moot.core.tx import ReadTx, Tx
from moot.registry import agents, instances, runs, tokens
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.teams import attendance, teams
from moot.teams.attendance import Presence
from moot.tools import talk
from moot.tools.talk import Words

_MONITOR = "monitor"


def settle(tx: Tx, instance: InstanceName) -> None:
    """Say what has changed since it was said last. Where there is no team, nothing is."""
    team = teams.find(tx, instance)
    if team is None:
        return
    tx.lock("instances", instance)
    run, known = runs.live(tx, instance), attendance.said(tx, instance)
    for name, part in team.members.items():
        agent = agents.find(tx, team.stream, name)
        is_here = presence(tx, agent, run)
        if is_here != known.get(name, "offline"):  # who was never here needs no word
            attendance.say(tx, instance, name, is_here)
            told = f"{is_here}: {name}" if agent is None else f"{is_here}: {name} ({part}, {agent.backend})"
            words = Words(told, to=(_MONITOR,), kind="status", spoken="")
            talk.say(tx, instances.get(tx, instance), None, words)


def presence(tx: ReadTx, agent: Agent | None, run: Run | None) -> Presence:
    """Those whom moot starts are here while a run goes on and nobody has stopped them, the others while somebody can
    speak for them. A person is here while the run is."""
    if agent is None or agent.left_at is not None:
        return "offline"
    if agent.backend == "external":
        return "online" if agent.stopped_at is None and tokens.speaks_for(tx, agent.id) else "offline"
    return "online" if run is not None and agent.stopped_at is None else "offline"
