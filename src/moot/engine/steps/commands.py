"""Commands of a shell, whoever runs them: what they may say, how they are handed over, and what came of them."""

from collections.abc import Mapping
from datetime import timedelta

from pydantic import Field

from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record
from moot.engine.step import Move, Next, Outcome, StepFailed, Visit
from moot.engine.steps import failing, outputs, quoting, results, spans
from moot.engine.steps.failing import Failing, FailingShape
from moot.engine.steps.outputs import OutputFormat, OutputUnreadable
from moot.engine.steps.results import RESULT, ResultShape
from moot.engine.steps.spans import Span
from moot.engine.steps.updating import Change

DEFAULT_TIMEOUT = timedelta(minutes=10)
_PRINTED = frozenset(("stdout", "stderr", "exit_code"))
_MOST_BYTES = 131_000  # of one argument of a program, on Linux
_TAIL = 4000  # characters of what went wrong that are kept


class CommandShape(FailingShape):
    command: str = Field(
        min_length=1,
        description="What the shell is given. {{ values }} are quoted, each item of a list apart; {{{ raw }}} are not",
    )
    output_format: OutputFormat = Field(
        default="text", description="How what it prints is read: text, lines, json or key_value"
    )
    timeout: Span | None = Field(
        default=None, description="How long it may take: milliseconds, or 30s, 5m (10 minutes)"
    )
    state_update: ResultShape | None = Field(default=None, description="Where the result goes")


@record
class Command:
    command: str
    form: OutputFormat
    failing: Failing
    timeout: Json = None
    writes: Change | None = None


def read(said: CommandShape) -> Command:
    quoting.check(said.command)
    writes = results.change(said.state_update)
    return Command(said.command, said.output_format, failing.read(said), said.timeout, writes)


@record
class Handed:
    """What whoever runs it is given."""

    definition: Mapping[str, Json]
    replacements: Mapping[str, Json]
    original: str


async def handed(visit: Visit, detail: Command) -> Handed:
    made = await visit.resolve(detail.command, quoting.spelled)
    command = str(made.value)
    if len(command.encode()) > _MOST_BYTES:
        raise StepFailed(
            f"The command of {visit.called} has become longer than {_MOST_BYTES:,} bytes.",
            "Let it read what is long from a file, or go through it in parts.",
        )
    limit = DEFAULT_TIMEOUT if detail.timeout is None else await spans.resolved(visit, detail.timeout)
    definition: dict[str, Json] = {
        "command": command,
        "output_format": detail.form,
        "timeout": spans.millis(limit),
        **await results.shown(visit, detail.writes),
    }
    return Handed(definition, results.replacements(made.replacements), results.original(detail.command))


async def finish(visit: Visit, outcome: Outcome) -> Move:
    detail: Command = visit.step.detail
    error = _error(outcome)
    if error is not None:
        return await failing.failed(visit, detail.failing, detail.writes, error)
    try:
        result = _result(outcome.result, detail.form)
    except OutputUnreadable as unreadable:
        return await failing.failed(visit, detail.failing, detail.writes, _unreadable(unreadable, outcome))
    return Next(await results.updates(visit, detail.writes, {RESULT: result}))


def _error(outcome: Outcome) -> dict[str, Json] | None:
    """What went wrong. Of a command that nobody could run there is only a message."""
    printed = _printed(outcome.result)
    code = printed.get("exit_code") if printed else None
    if outcome.status == "success" and not code:
        return None
    if printed is None:
        return {"message": results.message(outcome)}
    stderr = str(printed.get("stderr") or "")[-_TAIL:]
    said, *more = results.message(outcome).splitlines()
    if code and (not outcome.error or said == f"It failed with exit code {code}."):  # what it printed is told apart
        said, more = f"exit code {code}", []
    last = [] if more else outputs.lines(stderr)[-1:]
    return {"message": ": ".join(("\n".join((said, *more)), *last)), "exit_code": code, "stderr": stderr}


def _unreadable(error: MootError, outcome: Outcome) -> dict[str, Json]:
    printed = _printed(outcome.result) or {}
    return {"message": error.fact, "exit_code": printed.get("exit_code"), "stderr": printed.get("stderr", "")}


def _result(result: Json, form: OutputFormat) -> Json:
    """An agent may have read it already."""
    printed = _printed(result)
    text = printed["stdout"] if printed else result
    return outputs.read(text, form) if isinstance(text, str) else text


def _printed(result: Json) -> Mapping[str, Json] | None:
    """If it is what a command has printed, and not what somebody has read from that."""
    if isinstance(result, Mapping) and result.keys() <= _PRINTED and isinstance(result.get("stdout"), str):
        return result
    return None
