"""An agent that was stopped at its own limit gets more: whoever resumes a run that ended at a limit wants that."""

from dataclasses import asdict, replace
from typing import cast

from pydantic import TypeAdapter

from moot.bus import mailbox
from moot.core.json import Json
from moot.core.tx import Tx
from moot.ledger import budgets, stops, usage
from moot.registry import agents, instances
from moot.registry.agents import Agent, NewAgent
from moot.registry.runs import Run
from moot.runner import terms
from moot.workflow.workflow import Budget

_FORM: TypeAdapter[Budget] = TypeAdapter(Budget)


def renew(tx: Tx, run: Run) -> None:
    """Who was stopped at its own limit gets as much again, and its mail."""
    for stopped in stops.of_agents(tx, run.id):
        agent = agents.get(tx, stopped.agent)
        _settle(tx, run, agent, _raised(tx, run, agent))
        mailbox.revive(tx, agent.id)
        stops.lift(tx, run.id, agent.id)


def _raised(tx: Tx, run: Run, agent: Agent) -> Budget:
    own = terms.of_agent(agent).budget
    over = [
        one for one in budgets.own_shares(terms.limits(own), usage.of_agent(tx, run.id, agent.id)) if one.is_reached
    ]
    times = {one.kind: 1 + one.used // one.limit for one in over}
    return replace(own, **{kind: asdict(own)[kind] * count for kind, count in times.items()})


def _settle(tx: Tx, run: Run, agent: Agent, budget: Budget) -> None:
    settings = {**agent.settings, "budget": cast(Json, _FORM.dump_python(budget, mode="json"))}
    known = NewAgent(
        name=agent.name, runtime=agent.runtime, backend=agent.backend, role=agent.role, label=agent.label,
        settings=settings, metadata=agent.metadata,
    )  # fmt: skip
    agents.ensure(tx, instances.get(tx, run.instance), known)
