"""Lets somebody from outside in: makes the token that `moot mcp` uses, and takes it back at the end."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from moot.core.caller import SYSTEM
from moot.core.errors import InvalidInput
from moot.core.ids import InstanceName, TokenId
from moot.core.tx import Tx
from moot.process import identity
from moot.registry import agents, instances, names, tokens
from moot.registry.agents import Agent, NewAgent
from moot.registry.tokens import Grant
from moot.runner import neighbours, terms
from moot.store.store import Store
from moot.tools import attendance, succession, table

# A bound for the case that neither the process nor a host on its machine ever comes back to revoke it.
LASTS = timedelta(days=7)


@asynccontextmanager
async def token(
    store: Store, *, agent: str | None, instance: InstanceName, groups: tuple[str, ...] | None
) -> AsyncGenerator[str]:
    """A token for this process: of the agent, which is made known if it is new, or else of the operator."""
    text = tokens.new_text()
    process = f"{neighbours.machine()}#{identity.current()}"

    def mint(tx: Tx) -> TokenId:
        opened = instances.ensure(tx, instance)
        if agent is None:
            agents.person(tx, opened)
            grant = Grant("operator", instance, "operator", groups=groups, process=process, lasts=LASTS)
            return tokens.mint(tx, text, grant)
        names.check_agent(agent)
        found = agents.find(tx, opened.stream, agent) or agents.register(
            tx, opened, NewAgent(name=agent, runtime="mcp")
        )
        if found.backend != "external":
            raise InvalidInput(f"{found.name} is started by moot itself ({found.backend}).", "Join under another name.")
        held = _held(found, groups)
        grant = Grant("member", instance, found.role, found.id, held, process=process, lasts=LASTS)
        id = tokens.mint(tx, text, grant)
        attendance.settle(tx, instance)
        return id

    id = await store.write(mint, caller=SYSTEM)
    try:
        yield text
    finally:
        await store.write(lambda tx: succession.revoke(tx, id), caller=SYSTEM)


def _held(agent: Agent, asked: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Who has a part in a team holds the tools of that part, wherever it comes from; of these what was asked for."""
    if agent.role not in ("lead", "reviewer") or agent.settings.get("tools") is None:
        return asked
    own = terms.held(agent, None)
    return own if asked is None else tuple(one for one in own if one in asked or _group_of(one) in asked)


def _group_of(tool: str) -> str:
    return table.TOOLS[tool].group if tool in table.TOOLS else tool
