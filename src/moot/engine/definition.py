"""A definition: the steps of a workflow file and the state that they work on, as plain records."""

from collections.abc import Mapping
from dataclasses import field
from itertools import pairwise

from moot.core.json import Json
from moot.core.records import record
from moot.engine.frames import Frames
from moot.engine.state.schema import Schema
from moot.engine.step import Step


@record
class Definition:
    name: str
    steps: tuple[Step, ...] = ()
    schema: Schema = field(default_factory=Schema)
    default_state: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Mapping[str, Json]])
    warnings: tuple[str, ...] = ()

    def block(self, frames: Frames) -> tuple[Step, ...]:
        """The steps of the innermost block."""
        steps = self.steps
        for outer, inner in pairwise(frames):
            steps = steps[outer.at].blocks[inner.block]
        return steps

    def trail(self, frames: Frames) -> list[Step]:
        """The steps that a flow is at, the outermost first; none at the end of a block."""
        found: list[Step] = []
        steps = self.steps
        for at, frame in enumerate(frames):
            if frame.at >= len(steps):
                break
            found.append(steps[frame.at])
            if at + 1 < len(frames):
                steps = steps[frame.at].blocks[frames[at + 1].block]
        return found

    def step_id(self, frames: Frames) -> str:
        """`fix_errors.then.1.state_update`; a round of a loop is `retry.body[2].0.shell_command`."""
        trail = self.trail(frames)
        parts = [trail[0].name]
        for (around, step), (outer, inner) in zip(pairwise(trail), pairwise(frames), strict=False):
            parts += [f"{inner.block}[{outer.rounds + 1}]" if around.is_loop else inner.block, step.name]
        return ".".join((*parts, trail[-1].type))
