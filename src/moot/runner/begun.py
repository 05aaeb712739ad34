"""What an attempt is begun with: its job, its agent, its mail, its identity, and what it is equipped with."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path

from moot.backends.backend import Access, Conversation
from moot.bus.mailbox import Mail
from moot.core.caller import Caller
from moot.core.ids import AttemptId, JobId
from moot.core.records import record
from moot.core.tool import Toolbox
from moot.jobs.jobs import Job
from moot.ledger.journal import Tree
from moot.process.guardian import Guardian
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner.purses import Leave


@record
class Start:
    """What an attempt starts from."""

    job: Job
    agent: Agent
    run: Run | None
    leave: Leave


@record
class Begun(Start):
    """An attempt that has its mail and its identity, and now needs its backend."""

    mail: tuple[Mail, ...]
    caller: Caller
    token: str
    at: datetime
    tree: Tree  # of sessions, for agents that are some: it may go on from attempts before
    conversation: Conversation | None = None
    is_played: bool = False  # from a recording: no provider is asked, and nobody waits for one

    @property
    def delivery(self) -> JobId:
        """All attempts at one delivery do a thing once, whichever jobs they belong to."""
        return self.tree.job

    @property
    def attempt(self) -> AttemptId:
        assert self.caller.attempt is not None
        return self.caller.attempt


@record
class Kit:
    """What the host gives to an attempt while it runs."""

    toolbox: Toolbox
    access: Access
    workspace: Path
    folder: Path
    guardian: Guardian | None = None  # ends what was started for it, should this process be killed


Equip = Callable[[Begun], AbstractAsyncContextManager[Kit]]
