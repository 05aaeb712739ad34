"""Whole workflows by the commands that people type, with the real Claude Code and Codex as agents."""

import asyncio
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from tests import fake_models
from tests.clis.cli_house import CliHouse
from tests.fake_models import Answer, Asked, Used, call, say
from tests.stories.house import SECONDS

pytestmark = pytest.mark.clis

PASSING = re.compile(r"\b[a-z]{2,5}_[0-9a-z]{20}\b|\bprop-\d{3}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\d\d:\d\d:\d\d UTC")
ENDLESS = """
name: endless
context: {{document_owner: none}}
defaults: {{permissions: full}}
budget: {{cost: 1}}
agents:
  ann: {{backend: {backend}, model: {model}, base_url: "{url}", env: [{key}]}}
  ben: {{backend: {backend}, model: {model}, base_url: "{url}", env: [{key}]}}
kickoff: "@ann @ben talk."
"""
CODEX = ("codex", "gpt-5", "/v1", "OPENAI_API_KEY")
GEMINI = ("gemini", "gemini-2.5-pro", "", "GEMINI_API_KEY")


def ann(asked: Asked) -> Answer:
    """Puts it to the vote, votes, asks ben to; writes the winner down when ben has answered."""
    if "ben has voted" in asked.text:
        if not asked.has_called(asked.tool("document_write")):
            return call(asked.tool("document_write"), content="# Name\nmoot ✓\n")
        return say("It is written down.")
    create, vote = asked.tool("proposal_create"), asked.tool("vote")
    if not asked.has_called(asked.tool("inbox_check")):
        return call(asked.tool("inbox_check"))
    if not asked.has_called(create):
        if "prop-" in asked.text:  # woken once more, by how it went
            return say("Noted.")
        options = [{"id": "moot", "label": "moot"}, {"id": "toom", "label": "toom"}]
        return call(create, type="decision", title="A name", options=options, electors=["ann", "ben"])
    proposal = _proposal(asked.result_of(create))
    if not asked.has_called(vote):
        return call(vote, proposal=proposal, choice="moot")
    if not asked.has_called(asked.tool("channel_send")):
        return call(asked.tool("channel_send"), message=f"@ben please vote on {proposal}")
    return say("I have asked ben.")


def ben(asked: Asked) -> Answer:
    if not asked.has_called(asked.tool("vote")):
        return call(asked.tool("vote"), proposal=_proposal(asked.text), choice="moot", reason="shorter ✓")
    if not asked.has_called(asked.tool("channel_send")):
        return call(asked.tool("channel_send"), message="@ann ben has voted")
    return say("Done.")


def _proposal(text: str | None) -> str:
    found = re.search(r"prop-\d+", text or "")
    assert found is not None, text
    return found[0]


async def test_two_real_programs_talk_vote_and_write_a_document(house: CliHouse) -> None:
    async with fake_models.serve(lambda asked: ann(asked) if asked.wire == "anthropic" else ben(asked)) as server:
        house.write(server)
        printed = await house.moot("run", "team.yaml", "--json")
    assert "moot ✓" in await house.moot("doc", "show")
    said = await house.moot("log", "--json")
    assert "please vote on" in said
    assert "ben has voted" in said
    assert "[RESOLVED:prop-001] A name\\nResult: moot\\nVotes: moot=2" in said
    house.has_no_secret(printed, said)


async def test_what_the_programs_did_is_played_again_without_them(house: CliHouse) -> None:
    async with fake_models.serve(lambda asked: ann(asked) if asked.wire == "anthropic" else ben(asked)) as server:
        house.write(server)
        await house.moot("run", "team.yaml", "--record", "tape.jsonl")
        asked = len(server.asked)
        bare = replace(house, more={**house.more, "PATH": "/usr/bin:/bin"})
        process = await bare.start("run", "team.yaml", "--instance", "again", "--replay", "tape.jsonl", stderr=-1)
        async with asyncio.timeout(SECONDS):
            _, told = await process.communicate()
        assert len(server.asked) == asked
    assert (process.returncode, "the replay is like the recording" in told.decode()) == (0, True), told.decode()
    first = await _result(house, "default")
    assert "moot ✓" in first["notes"]
    assert await _result(house, "again") == first
    house.has_no_secret(told.decode())  # and not in the recording


@pytest.mark.parametrize(("backend", "model", "path", "key"), [CODEX, GEMINI], ids=["codex", "gemini"])
async def test_a_budget_in_dollars_stops_programs_that_tell_only_tokens(
    house: CliHouse, backend: str, model: str, path: str, key: str
) -> None:
    """At its prices, 400,000 tokens of the model cost half a dollar."""

    async with fake_models.serve(lambda _: say("@ann go on", used=Used(400_000, 0))) as server:
        file = ENDLESS.format(backend=backend, model=model, url=f"{server.url}{path}", key=key)
        (house.root / "endless.yaml").write_text(file)
        process = await house.start("run", "endless.yaml", "--json")
        async with asyncio.timeout(SECONDS):
            printed, _ = await process.communicate()
    assert process.returncode == 3, printed
    summary = json.loads(printed.splitlines()[-1])
    assert summary["is_estimated"]
    assert summary["cost"] == pytest.approx(0.5 * summary["attempts"])
    assert summary["attempts"] <= 4  # two use it up, one may be under way, and the last sums up


async def _result(house: CliHouse, instance: str) -> dict[str, Any]:
    """What came of a run, without ids and times."""
    where = ("--instance", instance)
    said = [[one["from"], one["message"], one["mentions"]] for one in await house.json("log", *where)]
    votes = [[one["status"], one["result"]] for one in await house.json("vote", "--all", *where)]
    found = {"said": said, "votes": votes, "notes": await house.moot("doc", "show", *where)}
    return json.loads(PASSING.sub("…", json.dumps(found, ensure_ascii=False)))
