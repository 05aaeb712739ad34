"""What moot does itself at a step, outside the store: commands, its own tools, and those of other servers.

The step is on record as being done before it begins. A command leaves a mark on the disk first, so that after a crash
one that never began is told from one of which nobody knows. Only one can leave that mark: should two hosts take
themselves for the holder of a flow, because one has overslept its lease, the second finds it and does nothing. Marks
are seen on one machine only: on two, the one that was halted between its last look at the job and the start still
starts, while the other has asked a person what became of it.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from moot.core import durations, json, secrecy
from moot.core.caller import SYSTEM, Caller
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.library import Library, NoLibrary
from moot.core.records import record
from moot.core.servers import Server
from moot.core.tx import Tx
from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import Strand
from moot.engine.step import Outcome, Work
from moot.ledger.operations import Key
from moot.process import child, environment
from moot.process.guardian import Guardian
from moot.process.program import Finished, Program, as_text
from moot.registry import agents, instances
from moot.store.store import Store
from moot.tools import dispatch, spellings, table
from moot.tools.around import Around
from moot.tools.witness import Answered, Told

if TYPE_CHECKING:
    from moot.runner.flows.servers import Servers

_OUTPUT = 4 << 20  # bytes that are kept of what a command prints
_SHOWN = 2000  # characters of it in an error
_MILLIS = 600_000  # that a command may take, if nothing else is said
# The mark is there before the command begins, and the command becomes the same process. With -C the mark must be new.
_MARKED = 'set %sC; printf %%s "$3" > "$1" && exec /bin/sh -c "$2"'
_ORCHESTRATOR = "orchestrator"  # in whose name a flow speaks that nobody but moot drives


class Recall(Protocol):
    """Knows what came of it, so that it is not done."""

    def is_about(self, flow: Flow) -> bool: ...

    async def outcome(self, flow: Flow, strand: Strand, call: Callable[[], Awaitable[Outcome]] | None) -> Outcome:
        """`call` does it nevertheless, where it is a call of one of moot's own tools."""
        ...


@record
class Deeds:
    """`place` names this machine and the folder of the marks: only here can be seen what has begun here."""

    store: Store
    root: Path
    marks: Path  # a folder for the marks of commands
    place: str
    guardian: Guardian
    servers: Mapping[str, Server] = field(default_factory=dict[str, Server])
    library: Library = field(default_factory=NoLibrary)
    witness: Callable[[Flow, Strand, Answered | Told], None] | None = None  # of calls of moot's own tools
    recall: Recall | None = None

    def can_call(self, flow: Flow, method: str) -> bool:
        """Whether moot has this tool, or knows the server that does."""
        return own_name(method) in table.TOOLS or _splits(method, self.servers)

    def is_repeatable(self, strand: Strand) -> bool:
        """After a crash: whether it can be done once more without doing anything twice."""
        assert strand.work is not None
        if strand.work.type == "mcp_call":
            return own_name(str(strand.work.definition["method"])) in table.TOOLS  # which know it by its key
        if strand.work.definition.get("idempotent"):
            return True
        return strand.waits_on == self.place and not self._mark(strand).exists()

    async def do(self, flow: Flow, strand: Strand, connect: Callable[[], "Servers"]) -> Outcome | None:
        """None if somebody else has begun it, and this has not. Never raises but for cancellation."""
        assert strand.work is not None
        own = own_method(strand.work)
        try:
            if self.recall is not None and self.recall.is_about(flow):
                call = None if own is None else partial(self._call_own, flow, strand, own)
                return await self.recall.outcome(flow, strand, call)
            if strand.work.type == "shell_command":
                return await self._run(flow, strand, strand.work)
            calling = self._call(strand, strand.work, connect) if own is None else self._call_own(flow, strand, own)
            return await _in_time(strand.work, calling)
        except (MootError, OSError) as error:
            return Outcome("failed", None, str(error))

    def forget(self, strand: Strand) -> None:
        """Its end is on record."""
        with contextlib.suppress(OSError):
            self._mark(strand).unlink()

    async def _run(self, flow: Flow, strand: Strand, work: Work) -> Outcome | None:
        self.marks.mkdir(parents=True, exist_ok=True, mode=0o700)
        said, own = work.definition, secrets.token_hex(8)
        may_be_repeated = bool(said.get("idempotent"))
        marked = _MARKED % ("+" if may_be_repeated else "-")
        env = environment.build({"MOOT_WORKFLOW": flow.id, "MOOT_STEP": strand.step_id})
        program = Program(
            ("/bin/sh", "-c", marked, "sh", str(self._mark(strand)), str(said["command"]), own),
            cwd=self.root / str(said.get("cwd") or ""),
            env=env,
            secrets=secrecy.secrets_of(env),
            deadline=float(cast(float, said.get("timeout") or _MILLIS)) / 1000,
            output_cap=_OUTPUT,
            marker=marker(strand),
        )
        with self.guardian.guarding(marker(strand)):
            finished = await child.run(program)
        return _outcome(finished) if may_be_repeated or self._is_marked(strand, own) else None

    async def _call(self, strand: Strand, work: Work, connect: Callable[[], "Servers"]) -> Outcome | None:
        if not self._is_noted(strand):
            return None
        params = cast(Mapping[str, Json], work.definition.get("params") or {})
        return await _call_other(connect(), self.servers, str(work.definition["method"]), params)

    async def _call_own(self, flow: Flow, strand: Strand, tool: str) -> Outcome:
        assert strand.work is not None
        params = cast(Mapping[str, Json], strand.work.definition.get("params") or {})
        caller = await self.store.write(lambda tx: caller_of(tx, flow), caller=SYSTEM)
        witness = None if self.witness is None else partial(self.witness, flow, strand)
        around = Around(self.library, witness)
        answer = await dispatch.perform(
            self.store, caller, tool, params, key_of(flow, strand), tells_mail=False, around=around
        )
        if answer.is_error:
            return Outcome("failed", None, answer.text)
        return Outcome(result=answer.structured or answer.text)

    def _is_marked(self, strand: Strand, own: str) -> bool:
        """Whether the mark is one's own. One that is gone was, too: it stays until its end is on record."""
        try:
            return self._mark(strand).read_text() == own
        except FileNotFoundError:
            return True

    def _is_noted(self, strand: Strand) -> bool:
        """Others than moot's own tools do not know a call that they have had before. False if it was noted already."""
        self.marks.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._mark(strand).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _mark(self, strand: Strand) -> Path:
        return self.marks / f"{strand.flow}-{strand.number}-{strand.since}-{strand.tries}"


async def _in_time(work: Work, calling: Coroutine[Any, Any, Outcome | None]) -> Outcome | None:
    """What came of a call, if it ends as soon as its step wants."""
    millis = work.definition.get("timeout")
    if millis is None:
        return await calling
    most = timedelta(milliseconds=float(cast(float, millis)))
    limit = asyncio.timeout(most.total_seconds())
    try:
        async with limit:
            return await calling
    except TimeoutError:
        if not limit.expired():
            raise
        fact = f"{work.definition['method']} has not answered in {durations.spell(most)}"
        return Outcome("failed", None, f"{fact}, and how this ended is not known.")


def marker(strand: Strand) -> str:
    """By which what a command has started is found, should its host die."""
    return f"step-{strand.flow}-{strand.number}"


def key_of(flow: Flow, strand: Strand) -> Key:
    """By which a call of one of moot's tools is known, should it be made again."""
    return Key(f"flow:{flow.id}", f"{strand.number}:{strand.step_id}:{strand.tries}:{strand.since}")


def own_method(work: Work) -> str | None:
    """The tool of moot that is to be called; None if it is none."""
    name = own_name(str(work.definition.get("method")))
    return name if work.type == "mcp_call" and name in table.TOOLS else None


def own_name(method: str) -> str:
    """`workflow_state.update` is `workflow_state_update`; `workflow.list` lists definitions."""
    return spellings.own(method).replace(".", "_")


def caller_of(tx: Tx, flow: Flow) -> Caller:
    """On whose behalf a flow calls tools: of who started it, with no more than its rights."""
    instance = instances.get(tx, flow.instance)
    agent = agents.service(tx, instance, _ORCHESTRATOR) if flow.holder is None else agents.get(tx, flow.holder)
    return Caller(agent.name, flow.role, flow.instance, agent.id, groups=flow.tool_groups)


def _splits(method: str, known: Mapping[str, Server]) -> bool:
    from moot.runner.flows import servers  # noqa: PLC0415  # brings the whole MCP library along

    return bool(known) and servers.split(method, known) is not None


async def _call_other(
    connected: "Servers", known: Mapping[str, Server], method: str, params: Mapping[str, Json]
) -> Outcome:
    from moot.runner.flows import servers  # noqa: PLC0415  # as above

    found = servers.split(method, known)
    if found is None:
        return Outcome("failed", None, f"There is no server for {method[:80]}.")
    answer = await connected.call(*found, params)
    if answer.is_error:
        return Outcome("failed", None, answer.text)
    return Outcome(result=_parsed(answer.text))


def _parsed(text: str) -> Json:
    try:
        return json.loads(text)
    except MootError:
        return text


def _outcome(finished: Finished) -> Outcome:
    printed: Json = {
        "stdout": finished.stdout.decode(errors="replace").replace("\0", "\ufffd"),
        "stderr": as_text(finished.stderr),
        "exit_code": finished.exit_code,
    }
    if finished.is_success:
        return Outcome(result=printed)
    shown = finished.printed(_SHOWN)
    return Outcome("failed", printed, f"It {finished.how}." + (f"\n{shown}" if shown else ""))
