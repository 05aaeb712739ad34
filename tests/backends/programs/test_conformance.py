"""Cursor's agent does what every backend must. It cannot be installed here, so a program of ours plays it; the real
others are asked the same by `make test-clis`."""

import asyncio
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from moot.backends.backend import Assignment, Backend
from tests.backends.conformance import Conformance, Player, Scene
from tests.backends.programs.cast import CURSOR, Step, cast

FAILED: Step = {"print": {"type": "result", "subtype": "error", "is_error": True, "result": "I do not like it."}}


class StandinPlayer:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._begun = root / "begun"
        os.mkfifo(self._begun)
        self._role = cast(CURSOR, root, ())
        self.backend: Backend = self._role.backend

    def play(self, scene: Scene, given: Assignment) -> Assignment:
        ends: dict[str, Sequence[Step]] = {
            "end": CURSOR.ending(scene.say),
            "fail": [FAILED],
            "crash": [{"signal": signal.SIGSEGV}],
            "hang": [{"orphan": True}, {"write": str(self._begun)}, {"hang": True}],
        }
        calls: list[Step] = [{"call": scene.call}] if scene.call else []
        self._role = cast(CURSOR, self._root, [*CURSOR.opening, *calls, *ends[scene.then]])
        return replace(given, manner=self._role.manner())

    def heard(self) -> str:
        return self._role.seen()["stdin"]

    async def has_begun(self) -> None:
        is_written = asyncio.Event()
        with os.fdopen(os.open(self._begun, os.O_RDONLY | os.O_NONBLOCK)) as pipe:
            asyncio.get_running_loop().add_reader(pipe, is_written.set)
            try:
                await is_written.wait()
            finally:
                asyncio.get_running_loop().remove_reader(pipe)


class TestCursor(Conformance):
    @pytest.fixture
    def player(self, tmp_path: Path) -> Player:
        return StandinPlayer(tmp_path)
