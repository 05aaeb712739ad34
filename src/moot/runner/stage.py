"""A stage: somebody who stands between a host and its attempts, to write down what happens or to play it again."""

from collections.abc import Mapping
from typing import Protocol

from moot.backends.backend import Backend
from moot.runner.begun import Equip
from moot.runner.setup import SetupWorker
from moot.runner.worker import Worker
from moot.tools.witness import Heard


class Stage(Protocol):
    def backends(self, found: Mapping[str, Backend]) -> Mapping[str, Backend]: ...

    def equip(self, equip: Equip) -> Equip: ...

    def attempts(self, worker: Worker) -> Worker: ...

    def setup(self, worker: SetupWorker) -> Worker: ...

    def heard(self, heard: Heard) -> None:
        """A tool was called."""
        ...
