"""Where models were refused, by a limit or by a provider that asked to wait, they are refused again: at the same place,
for the same reason, and nobody waits."""

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from typing import Any

import pytest

from moot.ledger.usage import DOLLAR
from tests import fake_models
from tests.cli.terminal import Terminal
from tests.fake_models import Asked, Call, Cut, Hang, Reply, Used, call, rate_limited, say
from tests.stories.test_replay_models import assert_alike, drifts, lines, record, replay

ALONE = """
name: alone
context: {document_owner: none}
budget: {BUDGET}
agents:
  ann: {model: openai/ann, BASE, retry: {backoff: 10ms}}
kickoff: "@ann begin"
"""
SEVERAL = """
name: several
context: {document_owner: none}
budget: {BUDGET}
agents:
  ann: {model: openai/ann, BASE, retry: {backoff: 10ms}}
  ben: {model: openai/ben, BASE, retry: {backoff: 10ms}}
  cem: {model: openai/cem, BASE, retry: {backoff: 10ms}}
kickoff: "@ann @ben @cem begin"
"""


def writing(asked: Asked) -> fake_models.Answer:
    """Never done."""
    return Reply((Call("document_append", {"content": f"{asked.model}\n"}),), "tools", Used(10_000, 200))


def query(terminal: Terminal, statement: str, *values: object) -> list[Any]:
    (file,) = terminal.folder.rglob("moot.db")
    with closing(sqlite3.connect(file)) as connection, connection:
        return connection.execute(statement, values).fetchall()


async def test_a_run_that_had_too_little_money_left_ends_there_again(terminal: Terminal) -> None:
    file, tape = await record(terminal, ALONE.replace("BUDGET", "cost: 0.3"), writing, code=3)
    refused, *_ = lines(tape, "refused")
    assert (refused["kind"], refused["reached"]["by_run"]) == ("budget", "budget: $0.30")
    assert_alike(terminal, file, tape, code=3)
    reasons = query(terminal, "select reason from runs order by started_at")
    assert reasons == [("budget: $0.30",)] * 2


async def test_who_is_played_like_a_program_ends_there_too(terminal: Terminal) -> None:
    text = ALONE.replace("BUDGET", "cost: 0.3").replace("backoff: 10ms}", "backoff: 10ms}, tools: [documents, files]")
    file, tape = await record(terminal, text, writing, code=3)
    assert lines(tape, "refused")
    assert_alike(terminal, file, tape, code=3)


async def test_an_agent_that_had_too_little_money_of_its_own_ends_there_again(terminal: Terminal) -> None:
    text = ALONE.replace("BUDGET", "").replace("backoff: 10ms}", "backoff: 10ms}, budget: {cost: 0.3}")
    file, tape = await record(terminal, text, writing, code=3)
    assert {(one["reached"]["by_run"], one["reached"]["by_agent"]) for one in lines(tape, "refused")} == {
        ("", "budget: $0.30")
    }
    assert_alike(terminal, file, tape, code=3)


async def test_where_the_limit_is_another_the_request_is_told(terminal: Terminal) -> None:
    file, tape = await record(terminal, ALONE.replace("BUDGET", "cost: 0.3"), writing, code=3)
    file.write_text(file.read_text().replace("cost: 0.3", "cost: 30"))
    ended = replay(terminal, file, tape)
    refused, *_ = lines(tape, "refused")
    number = sum(one["attempt"] == refused["attempt"] for one in lines(tape, "asked")) + 1
    assert any(f"call {number}: the recording does not have it" in one for one in drifts(ended)), ended


@pytest.mark.parametrize("budget", ["turns: 7", pytest.param("tokens: 60000", marks=pytest.mark.chaos)])
async def test_limits_that_several_reach_at_once_are_reached_by_the_same(terminal: Terminal, budget: str) -> None:
    file, tape = await record(terminal, SEVERAL.replace("BUDGET", budget), writing, code=3)
    assert lines(tape, "refused")
    assert_alike(terminal, file, tape, code=3)


async def test_an_answer_that_broke_off_costs_the_same_again(terminal: Terminal) -> None:
    file, tape = await record(terminal, ALONE.replace("BUDGET", ""), [Cut(say("word " * 9), 3), say("done")])
    (failed,) = lines(tape, "unanswered")
    assert failed["usage"]["output_tokens"] > 0
    assert_alike(terminal, file, tape)
    first, again = query(terminal, "select cost, output_tokens from usage")
    assert first == again
    assert first[0] > failed["usage"]["cost"] * DOLLAR


@pytest.mark.parametrize("tools", ["", pytest.param("tools: [documents, files]", marks=pytest.mark.chaos)])
async def test_a_request_that_was_cut_off_is_charged_again(terminal: Terminal, tools: str) -> None:
    """It may have cost all there is: what follows finds that a limit is reached."""

    async def scenario(asked: Asked) -> fake_models.Answer:
        if "fire" in asked.text:
            return say("done")
        await asyncio.to_thread(terminal.ok, "send", "--instance", "first", "@ann fire", "--now")
        return Hang()

    text = ALONE.replace("BUDGET", "cost: 0.3").replace("backoff: 10ms}", f"backoff: 10ms}}, {tools}")
    file, tape = await record(terminal, text, scenario, code=3)
    lost = [one["facts"]["lost"] for one in lines(tape, "event") if one["kind"] == "attempt_interrupted"]
    assert lost == [{"t1/m": pytest.approx(300_000, rel=0.01)}]
    assert_alike(terminal, file, tape, code=3)
    assert_used_alike(terminal)


def assert_used_alike(terminal: Terminal) -> None:
    first, again = query(
        terminal, "select attempts, input_tokens, output_tokens, turns, cost from usage order by scope"
    )
    assert first == again


class Slow:
    """Lets ann wait, whoever asks after that is answered."""

    def __init__(self, times: int) -> None:
        self._times = times
        self.asked = Counter[str]()

    def __call__(self, asked: Asked) -> fake_models.Answer:
        self.asked[asked.model] += 1
        return rate_limited(0) if self.asked[asked.model] <= self._times else say(f"done, says {asked.model}")


async def test_a_replay_waits_for_no_provider_and_lets_nobody_wait(terminal: Terminal) -> None:
    file, tape = await record(terminal, ALONE.replace("BUDGET", ""), Slow(4))
    assert [one["failure"] for one in lines(tape, "end")] == ["rate_limit", None]
    ((provider,),) = query(terminal, "select provider from pauses")
    query(terminal, "delete from pauses")
    assert_alike(terminal, file, tape)
    assert query(terminal, "select * from pauses") == []
    far = query(terminal, "select max(at) from events")[0][0] + 3_600_000_000
    query(terminal, "insert into pauses (provider, until, reason, at) values (?, ?, 'slowly', 0)", provider, far)
    ended = await asyncio.to_thread(
        terminal.run, "run", str(file), "--instance", "third", "--replay", str(tape), env={"PATH": "/usr/bin:/bin"}
    )
    assert (ended.code, "the replay is like the recording" in ended.err) == (0, True), ended
    assert query(terminal, "select until from pauses") == [(far,)]


async def test_who_was_not_asked_because_its_provider_let_others_wait_is_not_asked_again(terminal: Terminal) -> None:
    has_looked = asyncio.Event()
    asked_of = Counter[str]()

    async def scenario(asked: Asked) -> fake_models.Answer:
        asked_of[asked.model] += 1
        if asked.model == "ben":
            if asked_of["ben"] == 1:
                await has_looked.wait()
                return call("inbox_check")
            return say("done")
        if asked_of["ann"] == 4:
            has_looked.set()
        return rate_limited(0) if asked_of["ann"] <= 4 else say("done")

    text = SEVERAL.replace("BUDGET", "").replace("backoff: 10ms", "backoff: 3s").replace(" @cem", "")
    file, tape = await record(terminal, text, scenario)
    assert [one["kind"] for one in lines(tape, "refused")] == ["rate_limit"]
    assert_alike(terminal, file, tape)
