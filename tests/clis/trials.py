"""Trials: a program in a place that somebody has prepared, and a model that tries what it should not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moot.backends.backend import Ended, Manner, Progress
from moot.core.permissions import PRESETS
from tests import fake_models
from tests.backends.programs.stage import Stage, play
from tests.clis.subjects import Subject
from tests.fake_models import Answer, Asked, Call, calls, say

READ_ONLY = Manner(permissions=PRESETS["read-only"])


def put(place: Path, content: Any) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content if isinstance(content, str) else json.dumps(content))


def in_order(*wanted: tuple[str, dict[str, Any]]) -> Callable[[Asked], Answer]:
    """A model that calls these tools of the program, one after the other, whether they are offered or not."""

    def scenario(asked: Asked) -> Answer:
        done = sum(len(turn.calls) for turn in asked.turns)
        return calls(Call(*wanted[done])) if done < len(wanted) else say("All done.")

    return scenario


async def run(
    place: Stage, parent: dict[str, str], subject: Subject, scenario: Callable[[Asked], Answer], **more: Any
) -> tuple[list[Progress], Ended, list[Asked]]:
    prompt = more.pop("prompt", "Deal with your inbox.")
    async with fake_models.serve(scenario) as server:
        manner = subject.manner(server, more.pop("manner", READ_ONLY))
        given = await place.assignment(manner=manner, prompt=prompt)
        told, ended = await play(subject.backend({**parent, **more}), given)
        return told, ended, server.asked
