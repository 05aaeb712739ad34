"""Replaying: how a tape is played again, without any of the backends that it was made with.

The workflow runs on a host as always; only three things are taken over. In place of the backends, `parts` makes the
calls that each attempt made. In place of people and of agents from outside, `conducting` does what they did. And an
attempt begins only in its turn, so that all happens in the order of the `score`. Everything else (mail, votes, limits,
retries) is moot itself at work. Where it comes to something else than what the tape has, that is a drift: it is noted,
and the play goes on.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import cast, get_args

from moot.backends.backend import Backend
from moot.core.ids import InstanceName, StreamId
from moot.core.tx import ReadTx
from moot.core.wakes import Signal
from moot.engine.expressions.moments import Momentary
from moot.engine.flow import flows
from moot.engine.flow.flows import Flow
from moot.jobs.jobs import Job
from moot.registry.agents import Agent
from moot.registry.runs import Run
from moot.runner.attempts import AttemptWorker
from moot.runner.begun import Begun, Equip, Kit
from moot.runner.flows.cues import Guide, Unguided
from moot.runner.flows.worker import FlowWorker
from moot.runner.setup import SetupFailed, SetupWorker
from moot.runner.verify_worker import VerifyWorker
from moot.runner.worker import Worker
from moot.runner.worktrees import Worktrees
from moot.store.store import Store
from moot.taping import flow_chronicle
from moot.taping.chronicle import Chronicler
from moot.taping.flow_lines import Stood
from moot.taping.members import Chosen
from moot.taping.replaying import channel_likeness, flow_likeness, gates, results, workflow_likeness
from moot.taping.replaying.conducting import Conductor
from moot.taping.replaying.parts import ReplayedBackend
from moot.taping.replaying.performance import Performance
from moot.taping.replaying.played_flow import Hands, PlayedFlow
from moot.taping.replaying.recalled_deeds import RecalledDeeds
from moot.taping.replaying.told_workspaces import ToldWorkspaces
from moot.taping.tape import Begin, Happened, Header, Line, Printed, Tape
from moot.taping.watched import Watched
from moot.tools.witness import Answered, Told
from moot.workflow import workflow
from moot.workflow.workflow import Workflow


class Player:
    """Plays one recorded run in one instance. What else its host does is left alone."""

    def __init__(self, tape: Tape, instance: InstanceName, played: Workflow, chosen: Mapping[str, Chosen]) -> None:
        self._tape = tape
        self._performance = Performance(tape, instance)
        self._workspaces = ToldWorkspaces(self._performance)
        self._stream: StreamId | None = None  # of the run
        self._outputs = {line.number: line.output for line in tape.lines if isinstance(line, Printed)}
        for fact in workflow_likeness.compare(tape.header, played, chosen, instance):
            self._performance.drifts.add(fact)
        self._performance.drifts.compare_setup(tape.header, played)

    @property
    def recorded(self) -> Header:
        return self._tape.header

    @property
    def drifts(self) -> tuple[str, ...]:
        return tuple(self._performance.drifts.facts)

    @property
    def has_person(self) -> bool:
        """Whether somebody was at the terminal who could answer."""
        return self._tape.header.has_person

    def is_playing(self) -> bool:
        """Whether there is more to come; a run is not over before that."""
        return self._performance.turns.current is not None

    def backends(self, found: Mapping[str, Backend]) -> Mapping[str, Backend]:
        names = cast(tuple[str, ...], get_args(workflow.Backend))
        return {name: ReplayedBackend(found.get(name), self._performance) for name in names}

    def equip(self, equip: Equip) -> Equip:
        @asynccontextmanager
        async def equipped(begun: Begun) -> AsyncGenerator[Kit]:
            if self._is_ours(begun.agent):
                self._performance.begins(begun)
            async with equip(begun) as kit:
                yield kit

        return equipped

    def attempts(self, worker: AttemptWorker) -> Worker:
        return Watched(
            replace(worker, is_played=self._is_ours, may_begin=partial(gates.leave, self._performance)),
            self._performance.settled,
            partial(gates.may_begin, self._performance),
        )

    def setup(self, worker: SetupWorker) -> Worker:
        return replace(worker, recall=self._recall)

    def own(self, worker: Worker) -> Worker:
        if isinstance(worker, VerifyWorker):
            worker = replace(worker, is_told=self._is_checked)
        return Watched(worker, may_begin=partial(gates.may_do, self._performance))

    def worktrees(self, found: Worktrees) -> Worktrees:
        return replace(found, told=self._workspaces)

    def flows(self, worker: FlowWorker, evaluator: Momentary) -> Worker:
        performance = self._performance
        performance.library = worker.deeds.library

        def guided(flow: Flow, signal: Signal) -> Guide:
            if flow.instance != performance.instance:
                return Unguided(worker.evaluator)
            return PlayedFlow(performance, performance.flows.part(flow), Hands(evaluator, signal, worker.stopping))

        return replace(worker, guiding=guided, deeds=replace(worker.deeds, recall=RecalledDeeds(performance)))

    def heard(self, heard: Answered | Told) -> None:
        """Nobody calls but this one."""

    @asynccontextmanager
    async def attending(self, store: Store, run: Run) -> AsyncGenerator[None]:
        self._stream = run.stream
        self._performance.store.set_result(store)
        async with asyncio.TaskGroup() as group:
            conducting = group.create_task(Conductor(self._performance, store, run).conduct())
            try:
                yield
            finally:
                conducting.cancel()
                for _, held in self._performance.outside.values():
                    held.cancel()

    async def finish(self, store: Store, run: Run, exit_code: int) -> None:
        """What was not played, and what came out otherwise."""
        drifts, outcome, plain = self._performance.drifts, self._tape.outcome, self._performance.plain
        for note in self._performance.turns.left:
            if isinstance(note, Begin):
                drifts.unwoken(note)
        for fact in await channel_likeness.compare(store, run, self._performance.score.channel, plain):
            drifts.add(fact)
        for fact in [] if outcome is None else await self._compare_results(store, run):
            drifts.add(fact)
        for fact in await store.read(self._compare_flows):
            drifts.add(fact)
        await self._workspaces.close(store)
        if outcome is not None and exit_code != outcome.exit_code:
            drifts.add(f"the run ended with exit code {exit_code} instead of {outcome.exit_code}")

    async def _compare_results(self, store: Store, run: Run) -> list[str]:
        chronicler, happened = Chronicler(run), list[Line]()
        while lines := await chronicler.news(store):
            happened += lines
        recorded, now = ([one for one in told if isinstance(one, Happened)] for told in (self._tape.lines, happened))
        return list(results.compare(recorded, now, self._performance.plain))

    def _compare_flows(self, tx: ReadTx) -> list[str]:
        """How they have ended, unless the recording does not tell, or has more of one than could be played."""
        performance, found = self._performance, list[str]()
        stood = {line.flow: line for line in self._tape.lines if isinstance(line, Stood)}
        for part in performance.flows.all:
            if part.started is None or part.started.flow not in stood or part.is_cut_off:
                continue
            old, name = stood[part.started.flow], part.started.name
            if part.flow is None:
                found.append(f"{name} is not begun, as it is in the recording")
            else:
                now = flow_chronicle.stood(tx, flows.get(tx, part.flow))
                found += flow_likeness.compare_ends(name, old, now, performance.plain)
        return found

    def _is_checked(self, job: Job) -> bool:
        """Whether what comes of it is on the tape."""
        return job.stream == self._stream

    def _is_ours(self, agent: Agent) -> bool:
        return agent.instance == self._performance.instance

    def _recall(self, number: int) -> str:
        if number in self._outputs:
            return self._outputs[number]
        failure = self._tape.outcome.failure if self._tape.outcome else ""
        raise SetupFailed(failure or "The recording has no output of this setup command.")
