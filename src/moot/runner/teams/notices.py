"""What moot says to a team: as `system` of its life, as `orchestrator` of what comes next, or in a member's name."""

from collections.abc import Iterable

from moot.bus.messages import Kind
from moot.core.tx import Tx
from moot.registry import agents
from moot.registry.agents import Agent
from moot.registry.instances import Instance
from moot.runner.teams.situation import Situation
from moot.tools import talk
from moot.tools.talk import Words

MONITOR, ORCHESTRATOR = "monitor", "orchestrator"


def life(tx: Tx, instance: Instance, body: str) -> None:
    """A status by `system`, which nobody has to read."""
    talk.say(tx, instance, None, Words(body, to=(MONITOR,), kind="status", spoken=""))


def announce(tx: Tx, situation: Situation, body: str) -> None:
    """A status for everybody in the team, which wakes nobody."""
    to = (*situation.team.members, MONITOR)
    talk.say(tx, situation.instance, _orchestrator(tx, situation), _quiet(body, to))


def share(tx: Tx, situation: Situation, speaker: Agent, body: str, to: Iterable[str]) -> None:
    """A status in somebody's name, which wakes nobody."""
    talk.say(tx, situation.instance, speaker, _quiet(body, tuple(to)))


def tell(
    tx: Tx, situation: Situation, to: tuple[str, ...], body: str, kind: Kind = "task", task_id: str | None = None
) -> None:
    """Mail for some members, by which they go on."""
    words = Words(body, to=to, kind=kind, task_id=task_id, spoken="", is_relayed=True)
    talk.say(tx, situation.instance, _orchestrator(tx, situation), words)


def _quiet(body: str, to: tuple[str, ...]) -> Words:
    return Words(body, to=to, kind="status", spoken="", is_quiet=True, is_relayed=True)


def _orchestrator(tx: Tx, situation: Situation) -> Agent:
    return agents.service(tx, situation.instance, ORCHESTRATOR)
