"""Running a command: confined to the workspace where the system can do that, else with all rights of its user."""

import asyncio
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from pydantic import Field

from moot.core import secrecy
from moot.process import child, confinement, environment
from moot.process.errors import NotConfined
from moot.process.guardian import guarded
from moot.process.program import Finished, Program, as_text, shell_argv
from moot.session.source import Outcome
from moot.session.workspace import border
from moot.session.workspace.given import Given
from moot.session.workspace.place import Place

_LONGEST = 600.0
_OUTPUT = 30_000  # bytes kept of each stream


class Shell(Given):
    command: Annotated[str, Field(min_length=1, max_length=100_000, description="A line for /bin/sh")]
    timeout: Annotated[float, Field(gt=0, le=_LONGEST, description="Seconds, after which all of it is ended")] = 120.0


async def check_unseen() -> None:
    """NotConfined where a command that no person looks at would have all rights of its user."""
    if await asyncio.to_thread(confinement.is_missing):
        raise NotConfined("Commands cannot be confined on this system, so it was not run.", "Tell the person.")


async def shell(place: Place, given: Shell) -> Outcome:
    """What is left running at its end, in the background too, is ended with it."""
    is_confined = await asyncio.to_thread(confinement.is_on)
    with guarded(place.guardian) as marker, _scratch(place) as scratch:
        env = environment.build(border.variables(scratch) if is_confined else None)
        argv = shell_argv(given.command)
        finished = await child.run(
            Program(
                argv=border.around(place.root, scratch, env).around(argv) if is_confined else argv,
                cwd=place.root,
                env=env,
                secrets=secrecy.secrets_of(os.environ),  # it may find them elsewhere than in its environment
                deadline=given.timeout,
                output_cap=_OUTPUT,
                grace=2.0,
                marker=marker,
            )
        )
    return Outcome(_told(finished, given.timeout), is_error=not finished.is_success)


@contextmanager
def _scratch(place: Place) -> Generator[Path]:
    """For temporary files and caches, kept from command to command if somebody sees to it in the end."""
    if place.guardian is not None:
        yield place.guardian.folder(str(place.root))
        return
    with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _told(finished: Finished, timeout: float) -> str:
    if finished.ended == "deadline":
        how = f"It did not end in {timeout:g} s, and was ended with all it had started."
    elif finished.signal is not None:
        how = f"It was ended by signal {finished.signal}."
    else:
        how = f"exit code {finished.exit_code}"
    parts = [as_text(finished.stdout)]
    if finished.stderr:
        parts += ["[stderr]", as_text(finished.stderr)]
    return "\n".join(part for part in (*parts, how) if part)
