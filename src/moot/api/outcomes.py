"""Running workflows from a Python program: the run as one call, and what came of it as one record."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict, Unpack

from moot.api import access, functions, running
from moot.api.attending import EXIT_CODES, Ending
from moot.api.functions import Function
from moot.api.running import Order, Piece
from moot.api.summaries import Summary
from moot.api.targets import DEFAULT
from moot.bus.messages import Message
from moot.core import json
from moot.core.errors import InvalidInput, MootError, leaves
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.core.permissions import Preset
from moot.core.records import record
from moot.registry import names
from moot.registry.runs import State
from moot.workflow.members import Flags
from moot.workflow.workflow import Backend


class LoopRunning(MootError):
    """A call that waits for its end, where others wait for their turn."""

    code = "LOOP_RUNNING"


class RunNotDone(MootError):
    """A run that has come to another end than it was to; `outcome` tells which."""

    code = "RUN_NOT_DONE"

    def __init__(self, outcome: "Outcome") -> None:
        told = outcome.reason if outcome.reason not in ("", outcome.status) else ""
        fact = f"The run of {outcome.summary.run.name} ended as {outcome.status}"
        super().__init__(f"{fact}: {told.rstrip('.')}." if told else f"{fact}.", "With check=False this is no error.")
        self.outcome = outcome


@record
class Outcome:
    """What a run came to."""

    status: State
    reason: str
    exit_code: int  # as of `moot run`
    messages: tuple[Message, ...]  # that were said in it
    summary: Summary

    @property
    def is_done(self) -> bool:
        return self.exit_code == 0

    @property
    def result(self) -> Json:
        """What the workflow's `result` says: of steps a value, else a text."""
        flow = self.summary.flow
        return self.summary.result if flow is None or flow.result is None else json.loads(flow.result)

    @property
    def cost(self) -> float:
        """In dollars."""
        return self.summary.usage.dollars

    @property
    def documents(self) -> tuple[str, ...]:
        """The names of those that were changed."""
        return self.summary.documents


class Options(TypedDict, total=False):
    """How a run is made; everything may be left out."""

    inputs: Mapping[str, Json]
    instance: str
    tools: Iterable[Function[..., Any]]
    budget: str | Mapping[str, Json]
    backend: Backend
    permissions: Preset
    folder: str | Path  # where the project is; otherwise around the current folder
    store: str
    on_message: Callable[[Message], None]
    waits_for_people: bool  # who are asked, and answer elsewhere; otherwise the run ends there
    check: bool  # RunNotDone unless it is done; True if it is left out


def run(workflow: str | Path, **options: Unpack[Options]) -> Outcome:
    """Run a workflow to its end: a file, or the name of one in .moot/workflows. RunNotDone unless it is done."""
    return _to_the_end(run_it(workflow, hears_signals=_is_main(), **options))


def resume(**options: Unpack[Options]) -> Outcome:
    """Go on with the last run of an instance, to its end."""
    return _to_the_end(resume_it(hears_signals=_is_main(), **options))


async def run_it(workflow: str | Path, *, hears_signals: bool = False, **options: Unpack[Options]) -> Outcome:
    order = _order(str(workflow), options, hears_signals=hears_signals)
    loaded = running.load(order)
    running.check_trust(order, loaded)
    return await _outcome(running.run(order, loaded), options)


async def resume_it(*, hears_signals: bool = False, **options: Unpack[Options]) -> Outcome:
    return await _outcome(running.resume(_order("", options, hears_signals=hears_signals)), options)


def _order(workflow: str, options: Options, *, hears_signals: bool) -> Order:
    folder = options.get("folder")
    if folder is not None and not Path(folder).is_dir():
        raise InvalidInput(f"There is no folder {str(folder)!r}.", "Give the folder of a project.")
    return Order(
        source=workflow,
        mode="run",
        instance=InstanceName(names.check_instance(options.get("instance", DEFAULT))),
        inputs=tuple(_spelled(options.get("inputs", {}))),
        budget=_budget(options.get("budget")),
        store=options.get("store"),
        has_person=options.get("waits_for_people", False),
        flags=Flags(options.get("backend"), options.get("permissions")),
        project=access.find_project(Path(folder)) if folder is not None else None,
        functions=functions.by_name(options.get("tools", ())),
        hears_signals=hears_signals,
    )


def _spelled(inputs: Mapping[str, Json]) -> Iterable[str]:
    """As `--input` takes them."""
    for name, value in inputs.items():
        if isinstance(value, str):
            yield f"{name}={'@' if value.startswith('@') else ''}{value}"
        elif value is not None:
            yield f"{name}={json.dumps(value)}"


def _budget(said: str | Mapping[str, Json] | None) -> str | None:
    return said if said is None or isinstance(said, str) else ",".join(f"{kind}={most}" for kind, most in said.items())


async def _outcome(pieces: AsyncIterator[Piece], options: Options) -> Outcome:
    try:
        outcome = await _attended(pieces, options.get("on_message"))
    except BaseExceptionGroup as error:  # as a host lets out what went wrong in it
        told = leaves(error)
        if len(told) == 1:
            raise told[0] from None
        raise
    if options.get("check", True) and not outcome.is_done:
        raise RunNotDone(outcome)
    return outcome


async def _attended(pieces: AsyncIterator[Piece], heard: Callable[[Message], None] | None) -> Outcome:
    said: list[Message] = []
    ending, summary = Ending("interrupted"), None
    async for piece in pieces:
        match piece:
            case Message():
                said.append(piece)
                if heard is not None:
                    heard(piece)
            case Ending():
                ending = piece
            case Summary():
                summary = piece
            case _:
                pass
    assert summary is not None
    return Outcome(ending.state, ending.reason, ending.exit_code, tuple(said), summary)


def _is_main() -> bool:
    """Only there signals are heard."""
    return threading.current_thread() is threading.main_thread()


def _to_the_end(work: Coroutine[Any, Any, Outcome]) -> Outcome:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        import uvloop  # noqa: PLC0415  # takes longer to load than a program may want to wait that only imports moot

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return _uninterrupted(runner, work)
    work.close()
    raise LoopRunning(
        "An event loop runs here, and would stand still.", "Use: async with moot.connect() as m: await m.run(…)."
    )


def _uninterrupted(runner: asyncio.Runner, work: Coroutine[Any, Any, Outcome]) -> Outcome:
    """KeyboardInterrupt for Ctrl-C, once the run has come to its end: that is what a program expects of it."""
    try:
        outcome = runner.run(work)
    except RunNotDone as error:
        if error.outcome.exit_code == EXIT_CODES["interrupted"]:
            raise KeyboardInterrupt from error
        raise
    if outcome.exit_code == EXIT_CODES["interrupted"]:
        raise KeyboardInterrupt
    return outcome
