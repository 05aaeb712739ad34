"""What does the server pay for a `channel_send` over its socket, in units of a tool that does nothing?

Only the CPU of the server process counts. Its calls end in a durable commit; those of the empty tool in nothing. All
servers are called at the same pace: one that never rests would look cheaper, with its code always in the CPU's caches.
"""

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import repeat
from pathlib import Path
from typing import Literal

from bench.crew import Worker, crew
from bench.harness import Figure, Rounds, Scale, interleaved, micros
from bench.mcp_client import Client, connected
from bench.place import disk

Kind = Literal["moot", "empty_tool", "empty_handler"]
CLIENTS, PACE = 8, 0.008


def measure(scale: Scale, folder: Path) -> list[Figure]:
    calls = 64 if scale.is_quick else 128
    with ExitStack() as opened:
        threads = opened.enter_context(ThreadPoolExecutor(CLIENTS))

        def served(kind: Kind) -> tuple[Worker, list[Client]]:
            setup = {"folder": str(folder / kind), "token": f"moot_{secrets.token_urlsafe(32)}"}
            (worker,) = opened.enter_context(crew((f"bench.mcp_servers:{kind}", setup)))
            path = f"{setup['folder']}/mcp.sock"
            return worker, [opened.enter_context(connected(path, setup["token"])) for _ in range(CLIENTS)]

        def cpu_per_call(worker: Worker, clients: list[Client]) -> Callable[[], float]:
            def measured() -> float:
                each, pace = calls // len(clients), PACE * len(clients)
                before = _cpu(worker)
                list(threads.map(Client.call_every, clients, repeat(pace), repeat(each)))
                return (_cpu(worker) - before) / calls

            return measured

        moot, tool, handler = served("moot"), served("empty_tool"), served("empty_handler")
        rounds = interleaved(
            scale,
            one=cpu_per_call(moot[0], moot[1][:1]),
            tool_one=cpu_per_call(tool[0], tool[1][:1]),
            handler_one=cpu_per_call(handler[0], handler[1][:1]),
            many=cpu_per_call(*moot),
            tool_many=cpu_per_call(*tool),
            handler_many=cpu_per_call(*handler),
            disk=disk(folder, scale.seconds / 4),
        )
    return [_figure("one client", "one", rounds), _figure(f"{CLIENTS} clients at once", "many", rounds)]


def _figure(who: str, side: str, rounds: Rounds) -> Figure:
    return Figure(
        f"server CPU of channel_send, {who}, times an empty tool on the same SDK",
        rounds.ratio(side, f"tool_{side}"),
        1.6,
        "at most",
        (
            f"{micros(rounds.middle(side))} against {micros(rounds.middle(f'tool_{side}'))}",
            f"times an empty handler below the SDK's tools: {rounds.ratio(side, f'handler_{side}'):.2f}x",
            f"fdatasync {rounds.middle('disk'):,.0f}/s; {rounds.count} rounds",
        ),
    )


def _cpu(worker: Worker) -> float:
    worker.order({})
    return worker.result()["cpu"]
