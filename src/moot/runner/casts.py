"""Agents as a session takes them, made from what workflows and agent files say of them. Reads nothing."""

from collections.abc import Iterable

from moot.core.json import Json
from moot.session.agent import Agent, Format, Limits, Team
from moot.workflow import patterns
from moot.workflow.workflow import AgentDefinition

_USUAL = Limits()


def cast(definitions: Iterable[AgentDefinition]) -> dict[str, Agent]:
    """By name, in the order given."""
    return {one.name: agent(one) for one in definitions}


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
        team=_team(worked_with.team),
        is_chatty=definition.is_chatty,
        limits=_limits(definition),
        temperature=definition.temperature,
        input=_format(definition.input),
        output=_format(definition.output),
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


def _team(said: patterns.Team | None) -> Team | None:
    if said is None:
        return None
    return Team(said.members, said.supervisor, said.member_max_turns, said.supervisor_max_turns)


def _format(said: patterns.Format) -> Format:
    return Format(said.kind, said.schema)


def _settings(definition: AgentDefinition) -> dict[str, Json]:
    """What its models need: the answers of a scripted one, or for each where it is asked and with whose key."""
    if definition.backend == "scripted":
        return {"answers": list(definition.answers)}
    first = [(definition.model, definition.base_url, definition.env)] if definition.model else []
    others = [(one.model, one.base_url, one.env) for one in definition.fallbacks]
    endpoints: dict[str, Json] = {
        model: {"base_url": base_url, "env": list(env)} for model, base_url, env in (*first, *others)
    }
    return {"endpoints": endpoints}
