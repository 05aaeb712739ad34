"""The real Claude Code against a fake Anthropic API, with our own server for its tools."""

from dataclasses import replace
from pathlib import Path

import pytest

from moot.backends.backend import Called, Manner, Usage, Warned, Wrote
from moot.backends.programs.claude import Claude
from moot.backends.programs.driver import Limits, ProgramBackend
from tests import fake_models
from tests.backends.programs.stage import FULL, Stage, play, words
from tests.fake_models import Answer, Asked, FakeModels, call, say

pytestmark = pytest.mark.clis
KEY = "sk-ant-dummy-canary-4711"


def claude(parent: dict[str, str], server: FakeModels | str, **limits: float) -> ProgramBackend:
    url = server if isinstance(server, str) else server.url
    env = {**parent, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
    return ProgramBackend(Claude(), Limits(**limits), env)


async def test_claude_reads_its_inbox_talks_and_writes_a_document(place: Stage, parent: dict[str, str]) -> None:
    def scenario(asked: Asked) -> Answer:
        if not asked.has_called(asked.tool("inbox_check")):
            return call(asked.tool("inbox_check"))
        if not asked.has_called(asked.tool("channel_send")):
            assert "Write it down" in (asked.result_of(asked.tool("inbox_check")) or "")
            return call(asked.tool("channel_send"), message="I do ✓")
        if not asked.has_called(asked.tool("document_write")):
            return call(asked.tool("document_write"), content="# Notes\nünïcödé")
        return say("All done.")

    assignment = await place.assignment("ann")
    await place.say("@ann Write it down")
    async with fake_models.serve(scenario) as server:
        told, ended = await play(claude(parent, server), assignment)
    print(told, ended)
    assert (ended.failure, ended.error, ended.text) == (None, "", "All done.")
    assert ("ann", "I do ✓") in await place.meeting.said()
    assert words(told, Called) == [Called("inbox_check"), Called("channel_send"), Called("document_write")]
    assert Wrote("All done.") in told
    assert (ended.usage.input_tokens, ended.usage.output_tokens, ended.usage.turns) == (400, 80, 4)
    assert ended.usage.cost > 0
