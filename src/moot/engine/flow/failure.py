"""A failure: what went wrong, at which step, and where the strand stood, for those who go on from there later."""

from collections.abc import Mapping
from typing import cast

from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record, replace
from moot.engine import frames as positions
from moot.engine.flow import strands
from moot.engine.flow.strands import TASKS, Strand, moved
from moot.engine.frames import Frames
from moot.engine.step import Work

NAME = "$failure"  # among what the first strand knows, while it does what follows a failure


@record
class Failure:
    code: str
    message: str
    remedy: str
    step_id: str
    frames: Frames
    work_id: str = ""  # the step's, if it had come to its work: else to take it again comes to the same
    since: int = 0
    tasks: Work | None = None  # if it has failed by its tasks: those that are done stay done

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}" if self.remedy else self.message

    @property
    def told(self) -> dict[str, Json]:
        """`error`, as expressions know it."""
        return {"code": self.code, "message": self.message, "remedy": self.remedy, "step_id": self.step_id}

    def of_strand(self, strand: Strand) -> "Failure":
        """The same, for a strand that stands elsewhere and fails of it, too."""
        work = strand.work if strand.work is not None and strand.work.type == TASKS else None
        return replace(self, frames=strand.frames, work_id=strand.step_id, since=strand.since, tasks=work)

    def standing(self, strand: Strand) -> Strand:
        """The strand as it was when it failed."""
        return replace(moved(strand, self.frames), step_id=self.work_id, since=self.since, work=self.tasks)


def of(error: MootError, step_id: str, strand: Strand) -> Failure:
    """Of the step where a strand stands."""
    return Failure(error.code, error.fact, error.remedy, step_id, strand.frames).of_strand(strand)


def to_json(one: Failure) -> dict[str, Json]:
    return {
        "error": one.told,
        "frames": positions.to_json(one.frames),
        "work_id": one.work_id,
        "since": one.since,
        "tasks": None if one.tasks is None else strands.work_to_json(one.tasks),
    }


def from_json(kept: Json) -> Failure:
    said = cast(Mapping[str, Json], kept)
    error = cast(Mapping[str, Json], said["error"])
    tasks = cast("Mapping[str, Json] | None", said["tasks"])
    return Failure(
        str(error["code"]),
        str(error["message"]),
        str(error["remedy"]),
        str(error["step_id"]),
        positions.from_json(said["frames"]),
        str(said["work_id"]),
        cast(int, said["since"]),
        None if tasks is None else strands.work_from_json(tasks),
    )
