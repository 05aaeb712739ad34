"""The sandbox: one worker process that evaluates JavaScript, started when first needed and replaced when it hangs.

The limits inside the engine end most of what does not end by itself, but not everything: some built-in functions are
never interrupted. So the worker's use of the CPU is watched from here. It is not the clock that decides: on a busy
machine a good evaluation may take its time.
"""

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import psutil

from moot.core import json
from moot.core.clock import Clock, SystemClock
from moot.core.errors import InvalidInput, MootError
from moot.core.records import record, replace
from moot.engine.expressions import moments
from moot.engine.expressions.evaluation import Absent, Evaluation, Fault, Outcome, Scope, Value
from moot.engine.expressions.moments import Moment
from moot.process import child
from moot.process.child import Running
from moot.process.errors import StdinClosed
from moot.process.program import Program

_WORKER = Path(__file__).with_name("worker.py")
_CPU_SECONDS = 2.0  # of one evaluation, before its worker is given up: twice what the engine allows
_LOOK_SECONDS = 0.5
_MOST_SECONDS = 60.0  # whatever it does
_LINE_CAP = 64 << 20  # more than the longest result takes
_READY = "ready"
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # and not a backslash before u0000
HANGS = Fault("It does not end, and could not be interrupted.")
CRASHED = Fault("The process that evaluates it has died of it.")


class SandboxBroken(MootError):
    """There is nothing that could evaluate."""

    code = "SANDBOX_BROKEN"


@record
class _Request:
    line: bytes
    count: int
    answer: "asyncio.Future[list[Outcome]]"  # one outcome for each, or fewer: the last is what the worker ended by


class Sandbox:
    """An `Evaluator`, while it is open. Requests are taken one after the other."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._requests: asyncio.Queue[_Request] = asyncio.Queue()
        self._unanswered: set[asyncio.Future[list[Outcome]]] = set()
        self._is_open = False

    @asynccontextmanager
    async def open(self) -> AsyncGenerator["Sandbox"]:
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(self._serve())
            self._is_open = True
            try:
                yield self
            finally:
                self._is_open = False
                serving.cancel()
                for one in self._unanswered:  # nobody waits for ever
                    if not one.done():
                        one.set_exception(_closed())

    async def evaluate(
        self, scope: Scope, evaluations: Sequence[Evaluation], moment: Moment | None = None
    ) -> list[Outcome]:
        found: list[Outcome] = []
        known = dict(scope)
        moment = moment or moments.new(self._clock)
        while len(found) < len(evaluations):  # again only behind one that has ended the worker
            rest = evaluations[len(found) :]
            drawn = (
                replace(moment, seed=f"{moment.seed}+{len(found)}") if found else moment
            )  # nobody draws the same twice
            answer = await self._ask(known, rest, drawn)
            settled = [_settled(one, outcome) for one, outcome in zip(rest, answer, strict=False)]
            for one, outcome in zip(rest, settled, strict=False):
                if one.target and isinstance(outcome, Value):
                    known[one.target] = outcome.text
                else:
                    known.pop(one.target, None)
            found += settled
        return found

    async def _ask(self, scope: Scope, evaluations: Sequence[Evaluation], moment: Moment) -> list[Outcome]:
        if not self._is_open:
            raise _closed()
        answer: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()
        self._unanswered.add(answer)
        answer.add_done_callback(self._unanswered.discard)
        self._requests.put_nowait(_Request(_line(scope, evaluations, moment), len(evaluations), answer))
        return await answer

    async def _serve(self) -> None:
        """A worker lives from one trouble to the next."""
        while True:
            request = await self._requests.get()
            try:
                async with child.start(_program()) as worker:
                    await self._employ(worker, request)
            except MootError as error:
                if not request.answer.done():
                    request.answer.set_exception(error)

    async def _employ(self, worker: Running, request: _Request) -> None:
        try:
            ready = await _next_lines(worker)
        except _HangsError:
            ready = []
        if ready != [_READY]:
            worker.stop()
            said = (await worker.wait()).printed(500)
            raise SandboxBroken(f"The worker that evaluates JavaScript does not start: {said}", "Install moot again.")
        while await _is_answered(worker, request):
            request = await self._requests.get()


def _closed() -> SandboxBroken:
    return SandboxBroken("The sandbox is closed.", "Start the host again.")


def _program() -> Program:
    return Program((sys.executable, "-I", str(_WORKER)), stdin_stays_open=True, line_cap=_LINE_CAP)


async def _is_answered(worker: Running, request: _Request) -> bool:
    """False if the worker is of no use any more."""
    if request.answer.done():  # nobody waits for it any more
        return True
    found: list[Outcome] = []
    try:
        await worker.write(request.line + b"\n")
        while len(found) < request.count:
            lines = await _next_lines(worker)
            if not lines:
                raise StdinClosed("The worker has ended.")
            found.extend(_outcome(line) for line in lines)  # up to one that is no answer
        is_well = True
    except _HangsError:
        found.append(HANGS)
        is_well = False
    except (StdinClosed, InvalidInput):  # or it says what is no answer
        found.append(CRASHED)
        is_well = False
    if not request.answer.done():
        request.answer.set_result(found)
    return is_well


class _HangsError(Exception):
    """The worker computes, and does not answer."""


async def _next_lines(worker: Running) -> list[str]:
    """What it has said since; nothing if it has ended."""
    loop = asyncio.get_running_loop()
    used, until = None, loop.time() + _MOST_SECONDS  # most answer long before anybody asks what they have used
    while True:
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                return await worker.lines().together()
        except TimeoutError:
            now = _cpu_seconds(worker.pid)
            used = now if used is None else used
            if now - used > _CPU_SECONDS or loop.time() > until:
                raise _HangsError from None


def _cpu_seconds(pid: int) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system


def _line(scope: Scope, evaluations: Sequence[Evaluation], moment: Moment) -> bytes:
    used = {key for one in evaluations for key in (*one.inputs, *(key for _, key in one.names))}
    return json.dump_bytes(
        {
            "scope": {key: scope[key] for key in used if key in scope},
            "moment": moment.millis,
            "seed": moment.chance,
            "jobs": [_job(one) for one in evaluations],
        }
    )


def _job(one: Evaluation) -> dict[str, Any]:
    return {
        "code": one.code,
        "names": one.names,
        "inputs": one.inputs,
        "lists": one.lists_inputs,
        "filters": one.filters,
        "target": one.target,
        "validate": one.validate,
        **({} if one.fallback is None else {"fallback": one.fallback}),
    }


def _outcome(line: str) -> Outcome:
    said = cast(dict[str, Any], json.loads(line))
    millis = float(said["millis"])
    fault = Fault(said["error"], said["line"], millis) if "error" in said else None
    if "text" not in said:
        return fault or Absent(millis)
    text = str(said["text"])
    try:
        json.loads(text)  # lone surrogates, say
    except InvalidInput as error:
        return Fault(error.fact, 0, millis)
    if _NUL.search(text):
        return Fault("The result holds a NUL character, which cannot be stored.")
    return Value(text, fault, millis)


def _settled(one: Evaluation, outcome: Outcome) -> Outcome:
    """What stands in for a result that the worker itself could not tell."""
    return Value(one.fallback, outcome) if isinstance(outcome, Fault) and one.fallback is not None else outcome
