"""Running a command. It begins in the workspace, but a shell goes wherever its user may: only leave is a border."""

import os
from typing import Annotated

from pydantic import Field

from moot.core import secrecy
from moot.process import child, environment
from moot.process.guardian import guarded
from moot.process.program import Finished, Program, as_text, shell_argv
from moot.session.source import Outcome
from moot.session.workspace.given import Given
from moot.session.workspace.place import Place

_LONGEST = 600.0
_OUTPUT = 30_000  # bytes kept of each stream


class Shell(Given):
    command: Annotated[str, Field(min_length=1, max_length=100_000, description="A line for /bin/sh")]
    timeout: Annotated[float, Field(gt=0, le=_LONGEST, description="Seconds, after which all of it is ended")] = 120.0


async def shell(place: Place, given: Shell) -> Outcome:
    """What is left running at its end, in the background too, is ended with it."""
    with guarded(place.guardian) as marker:
        finished = await child.run(
            Program(
                argv=shell_argv(given.command),
                cwd=place.root,
                env=environment.build(),
                secrets=secrecy.secrets_of(os.environ),  # it may find them elsewhere than in its environment
                deadline=given.timeout,
                output_cap=_OUTPUT,
                grace=2.0,
                marker=marker,
            )
        )
    return Outcome(_told(finished, given.timeout), is_error=not finished.is_success)


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
