"""What was spent, by agent, by model or by run. However it is divided, every cost is in it once, and the sums agree."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, field, fields
from functools import reduce
from operator import add
from typing import Literal

from moot.api import targets
from moot.api.access import Access
from moot.core.ids import AgentId, InstanceName, RunId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.ledger import costs, traces
from moot.ledger.costs import Calls, Share
from moot.ledger.usage import DOLLAR
from moot.registry import agents, instances, runs
from moot.registry.errors import AgentNotFound
from moot.registry.runs import RunNotFound

By = Literal["agent", "model", "run"]


@record
class Spend:
    """Money is in millionths of a dollar. Programs tell nothing of cache and reasoning."""

    attempts: int = 0
    calls: int = 0  # of models; what programs count as turns
    unknown_calls: int = 0  # nobody knows how they ended: they may have been billed, and stay charged
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: int = 0
    unknown_cost: int = 0  # of the cost
    reserved: int = 0  # for calls that are under way
    is_estimated: bool = False

    def __add__(self, other: "Spend") -> "Spend":
        summed = {one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)}
        return Spend(**(summed | {"is_estimated": self.is_estimated or other.is_estimated}))

    @property
    def dollars(self) -> float:
        return self.cost / DOLLAR


@record
class Line:
    """One agent, model or run; with the agents of its trees, where others than itself took part."""

    name: str
    id: str
    spend: Spend
    parts: tuple["Line", ...] = ()


@record
class Costs:
    by: By
    lines: tuple[Line, ...]
    total: Spend = field(default_factory=Spend)


@record
class _Portion:
    """What was spent on one account, by one agent of a tree, with one model."""

    share: Share
    agent: str
    model: str
    spend: Spend


@record
class Within:
    """Only what was spent here: in an instance, in a run, in the last run."""

    instance: InstanceName | None = None
    run: RunId | None = None
    is_last: bool = False


async def of_all(access: Access, by: By, within: Within) -> Costs:
    return await access.store.read(lambda tx: look(tx, by, within))


def look(tx: ReadTx, by: By, within: Within) -> Costs:
    if within.instance is not None:
        instances.get(tx, within.instance)
    run = _last_run(tx, within.instance) if within.is_last else within.run and runs.get(tx, within.run).id
    portions = [
        one for one in _portions(tx) if within.instance in (None, one.share.instance) and run in (None, one.share.scope)
    ]
    lines = _LINES[by](portions)
    return Costs(by, tuple(lines), _sum(portions))


def _last_run(tx: ReadTx, only: InstanceName | None) -> RunId:
    attempt = traces.last(tx, only)
    tried = None if attempt is None else traces.of_attempt(tx, attempt)
    if tried is None or tried.run is None:
        raise RunNotFound("What was done last was not part of a run.", "Leave --last away.")
    return tried.run


def _portions(tx: ReadTx) -> list[_Portion]:
    called: dict[tuple[str, AgentId], list[Calls]] = defaultdict(list)
    for one in costs.calls(tx):
        called[one.scope, one.owner].append(one)
    models: dict[AgentId, str] = {}
    found: list[_Portion] = []
    for share in costs.shares(tx):
        if share.owner not in models:
            models[share.owner] = _model(tx, share.owner)
        own, calls = models[share.owner], called[share.scope, share.owner]
        found += [_Portion(share, one.agent, one.model or own, _spend(one)) for one in calls]
        found.append(_Portion(share, share.name, own, _rest(share, calls)))
    return found


def _model(tx: ReadTx, owner: AgentId) -> str:
    """The model of an agent that has one, else what runs it."""
    try:
        agent = agents.get(tx, owner)
    except AgentNotFound:
        return "unknown"
    return traces.model_of(agent.backend, agent.settings)


def _spend(one: Calls) -> Spend:
    return Spend(**{field.name: getattr(one, field.name) for field in fields(Spend) if field.name != "attempts"})


def _rest(share: Share, calls: Sequence[Calls]) -> Spend:
    """What an account has used beyond what is on record of single calls: all that programs have used."""
    cost = share.cost - sum(one.cost for one in calls)
    is_explained = any(one.is_estimated for one in calls) and not cost
    return Spend(
        attempts=share.attempts,
        calls=share.turns - sum(one.answered for one in calls),
        input_tokens=share.input_tokens - sum(one.input_tokens for one in calls),
        output_tokens=share.output_tokens - sum(one.output_tokens for one in calls),
        cost=cost,
        is_estimated=share.is_estimated and not is_explained,
    )


def _sum(portions: Iterable[_Portion]) -> Spend:
    return reduce(add, (one.spend for one in portions), Spend())


def _by_agent(portions: Sequence[_Portion]) -> list[Line]:
    """Whoever was asked pays for all who worked for it."""
    groups = _grouped(portions, lambda one: targets.agent_in(one.share.name, one.share.instance))
    return _dearest(Line(name, group[0].share.owner, _sum(group), _parts(group)) for name, group in groups.items())


def _parts(group: Sequence[_Portion]) -> tuple[Line, ...]:
    by_agent = _grouped(group, lambda one: one.agent)
    if by_agent.keys() == {group[0].share.name}:
        return ()
    return tuple(_dearest(Line(name, "", _sum(found)) for name, found in by_agent.items()))


def _by_model(portions: Sequence[_Portion]) -> list[Line]:
    groups = _grouped(portions, lambda one: one.model)
    return _dearest(Line(name, "", _sum(group)) for name, group in groups.items() if _has_spent(group))


def _by_run(portions: Sequence[_Portion]) -> list[Line]:
    """In the order of their beginnings; what was spent outside of runs comes first."""
    groups = _grouped(portions, lambda one: one.share.scope)
    lines = [(_start(group), Line(_run(group[0].share), scope, _sum(group))) for scope, group in groups.items()]
    return [line for _, line in sorted(lines, key=lambda one: one[0])]


def _start(group: Sequence[_Portion]) -> tuple[float, str]:
    share = group[0].share
    return (share.started_at.timestamp() if share.started_at else 0.0, share.scope)


def _run(share: Share) -> str:
    return targets.agent_in(share.run or "(no run)", share.instance)


_LINES: Mapping[By, Callable[[Sequence[_Portion]], list[Line]]] = {
    "agent": _by_agent,
    "model": _by_model,
    "run": _by_run,
}


def _grouped(portions: Iterable[_Portion], key: Callable[[_Portion], str]) -> dict[str, list[_Portion]]:
    groups: dict[str, list[_Portion]] = defaultdict(list)
    for one in portions:
        groups[key(one)].append(one)
    return groups


def _has_spent(portions: Iterable[_Portion]) -> bool:
    """Attempts alone are no use of a model."""
    spend = _sum(portions)
    return Spend(attempts=spend.attempts) != spend


def _dearest(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda one: (-one.spend.cost, -one.spend.output_tokens, one.name))


def document(found: Costs) -> dict[str, Json]:
    """As plain data for JSON, amounts in dollars."""
    lines = [_plain(one, has_attempts=found.by != "model") for one in found.lines]
    return {"by": found.by, "lines": lines, "total": _amounts(found.total)}


def _plain(one: Line, *, has_attempts: bool) -> dict[str, Json]:
    """An attempt is that of whoever was asked: no model and no other agent has a part of it."""
    amounts = _amounts(one.spend)
    if not has_attempts:
        del amounts["attempts"]
    parts: Json = [_plain(part, has_attempts=False) for part in one.parts]
    return {"name": one.name, "id": one.id or None, **amounts, "parts": parts}


def _amounts(spend: Spend) -> dict[str, Json]:
    amounts = {"cost": spend.cost, "unknown_cost": spend.unknown_cost, "reserved": spend.reserved}
    return {**asdict(spend), **{name: amount / DOLLAR for name, amount in amounts.items()}}
