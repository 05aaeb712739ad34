"""Runs on tape: recorded, or played again from a recording. What that takes is loaded for those runs alone."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from moot.app import workflows
from moot.app.choosing import Choice
from moot.app.workflows import Loaded
from moot.core.errors import InvalidInput
from moot.core.ids import InstanceName
from moot.core.records import record
from moot.registry.runs import Run
from moot.runner.retry import Retry
from moot.store.store import Store
from moot.workflow.workflow import AgentDefinition

if TYPE_CHECKING:
    from moot.taping.recording.recorder import Recorder
    from moot.taping.replaying.player import Player
    from moot.taping.tape import Header, Member


DRIFTED = 1  # the exit code of a replay that is not like its recording
# A failure that is played again need not be waited for.
AT_ONCE = Retry(backoff=timedelta(milliseconds=1), multiplier=1.0)


@record
class Taping:
    """What is done with a tape; at most one of the two."""

    record: Path | None = None
    replay: Path | None = None
    is_over: bool = False  # an earlier recording in the same file is given up

    def check(self) -> None:
        if self.record is not None and self.replay is not None:
            raise InvalidInput("--record and --replay were given.", "Choose one of them.")
        if self.is_over and self.record is None:
            raise InvalidInput("--force was given without --record.", "Leave it out, or say what to record into.")
        if self.record is not None:
            from moot.taping import tape_file  # noqa: PLC0415

            tape_file.check_place(self.record, is_over=self.is_over)


@record
class Replayed:
    """What came of a replay: where the workflow has drifted away from the recording, and the exit code of it all."""

    drifts: tuple[str, ...]
    exit_code: int


def rehearsed(loaded: Loaded, file: Path) -> Loaded:
    """The workflow with what its recording was run by, where nobody says otherwise; TapeInvalid if it is another's."""
    from moot.taping import tape_file  # noqa: PLC0415

    recorded = tape_file.read(file).header
    if recorded.workflow != loaded.workflow.name:
        raise tape_file.TapeInvalid(
            f"{file} is a recording of the workflow `{recorded.workflow}`, and this is `{loaded.workflow.name}`.",
            "Replay it with that workflow, or write the same `name:` in this one.",
        )
    choices = {name: _recorded(one, recorded.agents.get(name)) for name, one in loaded.choices.items()}
    agents = tuple(replace(one, env=()) if one.backend == "api" else one for one in loaded.workflow.agents)  # no key
    return replace(loaded, workflow=replace(loaded.workflow, agents=agents), choices=choices)


def _recorded(choice: Choice, member: "Member | None") -> Choice:
    """Nothing of it was looked for on this machine."""
    account = "recorded" if choice.account else ""
    if choice.is_said or member is None:
        return replace(choice, account=account, key=None)
    return replace(choice, backend=member.backend, why="recorded", account=account, key=None)


def adapted(loaded: Loaded, recorded: "Header") -> Loaded:
    """The workflow as a replay runs it: on the backends of the recording, without waits and without calling people."""
    agents = tuple(_adapted(one, recorded.agents.get(one.name)) for one in loaded.workflow.agents)
    workflow = replace(loaded.workflow, agents=agents, notify=None)
    return replace(loaded, workflow=workflow, members=workflows.members(workflow))


def recorder(taping: Taping, instance: InstanceName, loaded: Loaded, *, has_person: bool) -> "Recorder":
    from moot.taping import tape_file  # noqa: PLC0415
    from moot.taping.recording.recorder import Recorder  # noqa: PLC0415

    assert taping.record is not None
    writer = tape_file.Writer(taping.record, is_over=taping.is_over)
    return Recorder(writer, instance, loaded.workflow, loaded.choices, has_person=has_person)


def player(file: Path, instance: InstanceName, loaded: Loaded) -> "Player":
    from moot.taping import tape_file  # noqa: PLC0415
    from moot.taping.replaying.player import Player  # noqa: PLC0415

    return Player(tape_file.read(file), instance, loaded.workflow, loaded.choices)


def playing(stage: "Recorder | Player | None") -> "Player | None":
    """The one that plays a recording, if it is that."""
    if stage is None:
        return None
    from moot.taping.replaying.player import Player  # noqa: PLC0415

    return stage if isinstance(stage, Player) else None


@asynccontextmanager
async def taped(stage: "Recorder | Player | None", store: Store, run: Run) -> AsyncGenerator[None]:
    """While the run is attended."""
    if stage is None:
        yield
        return
    async with stage.attending(store, run):
        yield


def _adapted(agent: AgentDefinition, recorded: "Member | None") -> AgentDefinition:
    is_played = recorded is not None and agent.backend not in ("human", "external")
    backend = recorded.backend if recorded is not None and is_played else agent.backend
    return replace(agent, backend=backend, timeout=None, retry=replace(agent.retry, backoff=None, multiplier=None))
