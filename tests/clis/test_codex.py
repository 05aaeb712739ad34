"""The real Codex against a fake OpenAI API, with our own server for its tools."""

from dataclasses import replace

import pytest

from moot.backends.backend import Called, Manner, Wrote
from moot.backends.programs.codex import Codex
from moot.backends.programs.driver import Limits, ProgramBackend
from tests import fake_models
from tests.backends.programs.stage import FULL, Stage, play, words
from tests.fake_models import Answer, Asked, FakeModels, call, say

pytestmark = pytest.mark.clis
KEY = "sk-openai-dummy-canary-4711"
MODEL = "openai/gpt-5"  # one that it does not know gets its tools as plain functions


def codex(parent: dict[str, str], **limits: float) -> ProgramBackend:
    return ProgramBackend(Codex(), Limits(**limits), {**parent, "OPENAI_API_KEY": KEY})


def manner(server: FakeModels | str) -> Manner:
    url = server if isinstance(server, str) else server.v1
    return replace(FULL, model=MODEL, base_url=url)


async def test_codex_reads_its_inbox_talks_and_writes_a_document(place: Stage, parent: dict[str, str]) -> None:
    def scenario(asked: Asked) -> Answer:
        if not asked.has_called(asked.tool("inbox_check")):
            return call(asked.tool("inbox_check"))
        if not asked.has_called(asked.tool("channel_send")):
            assert "Write it down" in (asked.result_of(asked.tool("inbox_check")) or "")
            return call(asked.tool("channel_send"), message="I do ✓")
        if not asked.has_called(asked.tool("document_write")):
            return call(asked.tool("document_write"), content="# Notes\nünïcödé")
        return say("All done.")

    async with fake_models.serve(scenario) as server:
        assignment = await place.assignment("ann", manner=manner(server))
        await place.say("@ann Write it down")
        told, ended = await play(codex(parent), assignment)
    print(told, ended)
    assert (ended.failure, ended.error, ended.text) == (None, "", "All done.")
    assert ("ann", "I do ✓") in await place.meeting.said()
    assert words(told, Called) == [Called("inbox_check"), Called("channel_send"), Called("document_write")]
    assert Wrote("All done.") in told
    assert (ended.usage.input_tokens, ended.usage.output_tokens) == (400, 80)
