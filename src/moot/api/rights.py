"""What the caller of a command may do, and as whom it does it."""

from moot.core.caller import Caller
from moot.core.errors import NotAllowed
from moot.core.tool import WRITERS
from moot.core.tx import Tx
from moot.registry import agents, attempts, instances
from moot.registry.agents import Agent
from moot.registry.instances import Instance


def check_writer(tx: Tx, caller: Caller) -> None:
    """Refuse who may only watch, and attempts that have ended."""
    if caller.role not in WRITERS:
        raise NotAllowed(f"As {caller.role}, {caller.name} changes nothing.", "Ask somebody who may.")
    attempts.guard(tx, caller)


def check_operator(caller: Caller) -> None:
    """Refuse everybody but the person of the project: agents do not start and stop each other."""
    if caller.role != "operator":
        raise NotAllowed(f"{caller.name} may not start or stop others.", "Ask the person: mention @human.")


def actor(tx: Tx, caller: Caller) -> tuple[Instance, Agent]:
    """Where and as whom a writer acts; the person is made known on first use."""
    check_writer(tx, caller)
    instance = instances.ensure(tx, caller.instance)
    return instance, agents.get(tx, caller.agent) if caller.agent else agents.person(tx, instance)
