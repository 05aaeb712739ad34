"""A stage: somebody who stands between a host and its attempts, to write down what happens or to play it again."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from moot.backends.backend import Backend
from moot.engine.expressions.moments import Momentary
from moot.registry.runs import Run
from moot.runner.attempts import AttemptWorker
from moot.runner.begun import Equip
from moot.runner.flows.worker import FlowWorker
from moot.runner.setup import SetupWorker
from moot.runner.worker import Worker
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.tools.witness import Answered, Told


class Stage(Protocol):
    def backends(self, found: Mapping[str, Backend]) -> Mapping[str, Backend]: ...

    def equip(self, equip: Equip) -> Equip: ...

    def attempts(self, worker: AttemptWorker) -> Worker: ...

    def setup(self, worker: SetupWorker) -> Worker: ...

    def own(self, worker: Worker) -> Worker:
        """Of jobs in which moot does something by itself."""
        ...

    def flows(self, worker: FlowWorker, evaluator: Momentary) -> Worker: ...

    def worktrees(self, found: Worktrees) -> Worktrees: ...

    def heard(self, heard: Answered | Told) -> None:
        """A tool was called, or mail told with its answer."""
        ...

    def attending(self, store: Store, run: Run) -> AbstractAsyncContextManager[None]:
        """While the run is attended."""
        ...

    async def finish(self, store: Store, run: Run, exit_code: int) -> None:
        """The run is over, and nobody works for it any more."""
        ...
