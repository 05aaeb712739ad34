"""Attending a run: showing what happens, and ending it when it is done, stopped, or waits for somebody who is away.

The run itself is rows; whoever attends it may die and another may go on.
"""

from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from moot.api import signals
from moot.api.footsteps import Footstep, Footsteps, Sight
from moot.bus import messages
from moot.bus.messages import Message
from moot.core import text
from moot.core.caller import SYSTEM
from moot.core.events import StoredEvent
from moot.core.ids import AgentId, InstanceName, MessageId, RunId
from moot.core.records import record
from moot.core.tx import Tx
from moot.core.wakes import Signal
from moot.registry import agents, attempts, runs
from moot.registry.runs import Run, State
from moot.runner import endings, lookout, pausing, phases
from moot.runner.host import Host
from moot.runner.lookout import Look
from moot.store.store import Store
from moot.teams import teams

EXIT_CODES: dict[State, int] = {"done": 0, "failed": 1, "limit": 3, "stopped": 0, "interrupted": 130, "live": 0}
WAITING = 4  # the exit code of a run that needs a person


@record
class Failed:
    """An attempt that went wrong; it is repeated, or its mail was parked."""

    agent: str
    error: str
    number: int
    is_last: bool
    kind: str = "error"  # as backends name failures
    seq: int = 0

    @property
    def fact(self) -> str:
        return (self.error.splitlines() or [""])[0]


@record
class Warned:
    """Something to know of an attempt, that did not stop it."""

    agent: str
    text: str
    seq: int = 0


@record
class Paused:
    """A provider has asked to wait: nobody who uses it is started until then."""

    provider: str
    until: datetime
    reason: str
    seq: int = 0


@record
class Staged:
    """A team has come to another stage."""

    stage: str
    round: int
    reason: str
    seq: int = 0


@record
class Expected:
    """Agents from outside whose mail holds up the run until they read it."""

    names: tuple[str, ...]
    instance: InstanceName


@record
class Ending:
    """What a run comes to."""

    state: State
    reason: str = ""
    exit_code: int = 0
    is_hasty: bool = False  # attempts that still run are ended at once


@record
class Attendant:
    """Who attends a run, and whether a person is there to answer."""

    store: Store
    host: Host
    has_person: bool
    is_playing: Callable[[], bool] | None = None  # whether a recording that is played has more to come
    sight: Sight = Sight()  # of the steps of its file
    hears_signals: bool = True

    async def attend(
        self, run: Run
    ) -> AsyncIterator[Message | Failed | Warned | Paused | Staged | Expected | Footstep | Ending]:
        """What is said from the start of the run, as it is said; at the end, what came of it."""
        seen = run.first_seq
        expected: set[str] = set()  # who were named so far
        footsteps = Footsteps(self.store, run, self.sight)
        with (
            self.store.listen() as signal,
            _interruptions(self.host, signal, is_heard=self.hears_signals) as interruptions,
        ):
            while True:
                signal.clear()
                look = await self.store.read(lambda tx: lookout.look(tx, run.id))
                page = await self.store.feed(run.stream).page({run.stream: seen})
                for event in page.events:
                    seen = event.seq
                    async for piece in self._told(event):
                        yield piece
                    async for step in footsteps.of_event(event):
                        yield step
                if page.events:
                    continue
                async for step in footsteps.news():
                    yield step
                ending = self._ending(look, is_interrupted=interruptions.count > 0)
                if ending is None:
                    names = tuple(one.name for one in look.outside if one.name not in expected)
                    if names and not look.is_working:
                        expected.update(names)
                        yield Expected(names, run.instance)
                    await signal.wait()
                elif await self._end(run.id, ending):
                    yield ending
                    return

    def _ending(self, look: Look, *, is_interrupted: bool) -> Ending | None:
        """What the run has come to, if it has."""
        run = look.run
        if run.state != "live":
            return Ending(run.state, run.reason, _code(run))
        if run.attended_by != self.host.id:
            return Ending("interrupted", "another process attends the run", EXIT_CODES["interrupted"])
        if is_interrupted:
            return Ending("interrupted", "interrupted", EXIT_CODES["interrupted"])
        if run.stop_asked == "now" or (run.stop_asked == "safely" and not look.is_working):
            return Ending("stopped", "stopped", _code(replace(run, state="stopped")), is_hasty=run.stop_asked == "now")
        if look.limit is not None:
            return Ending("limit", look.limit, EXIT_CODES["limit"])
        if run.is_paused or not look.is_idle or (self.is_playing and self.is_playing()):
            return None
        if run.mode == "start" and not look.has_more:
            return None
        return self._result(look)

    def _result(self, look: Look) -> Ending | None:
        if look.stopped:
            return Ending("limit", "; ".join(look.stopped), EXIT_CODES["limit"])
        if look.awaited:
            names = ", ".join(agent.name for agent in look.awaited)
            return None if self.has_person else Ending("interrupted", f"waits for {names}", WAITING)
        if look.stranded:
            names = ", ".join(agent.name for agent in look.stranded)
            return Ending("failed", f"stopped with unread mail: {names}", EXIT_CODES["failed"])
        if look.parked:
            given_up = text.counted(look.parked, "message")
            fact = f"{given_up} given up; try again with: moot retry, then moot resume"
            return Ending("failed", fact, EXIT_CODES["failed"])
        if look.unfinished:
            return Ending("failed", look.unfinished, EXIT_CODES["failed"])
        return Ending("done")

    async def _end(self, run: RunId, ending: Ending) -> bool:
        def change(tx: Tx) -> bool:
            found = runs.get(tx, run)
            if found.state == "live" and found.attended_by != self.host.id:
                return True  # theirs to end
            return phases.close(tx, run, ending.state, ending.reason)

        return await self.store.write(change, caller=SYSTEM)

    async def _told(self, event: StoredEvent) -> AsyncIterator[Message | Failed | Warned | Paused | Staged]:
        if event.kind == messages.POSTED:
            id, stream = MessageId(event.subject), event.stream
            yield await self.store.read(lambda tx: messages.get(tx, id, stream))
        elif event.kind == pausing.PAUSED:
            until = datetime.fromisoformat(str(event.data["until"]))
            yield Paused(event.subject, until, str(event.data["reason"]), event.seq)
        elif event.kind == attempts.FAILED and event.data["failure"] != "rate_limit":
            yield await self._failed(event)
        elif event.kind == teams.STAGE:
            data = event.data
            yield Staged(str(data["to"]), int(str(data["round"])), str(data["reason"]), event.seq)
        elif event.kind == endings.WARNED:
            yield Warned(await self._name(event), str(event.data["text"]), event.seq)

    async def _failed(self, event: StoredEvent) -> Failed:
        name, data = await self._name(event), event.data
        number, is_last = int(str(data["number"])), "parked" in data
        return Failed(name, str(data["error"]), number, is_last, str(data["failure"]), event.seq)

    async def _name(self, event: StoredEvent) -> str:
        id = AgentId(str(event.data["agent"]))
        return (await self.store.read(lambda tx: agents.get(tx, id))).name


def _code(run: Run) -> int:
    """Somebody has stopped it: of a run that was to come to an end, that is no success."""
    if run.state == "stopped" and run.mode != "start":
        return EXIT_CODES["interrupted"]
    return EXIT_CODES[run.state]


@dataclass(slots=True)
class _Interruptions:
    count: int = 0


@contextmanager
def _interruptions(host: Host, signal: Signal, *, is_heard: bool) -> Generator[_Interruptions]:
    """The first signal to end lets attempts finish for a while, the second ends them at once."""
    found = _Interruptions()

    def interrupt() -> None:
        found.count += 1
        if found.count > 1:
            host.stop(now=True)
        signal.ring()

    if is_heard:  # never taken away: the second signal may come while the host ends
        signals.hear(interrupt)
    yield found
