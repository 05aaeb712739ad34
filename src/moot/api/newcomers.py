"""New agents that stand alone: made known, and a host started for them where none runs."""

import re
from collections.abc import Mapping

from moot.api import background, rights
from moot.api.access import Access
from moot.api.background import Started
from moot.app import workflows
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import Tx
from moot.registry import agents, instances
from moot.registry.agents import Agent, NewAgent
from moot.registry.errors import NameTaken
from moot.runner.reactions.wake_agents import wake

_NO_PLACE = re.compile(r"moot new:\d+:\d+: ")  # what flags say stands in no file


@record
class Added:
    agent: Agent
    is_new: bool  # False: it was there, and is brought up to date


async def add(access: Access, name: str, said: Mapping[str, Json]) -> Added:
    """Make it known; an agent of this name that stands alone is brought up to date."""
    rights.check_operator(access.caller)
    new = _read(access, name, said)

    def change(tx: Tx) -> Added:
        instance = instances.ensure(tx, access.caller.instance)
        found = agents.find(tx, instance.stream, name)
        if found is not None and found.metadata.get("source"):
            raise NameTaken(f"{name} is an agent of {found.metadata['source']} here.", "Choose another name.")
        agent = agents.ensure(tx, instance, new)
        wake(tx, agent)
        return Added(agent, is_new=found is None)

    return await access.store.write(change, caller=access.caller)


def _read(access: Access, name: str, said: Mapping[str, Json]) -> NewAgent:
    try:
        return workflows.new_agent(access.project, name, said)
    except InvalidInput as error:
        error.fact = _NO_PLACE.sub("", error.fact)
        error.remedy = error.remedy.replace("model: sonnet", "--model sonnet")
        raise


def start_host(access: Access, store: str | None) -> Started:
    """A host in the background, for all agents of this store."""
    options = ["--store", store] if store else []
    return background.start(["serve", *options], access.caller.instance)
