"""What every backend must do, done by the real programs."""

import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest

from moot.backends.backend import Assignment
from moot.backends.programs.driver import ProgramBackend
from moot.process import tree
from tests import fake_models
from tests.backends.conformance import HUGE, Conformance, Floor, Player, Scene
from tests.clis.subjects import CLAUDE, CODEX, GEMINI, OPENCODE, Subject
from tests.fake_models import Answer, Asked, FakeModels, Hang, Status, call, say

pytestmark = pytest.mark.clis


@dataclass
class CliPlayer:
    subject: Subject
    server: FakeModels
    backend: ProgramBackend
    asked: list[Asked]

    def play(self, scene: Scene, given: Assignment) -> Assignment:
        self.asked.clear()

        def scenario(asked: Asked) -> Answer:
            if not asked.tools:
                return say("a title")
            self.asked.append(asked)
            if scene.call is not None and not asked.has_called(asked.tool(scene.call[0])):
                return call(asked.tool(scene.call[0]), **scene.call[1])
            match scene.then:
                case "end":
                    return say(scene.say)
                case "fail":
                    return Status(400, "I do not like it.")
                case "crash":
                    for pid in tree.Tree(given.attempt).members():
                        os.kill(pid, signal.SIGKILL)
                    return Hang()
                case "hang":
                    return Hang()

        self.server.scenario = scenario
        return replace(given, manner=self.subject.manner(self.server))

    def heard(self) -> str:
        return self.asked[-1].text

    async def has_begun(self) -> None:
        await self.server.until_asked(len(self.server.asked) + 1)


class Cli(Conformance):
    subject: Subject

    @pytest.fixture
    async def player(self, anyio_backend: object, parent: dict[str, str]) -> AsyncIterator[CliPlayer]:
        async with fake_models.serve([]) as server:
            yield CliPlayer(self.subject, server, self.subject.backend(parent), [])


class TestClaude(Cli):
    subject = CLAUDE


class TestCodex(Cli):
    subject = CODEX


class TestOpencode(Cli):
    subject = OPENCODE


class TestGemini(Cli):
    subject = GEMINI

    async def test_a_huge_prompt_arrives_whole(self, floor: Floor, player: Player) -> None:
        """It prints its prompt again, and may exit before all of what it prints has left it."""
        ended = await floor.play(player, Scene(say="read"), prompt=HUGE)
        assert ended.failure in (None, "no_result")
        assert HUGE.strip() in player.heard()

    async def test_an_agent_that_says_nothing_has_succeeded(self, floor: Floor, player: Player) -> None:
        """To Gemini an empty answer is a fault of the model."""
        ended = await floor.play(player, Scene())
        assert (ended.failure, ended.text) == ("error", "")
