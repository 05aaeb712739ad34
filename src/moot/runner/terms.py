"""Terms: what an agent's own definition says of its attempts."""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, cast

from moot.backends.backend import Manner
from moot.core import servers, workspace_tools
from moot.core.clock import MICROSECOND
from moot.core.json import Json
from moot.core.permissions import PRESETS, Permissions
from moot.core.prices import Rates
from moot.core.records import record
from moot.ledger import budgets
from moot.ledger.budgets import Limits
from moot.ledger.usage import DOLLAR
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.tools import sharing
from moot.tools.groups import APPROVE, FUNCTIONS, PLAN, TALK
from moot.workflow import providers as services
from moot.workflow.workflow import Budget, Fallback, PromptMode, Retry

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@record
class Terms:
    """What is left out is as the project's configuration says."""

    system_prompt: str = ""
    tools: tuple[str, ...] | None = None
    budget: Budget = field(default_factory=Budget)
    retry: Retry = field(default_factory=Retry)
    timeout: timedelta | None = None
    model: str | None = None
    permissions: Permissions = PRESETS["ask"]
    system_prompt_mode: PromptMode = "append"
    is_isolated: bool = False
    keeps_conversation: bool = False
    command: tuple[str, ...] = ()
    base_url: str | None = None
    env: tuple[str, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    rates: Rates | None = None


_NOTHING_SAID = Terms()
_NAMES = frozenset(field.name for field in fields(Terms))


_ALWAYS = ("inbox", "channel_send")
_ASKING = ("claude",)  # programs that ask by a tool before they use one of their own


def groups(terms: Terms, *, has_context: bool, has_plan: bool = False) -> tuple[str, ...]:
    """The tools of moot that an agent holds: what its definition names, and those that nobody can do without."""
    if not has_context:
        return sharing.unshared(_ours(terms.tools or ("inbox",)))
    if terms.tools is None:
        return (*TALK, *PLAN) if has_plan else TALK
    voting = ("document_vote_owner",) if "documents" in terms.tools else ()  # who may write is elected by its holders
    return tuple(dict.fromkeys((*_ours(terms.tools), *_ALWAYS, *voting)))


def _ours(named: tuple[str, ...]) -> tuple[str, ...]:
    others = (*workspace_tools.GROUPS, *workspace_tools.NAMES)
    return tuple(one for one in named if one not in others and not one.startswith(servers.PREFIX))


def held(agent: Agent, run: Run | None) -> tuple[str, ...]:
    """The tools that an attempt is offered: those its agent holds, and the way to ask if its program does so."""
    said = of_agent(agent)
    found = groups(said, has_context=has_context(run), has_plan=run is not None and bool(run.definition.get("tasks")))
    if said.tools is None and run is not None and run.definition.get("functions"):
        found = (*found, FUNCTIONS)
    if agent.backend not in _ASKING or not said.permissions.asks:
        return found
    return (*found, APPROVE)


def of_agent(agent: Agent) -> Terms:
    return _said(agent.settings)


def _said(settings: Mapping[str, Json]) -> Terms:
    said = {name: value for name, value in settings.items() if name in _NAMES}
    return _form().validate_python(said) if said else _NOTHING_SAID


@cache
def _form() -> "TypeAdapter[Terms]":
    from pydantic import TypeAdapter  # noqa: PLC0415  # heavy, and many a command has no agent to ask this of

    return TypeAdapter(Terms)


def manner(agent: Agent) -> Manner:
    """What its backend is told."""
    said = of_agent(agent)
    return Manner(
        said.model,
        said.permissions,
        said.system_prompt_mode == "replace",
        said.is_isolated,
        said.keeps_conversation,
        said.command,
        said.base_url,
        said.env,
        said.rates,
    )


def provider(agent: Agent) -> str:
    """Whose pauses are this agent's."""
    return providers(agent)[0]


def providers(agent: Agent) -> list[str]:
    """The same of all models that it can do with, the first one first."""
    return _providers(of_agent(agent), agent.backend)


def reached(agent: Agent) -> list[str]:
    """And of those who take part in what it does."""
    others = cast(Sequence[Mapping[str, Json]], agent.settings.get("cast", ()))
    return [*providers(agent), *(name for one in others for name in _providers(_said(one), str(one["backend"])))]


def _providers(said: Terms, backend: str) -> list[str]:
    return [one.base_url or services.provider(one.model, backend) for one in (said, *said.fallbacks)]


def has_context(run: Run | None) -> bool:
    """Whether the agents of the run share a channel and documents. (Its definition is not read whole for this.)"""
    context = run.definition.get("context") if run else None
    return not isinstance(context, Mapping) or context.get("is_on") is not False


def limits(budget: Budget) -> Limits:
    """As the ledger counts."""
    return Limits(
        cost=None if budget.cost is None else round(budget.cost * DOLLAR),
        time=None if budget.time is None else budget.time // MICROSECOND,
        attempts=budget.attempts,
        tokens=budget.tokens,
        turns=budget.turns,
    )


def spell(budget: Budget) -> str:
    """`$10.00, 30 m 0 s, 200 attempts`; empty if there is no limit."""
    return budgets.spell_all(limits(budget))


def limit_changes(changes: Mapping[str, object]) -> dict[str, int | None]:
    """Single fields of a budget, as the ledger counts."""
    converted = limits(replace(Budget(), **changes))
    return {name: getattr(converted, name) for name in changes}
