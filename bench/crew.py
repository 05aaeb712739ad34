"""Worker processes that start each round together.

A worker is `python -m bench.crew bench.module:name SETUP`, where `name` is a context manager that takes the setup and
gives a function from an order to a result. Orders and results are lines of JSON over its pipes; it ends with its input.
"""

import importlib
import json
import select
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

Order = Mapping[str, Any]
Result = dict[str, Any]
Job = Callable[[Order], Result]
Target = Callable[[Order], AbstractContextManager[Job]]

_ROOT = Path(__file__).parent.parent
_DEADLINE = 120.0


class Worker:
    """One process that has its tools ready and waits for an order."""

    def __init__(self, target: str, setup: Order, python: Path = Path(sys.executable)) -> None:
        self._target = target
        self._process = subprocess.Popen(
            [python, "-m", "bench.crew", target, json.dumps(setup)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def order(self, order: Order) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()

    def result(self, seconds: float = _DEADLINE) -> Result:
        """The next line it says; every order has one, and so has being ready."""
        assert self._process.stdout is not None
        heard, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if heard else b""
        if not line:
            raise RuntimeError(f"{self._target} {'ended early' if heard else f'was silent for {seconds:g} s'}")
        return json.loads(line)

    def end(self) -> None:
        with self._process:  # closes its pipes, and waits
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()


@contextmanager
def crew(*members: tuple[str, Order]) -> Generator[list[Worker]]:
    """Workers by target and setup, all ready; all ended afterwards."""
    with ExitStack() as ends:
        workers: list[Worker] = []
        for target, setup in members:
            worker = Worker(target, setup)
            ends.callback(worker.end)
            workers.append(worker)
        for worker in workers:
            worker.result()
        yield workers


def together(workers: Sequence[Worker], order: Order) -> list[Result]:
    """The same order to all at the same moment."""
    for worker in workers:
        worker.order(order)
    return [worker.result() for worker in workers]


def main(target: str, setup: str) -> None:
    module, _, name = target.partition(":")
    make = cast(Target, getattr(importlib.import_module(module), name))
    with make(json.loads(setup)) as job:
        print("{}", flush=True)
        for line in sys.stdin:
            print(json.dumps(job(json.loads(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
