"""Fills a store with what programs and sessions have done, through the functions that the runner uses."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from moot.core.ids import AttemptId, HostId, InstanceName, JobId, RunId
from moot.core.json import Json
from moot.core.tx import Tx
from moot.ledger import journal, usage
from moot.ledger.journal import Account, Closed, Opened, State, Tree
from moot.ledger.usage import DOLLAR, Scope, Spent
from moot.registry import agents, attempts, instances
from moot.registry.agents import Agent, NewAgent
from moot.registry.attempts import NewAttempt
from moot.registry.runs import NewRun, Run, start

HOST = HostId("ho_1")
_numbers = count(1)


def job() -> JobId:
    return JobId(f"jb_{next(_numbers):020}")


def join(tx: Tx, name: str, instance: str = "default", *, backend: str = "api", model: str | None = None) -> Agent:
    settings: Mapping[str, Json] = {"model": model} if model else {}
    new = NewAgent(name=name, backend=backend, settings=settings)
    return agents.ensure(tx, instances.ensure(tx, InstanceName(instance)), new)


def run(tx: Tx, name: str, instance: str = "default") -> Run:
    new = NewRun(name, f"{name}.yaml", "run", {"agents": []}, {}, HOST)
    return start(tx, instances.ensure(tx, InstanceName(instance)), new)


@dataclass(frozen=True)
class Begun:
    """An attempt of an agent, in a run or outside."""

    agent: Agent
    job: JobId
    attempt: AttemptId
    scope: Scope

    @property
    def account(self) -> Account:
        return Account(self.attempt, self.scope, self.agent.id)

    def spend(self, tx: Tx, spent: Spent) -> None:
        """As a program tells it."""
        usage.record(tx, self.scope, self.agent.id, spent)

    def grow(self, tx: Tx, stop: str = "") -> None:
        journal.plant(tx, Tree(self.job, self.job, facts={"prompt": "secret words"}), self.agent.id)
        if stop:
            journal.fell(tx, self.job, stop)

    def open(self, tx: Tx, *opened: Opened) -> None:
        journal.begin(tx, self.job, self.account, opened)

    def close(self, tx: Tx, *closed: Closed) -> None:
        journal.end(tx, self.job, closed)


def begin(tx: Tx, agent: Agent, run: Run | None = None, job_id: JobId | None = None, number: int = 1) -> Begun:
    scope = run.id if run else agent.stream
    usage.begin(tx, scope, agent.id)
    chosen = job_id or job()
    new = NewAttempt(agent.id, agent.stream, chosen, number, number, HOST, RunId(run.id) if run else None)
    return Begun(agent, chosen, attempts.start(tx, new), scope)


def opened(
    path: str, kind: str, name: str, agent: str, trigger: str = "turn", *, number: int = 1, reserve: int = 0
) -> Opened:
    return Opened(path, number, kind, name, agent, trigger, "{}", reserve)


@dataclass(frozen=True)
class Asked:
    """A model call and what came of it."""

    path: str
    model: str
    agent: str
    state: State = "done"
    cost: int = 0
    tokens: tuple[int, int] = (0, 0)
    number: int = 1
    is_estimated: bool = False
    more: Mapping[str, int] = field(default_factory=dict[str, int])  # of the tokens: cache and reasoning

    def begin(self, tx: Tx, begun: Begun) -> None:
        reserve = self.cost if self.state in ("unknown", "started") else 2 * self.cost
        begun.open(tx, opened(self.path, "model", self.model, self.agent, number=self.number, reserve=reserve))

    def end(self, tx: Tx, begun: Begun) -> None:
        """As the runner does it: answers are counted with their record, what failed is not."""
        if self.state in ("unknown", "started"):
            return
        closed = Closed(self.path, self.number, self.state, "{}", "end" if self.state == "done" else "unavailable")
        if self.state == "failed":
            begun.close(tx, replace(closed, error="it cannot be reached"))
            return
        used = replace(
            closed,
            cost=self.cost,
            input_tokens=self.tokens[0],
            output_tokens=self.tokens[1],
            is_estimated=self.is_estimated,
            **self.more,
        )
        begun.close(tx, used)
        spent = Spent(*self.tokens, 1, self.cost / DOLLAR, is_estimated=self.is_estimated)
        usage.record(tx, begun.scope, begun.agent.id, spent)


def ask(tx: Tx, begun: Begun, *asked: Asked) -> None:
    """And the attempt is lost where the outcome is unknown."""
    for one in asked:
        one.begin(tx, begun)
        one.end(tx, begun)
    if any(one.state == "unknown" for one in asked):
        journal.lose(tx, begun.attempt)
