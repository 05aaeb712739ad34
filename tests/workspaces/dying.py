"""A process that carries out what is wanted of a workspace and is killed on the way, at a call of git.

`python -m tests.workspaces.dying PROJECT ID CALL HOW`: after as many calls, or during the next; git lives on alone,
or dies with it. It prints `done` if there was no such call.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from moot.core.ids import WorkspaceId
from moot.process import child
from moot.process.program import Finished, Program
from moot.runner.worktrees import Worktrees
from moot.store import sqlite


class Deadly:
    """In the place of `child.run`."""

    def __init__(self, call: int, how: str) -> None:
        self._left = call
        self._how = how

    async def __call__(self, program: Program) -> Finished:
        async with child.start(program) as running:
            if self._left == 0:
                if self._how == "with git":
                    os.killpg(running.pid, signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)
            finished = await running.wait()
        self._left -= 1
        if self._left == 0 and self._how == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        return finished


async def main(project: Path, id: WorkspaceId, call: int, how: str) -> None:
    child.run = Deadly(call, how)
    store = sqlite.open_file(project / ".workflow" / "moot.db", create=False)
    await Worktrees(store, project, project / ".workflow").carry_out(id)
    await store.close()
    print("done")  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), WorkspaceId(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
