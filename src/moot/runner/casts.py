"""The cast of an attempt: the agent and those who take part in what it does, as their sessions take them. It is made of
what workflows and agent files say; nothing is read here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import cast as cast_to

from moot.backends.backend import Assignment, Briefing
from moot.core import prices
from moot.core.json import Json
from moot.core.prices import Rates
from moot.core.records import replace
from moot.runner import tree_tools
from moot.session.agent import Agent, Limits
from moot.tools import groups
from moot.workflow import providers, stored
from moot.workflow.workflow import AgentDefinition, Backend

_USUAL = Limits()
_KEPT = 64  # casts; an agent has the same in nearly all of its attempts
Expand = Callable[[str], str]


def cast(assignment: Assignment, brief: Briefing, expand: Expand) -> dict[str, Agent]:
    """By name, the agent itself first. `expand` puts values into prompts; the agent's own has them already."""
    backend = "scripted" if assignment.settings.get("answers") else "api"
    root, *others = _written(_Said(assignment.agent, backend, assignment.settings))
    found = {root.name: _root(root, assignment, brief)}
    for one in others:
        prompt = expand(one.prompt)
        found[one.name] = one if prompt == one.prompt else replace(one, prompt=prompt)
    return found


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of an agent: to compare that with what was said before takes less time than to spell it out."""

    name: str
    backend: Backend
    settings: Mapping[str, Json]

    def __hash__(self) -> int:
        return hash(self.name)


@lru_cache(maxsize=_KEPT)
def _written(said: _Said) -> tuple[Agent, ...]:
    """As it was written down, the agent itself first. To check that takes longer than all else about a cast."""
    root, *others = map(agent, stored.definitions(said.name, said.backend, said.settings))
    return (root, *map(_bounded, others))


def agent(definition: AgentDefinition) -> Agent:
    """Variables in the prompt are not filled in here."""
    worked_with = definition.patterns
    return Agent(
        name=definition.name,
        prompt=definition.system_prompt,
        description=definition.description,
        models=definition.models,
        tools=definition.tools,
        permissions=definition.permissions,
        servers=definition.servers,
        agents=worked_with.agents,
        advisors=worked_with.advisors,
        handoff=worked_with.handoff,
        router=worked_with.destinations,
        team=worked_with.team,
        is_chatty=definition.is_chatty,
        limits=_limits(definition),
        temperature=definition.temperature,
        input=definition.input,
        output=definition.output,
        settings=_settings(definition),
    )


def _limits(definition: AgentDefinition) -> Limits:
    calls, depth = definition.max_tool_calls_per_turn, definition.max_depth
    return Limits(
        turns=definition.max_turns or _USUAL.turns,
        calls=calls or _USUAL.calls,
        depth=_USUAL.depth if depth is None else depth,  # 0 is none at all
        timeout=definition.timeout,
        output_tokens=definition.max_output_tokens,
        context_tokens=definition.context_window,
    )


def _settings(definition: AgentDefinition) -> dict[str, Json]:
    """What its models need: the answers of a scripted one, or for each where it is asked and with whose key."""
    if definition.backend == "scripted":
        return {"answers": list(definition.answers)}
    found: dict[str, Json] = {one.model: _place(one.base_url, one.env, one.rates) for one in definition.fallbacks}
    if definition.model:
        found = {definition.model: _place(definition.base_url, definition.env, definition.rates)} | found
    return {"endpoints": found}


def _place(base_url: str | None, env: Sequence[str], rates: Rates | None) -> Json:
    return {"base_url": base_url, "env": list(env), "rates": None if rates is None else list(astuple(rates))}


def _root(agent: Agent, assignment: Assignment, brief: Briefing) -> Agent:
    """Where it has a channel, what it says last is its report, unless somebody else goes on with that."""
    manner, settings, names = assignment.manner, agent.settings, agent.models
    if manner.model is not None and "answers" not in settings:
        own: dict[str, Json] = {manner.model: _place(manner.base_url, manner.env, manner.rates)}
        known = settings.get("endpoints")
        settings = {"endpoints": {**(known if isinstance(known, Mapping) else {}), **own}}
        names = (manner.model, *(one for one in names if one != manner.model))
    reports = _reports(agent) or not _has_channel(assignment)
    told = {"prompt": brief.system_prompt, "reports": reports, "may_be_silent": not reports}
    return _bounded(replace(agent, models=names, settings=settings, **told))


def _reports(agent: Agent) -> bool:
    worked_with = (agent.handoff, agent.router, agent.advisors, agent.team, agent.agents)
    return any(worked_with) or agent.output.kind == "json"


def _has_channel(assignment: Assignment) -> bool:
    """Who is told to end when nothing is left to do, and says what there is to say in the channel."""
    toolbox = assignment.toolbox
    return tree_tools.has_offer(toolbox) and any(one.name == groups.SEND for one in toolbox.offered())


def _bounded(agent: Agent) -> Agent:
    """Where its file does not say how long a conversation may be, it is as long as its first model can hold."""
    if agent.limits.context_tokens is not None or not agent.models or "answers" in agent.settings:
        return agent
    provider, _, name = agent.models[0].partition("/")
    return replace(agent, limits=replace(agent.limits, context_tokens=prices.window(provider, name)))


def provider(agent: Agent, model: str) -> str:
    """Whose pauses are those of a model in a tree, as `terms.provider` says it of an agent."""
    if "answers" in agent.settings:
        return "scripted"
    endpoints = cast_to("Mapping[str, Mapping[str, str | None]]", agent.settings.get("endpoints", {}))  # asked often
    return endpoints.get(model, {}).get("base_url") or providers.provider(model, "api")
