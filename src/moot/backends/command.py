"""Any program as an agent: it reads its prompt from standard input, and what it prints is its answer.

It need not know moot. One that does finds the way in its environment: `moot send` and the like act as this agent.
"""

import os
from collections.abc import AsyncGenerator, Mapping

from moot.backends import inside
from moot.backends.backend import Assignment, Briefing, Ended, Failure, Progress, Wrote
from moot.backends.programs import faults, hiding
from moot.core.errors import MootError
from moot.core.records import record
from moot.process import child, environment
from moot.process.program import Finished, Program, as_text, shell_argv

_MOST_OF_ERROR = 1_500  # characters
_MOST_OF_ANSWER = 200_000  # bytes, of which the middle is cut out
_SHELL = shell_argv("")[:2]
_NOT_RUN = (126, 127)  # what a shell exits with if a program is not there, or may not be run


@record
class CommandLimits:
    """Seconds. The agent's own time limit is the runner's, which cancels."""

    deadline: float | None = None
    idle: float = 900.0  # without any output
    grace: float = 5.0  # between asking the tree to go and killing it


class CommandBackend:
    """Runs the agent's `command`. Exit code 0 is success; connecting to moot is not needed for it."""

    def __init__(self, limits: CommandLimits | None = None, parent: Mapping[str, str] | None = None) -> None:
        self._limits = limits or CommandLimits()
        self._parent = parent

    async def run(self, assignment: Assignment) -> AsyncGenerator[Progress]:
        parent = os.environ if self._parent is None else self._parent
        if (problem := _problem(assignment, parent)) is not None:
            yield Ended("cannot_start", problem)
            return
        env = _environment(assignment, parent)
        program = self._program(assignment, env, await assignment.brief())
        secrets = program.secrets
        try:
            async with child.start(program) as running:
                async for text in running.lines().texts():
                    yield hiding.hidden(Wrote(text), secrets)
                finished = await running.wait()
        except MootError as error:  # it could not be started
            yield hiding.hidden(Ended(faults.at_start(error), f"{error.code}: {error}"), secrets)
            return
        yield hiding.hidden(self._ended(finished, program), secrets)

    def _program(self, assignment: Assignment, env: Mapping[str, str], briefing: Briefing) -> Program:
        return Program(
            argv=assignment.manner.command,
            cwd=assignment.workspace,
            env=env,
            secrets=hiding.secrets_of(env, (inside.TOKEN, *assignment.manner.env)),
            stdin=_prompt(briefing),
            deadline=self._limits.deadline,
            idle=self._limits.idle,
            grace=self._limits.grace,
            output_cap=_MOST_OF_ANSWER,
            line_cap=_MOST_OF_ANSWER,
            marker=assignment.folder.name,
        )

    def _ended(self, finished: Finished, program: Program) -> Ended:
        if finished.is_success:
            return Ended(text=as_text(finished.stdout))
        failure, fact = self._failure(finished, program)
        last = finished.printed(_MOST_OF_ERROR)
        return Ended(failure, f"{program.argv[0]}: it {fact}" + (f"\n{last}" if last else ""))

    def _failure(self, finished: Finished, program: Program) -> tuple[Failure, str]:
        if finished.ended == "deadline":
            return "timeout", f"took longer than {self._limits.deadline:g} seconds"
        if finished.ended == "idle":
            return "timeout", f"gave no sign of life for {self._limits.idle:g} seconds"
        if finished.signal is not None:
            return "crash", finished.how
        is_missing = program.argv[:2] == _SHELL and finished.exit_code in _NOT_RUN
        return "cannot_start" if is_missing else "error", finished.how


def _problem(assignment: Assignment, parent: Mapping[str, str]) -> str | None:
    """Why it cannot be started."""
    if not assignment.manner.command:
        return f"{assignment.agent} has no command. Give it one, as in command: [./agent.sh]."
    missing = inside.missing(assignment.manner, parent)
    if missing:
        return f"The environment has no {', '.join(missing)}, which {assignment.agent} asks for. Set it."
    return None


def _environment(assignment: Assignment, parent: Mapping[str, str]) -> dict[str, str]:
    manner = assignment.manner
    places = inside.private_places(assignment.folder) if manner.is_isolated else {}
    source = inside.without_places(parent) if manner.is_isolated else parent
    return environment.build({**places, **inside.variables(assignment, parent)}, also=manner.env, parent=source)


def _prompt(briefing: Briefing) -> bytes:
    """Who the agent is, then what it has to do."""
    return "\n\n".join(part for part in (briefing.system_prompt, briefing.prompt) if part).encode()
