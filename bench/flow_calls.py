"""What does the server pay for a step that an agent asks for, and for its word that it is done, in units of a tool that
does nothing? And does it pay more when 100,000 steps were done before?

As for `mcp_send`: only the CPU of the server process counts, and all are called at the same pace. What follows from the
word that a step is done is paid for, too: the flow goes on to the next step before anybody asks for it.
"""

import secrets
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import apsw

from bench import flowing, loops
from bench.crew import Worker, crew
from bench.harness import Figure, Rounds, Scale, interleaved, micros
from bench.mcp_client import Client, connected
from bench.place import disk
from moot.core.ids import FlowId

PACE = 0.016
FEW, MANY = 1, 100_000
STEPS = 3_000
_TEXT = "name: bench\nsteps:\n" + "".join(
    f"  - {{id: s{at}, type: user_message, message: hello}}\n" for at in range(STEPS)
)
_HISTORY = (
    """
    with recursive number(at) as (select :start + 1 union all select at + 1 from number where at < :end)
    insert into flow_steps (flow, number, strand, step_id, type, doer, status, detail, error, started_at, ended_at)
    select :flow, at, 0, 'before[' || at || '].user_message', 'user_message', 'agent', 'success', '{}', '', 1, 1
    from number
    """,
    "update flows set last_step = :end, version = version + :end - :start where id = :flow",
    "update strands set seen_step = :end where flow = :flow",
)


class Driving:
    """A flow on a server, and the agent that drives it over its socket."""

    def __init__(self, worker: Worker, client: Client, flow: FlowId) -> None:
        self._worker, self._client, self._flow = worker, client, flow
        self._done = 0

    def ask(self, calls: int) -> float:
        """CPU seconds of the server for one `workflow_get_next_step`, which tells the same step again and again."""
        before = _cpu(self._worker)
        answers = self._client.ask_every(PACE, "workflow_get_next_step", [{"workflow_id": self._flow}] * calls)
        used = _cpu(self._worker) - before
        assert all(one["step"]["id"] == self._step for one in answers), answers[0]
        return used / calls

    def complete(self, calls: int) -> float:
        """The same of `workflow_step_complete`."""
        asked: list[dict[str, str]] = []
        for _ in range(calls):
            asked.append({"workflow_id": self._flow, "step_id": self._step})
            self._done += 1
        before = _cpu(self._worker)
        answers = self._client.ask_every(PACE, "workflow_step_complete", asked)
        used = _cpu(self._worker) - before
        assert all(one["success"] and "waiting" not in one for one in answers), answers[0]
        return used / calls

    @property
    def _step(self) -> str:
        return f"s{self._done}.user_message"


def measure(scale: Scale, folder: Path) -> list[Figure]:
    calls = 48 if scale.is_quick else 96
    with ExitStack() as opened:

        def served(kind: str, name: str) -> tuple[Worker, Client]:
            setup = {"folder": str(folder / name), "token": f"moot_{secrets.token_urlsafe(32)}"}
            (worker,) = opened.enter_context(crew((f"bench.mcp_servers:{kind}", setup)))
            return worker, opened.enter_context(connected(f"{setup['folder']}/mcp.sock", setup["token"]))

        def driving(name: str, done: int) -> Driving:
            flow = loops.run(_begun(folder / name, done))
            return Driving(*served("flows", name), flow)

        few, many, empty = driving("few", FEW), driving("many", MANY), served("empty_tool", "empty")
        for one in (few, many):
            one.complete(1)
        rounds = interleaved(
            scale,
            few_next=lambda: few.ask(calls),
            many_next=lambda: many.ask(calls),
            few_complete=lambda: few.complete(calls),
            many_complete=lambda: many.complete(calls),
            empty=_empty(*empty, calls),
            disk=disk(folder, scale.seconds / 4),
        )
    return [
        _figure("workflow_get_next_step", "next", "few", FEW, rounds),
        _figure("workflow_step_complete", "complete", "few", FEW, rounds),
        _figure("workflow_get_next_step", "next", "many", MANY, rounds),
        _figure("workflow_step_complete", "complete", "many", MANY, rounds),
    ]


def _figure(tool: str, call: str, size: str, done: int, rounds: Rounds) -> Figure:
    side = f"{size}_{call}"
    facts = [f"{micros(rounds.middle(side))} against {micros(rounds.middle('empty'))}"]
    if size == "many":
        facts.append(f"times the same with {FEW} done: {rounds.ratio(side, f'few_{call}'):.2f}")
    facts.append(f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds")
    question = f"server CPU of {tool}, {done:,} done, times an empty tool"
    return Figure(question, rounds.ratio(side, "empty"), 2.0, "at most", tuple(facts))


def _empty(worker: Worker, client: Client, calls: int) -> Callable[[], float]:
    def measured() -> float:
        before = _cpu(worker)
        client.call_every(PACE, calls)
        return (_cpu(worker) - before) / calls

    return measured


async def _begun(folder: Path, done: int) -> FlowId:
    """A flow that has been at it for a while, before anybody serves it."""
    async with flowing.staged(folder) as stage:
        flow = await stage.start(_TEXT, "agent")
        await stage.until(flow.id, lambda found: found.waits_for == "agent")
    _add_history(folder / "moot.db", flow.id, done)
    return flow.id


def _add_history(file: Path, flow: FlowId, done: int) -> None:
    connection = apsw.Connection(str(file))
    ((last,),) = connection.execute("select last_step from flows where id = ?", (flow,)).fetchall()
    assert isinstance(last, int)
    facts = {"flow": flow, "start": last, "end": last + done}
    with connection:
        for statement in _HISTORY:
            connection.execute(statement, facts)
    connection.close()


def _cpu(worker: Worker) -> float:
    worker.order({})
    return worker.result()["cpu"]
