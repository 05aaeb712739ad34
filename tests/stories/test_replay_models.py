"""Agents on models are recorded request by request, and are sessions again when they are played: their provider is
gone by then."""

import asyncio
import json
import re
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests import fake_models
from tests.cli.terminal import Ended, Terminal, finish
from tests.fake_models import Asked, Call, Hang, Reply, Scenario, Status, Used, call, calls, rate_limited, say
from tests.stories.test_replay import result, write

KEY = "canary-0123456789-key"
ENV = {"LAB_API_KEY": KEY, "CANARY_TOKEN": "canary-in-the-prompt"}


async def record(terminal: Terminal, text: str, scenario: Scenario, code: int = 0) -> tuple[Path, Path]:
    """The workflow and its tape; `BASE` in it is where the models are."""
    tape = terminal.folder / "tape.jsonl"
    async with fake_models.serve(scenario) as server:
        file = write(terminal, text.replace("BASE", f"base_url: {server.v1!r}, env: [LAB_API_KEY]"))
        words = ("run", str(file), "--instance", "first", "--record", str(tape))
        ended = await asyncio.to_thread(terminal.run, *words, env=ENV)
    assert ended.code == code, ended
    return file, tape


def replay(terminal: Terminal, file: Path, tape: Path) -> Ended:
    words = ("run", str(file), "--instance", "again", "--replay", str(tape))
    return terminal.run(*words, env={"PATH": "/usr/bin:/bin", "CANARY_TOKEN": ENV["CANARY_TOKEN"]})


def assert_alike(terminal: Terminal, file: Path, tape: Path, code: int = 0) -> Ended:
    ended = replay(terminal, file, tape)
    assert "the replay is like the recording" in ended.err, ended
    assert ended.code == code
    assert result(terminal, "again") == result(terminal, "first")
    return ended


def lines(tape: Path, *kinds: str) -> list[dict[str, Any]]:
    return [one for line in tape.read_text().splitlines() if (one := json.loads(line))["type"] in kinds]


def drifts(ended: Ended) -> list[str]:
    return [line.removeprefix("drift: ") for line in ended.err.splitlines() if line.startswith("drift: ")]


TEAM = """
name: team
context: {document_owner: none}
agents:
  ann: {model: openai/ann, BASE, system_prompt: Be kind.}
  ben: {model: openai/ben, BASE, system_prompt: Be brief.}
kickoff: "@ann begin"
"""


class Team:
    """Ann writes and lets them vote, in one answer; then she votes and calls ben, who looks and votes. Whoever is woken
    once more says thank you."""

    def __init__(self) -> None:
        self.attempts = Counter[str]()

    def __call__(self, asked: Asked) -> fake_models.Answer:
        turn = sum(bool(one.calls) for one in asked.turns)
        self.attempts[asked.model] += not any(one.role == "assistant" for one in asked.turns)
        if self.attempts[asked.model] > 1:
            return say(f"thank you, says {asked.model}")
        known = re.findall(r"prop-\d+", asked.text)
        match asked.model, turn:
            case "ann", 0:
                asking = Call("proposal_create", {"type": "approval", "title": "Ship it?"})
                return calls(Call("document_append", {"content": "- from ann\n"}), asking, text="Well.")
            case "ann", 1:
                voting = Call("vote", {"proposal": known[-1], "choice": "yes"})
                return calls(voting, Call("channel_send", {"message": f"@ben vote on {known[-1]}"}))
            case "ben", 0:
                return call("proposal_status", proposal=known[-1])
            case "ben", 1:
                return call("vote", proposal=known[-1], choice="yes")
            case _:
                return say(f"that was all, says {asked.model}")


async def test_a_team_of_models_comes_to_the_same_without_them(terminal: Terminal) -> None:
    file, tape = await record(terminal, TEAM, Team())
    assert_alike(terminal, file, tape)
    came = result(terminal, "again")
    assert came["documents"] == {"notes.md": "- from ann\n"}
    assert [(status, found["votes"]) for status, found, _ in came["votes"]] == [
        ("resolved", {"ann": "yes", "ben": "yes"})
    ]
    first, *_ = lines(tape, "asked")
    assert (first["model"], first["number"], first["is_briefed"]) == ("openai/ann", 1, True)
    assert {"vote", "document_append"} < set(first["tools"])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "Be kind.",
            "Be curt.",
            [
                "ann: its system prompt has changed",
                "ann, attempt 1, call 1: the system prompt differs: 'Be curt.' instead of 'Be kind.'",
            ],
        ),
        (
            "document_owner: none",
            "document_owner: ben",
            [
                "the document owner was none and is ben",
                "ann: document_append is refused now: NOT_DOCUMENT_OWNER",
                "ann, attempt 1, call 2: the answer of document_append differs: 'NOT_DOCUMENT_OWNER",
            ],
        ),
        pytest.param(
            "Be kind.",
            "Be kind., max_turns: 1",
            [
                "ann: `max_turns` has changed",
                "ann ends before its call of vote, which the recording has",
                "ann ends with the failure limit instead of success",
            ],
            marks=pytest.mark.chaos,
        ),
        pytest.param(
            "Be kind.",
            "Be kind., tools: [channel, documents, proposals]",
            ["ann: the tools were all and are", "ann, attempt 1, call 1: the tools differ: without agent_get, "],
            marks=pytest.mark.chaos,
        ),
    ],
)
async def test_what_is_asked_otherwise_is_told_with_the_call(
    terminal: Terminal, old: str, new: str, told: list[str]
) -> None:
    file, tape = await record(terminal, TEAM, Team())
    ended = replay(terminal, write(terminal, file.read_text().replace(old, new), "changed.yaml"), tape)
    found = drifts(ended)
    assert ended.code == 1
    assert all(any(one.startswith(wanted) for one in found) for wanted in told), found


ALONE = """
name: alone
env: [CANARY_TOKEN]
context: {document_owner: none}
agents:
  ann: {model: openai/ann, BASE, timeout: 20s, retry: {attempts: 1}}
kickoff: "@ann go"
"""


async def test_a_request_that_failed_and_was_made_again_is_on_the_tape(terminal: Terminal) -> None:
    file, tape = await record(terminal, ALONE, [rate_limited(0.1), call("inbox_check"), say("done")])
    assert "Trying again in" in assert_alike(terminal, file, tape).out
    asked, failed, answered = lines(tape, "asked", "unanswered", "replied")[:3]
    assert [one["number"] for one in (asked, failed, answered)] == [1, 1, 1]
    assert (failed["kind"], failed["again"] > 0) == ("rate_limit", True)
    assert (answered["stop"], [one["tool"] for one in answered["calls"]]) == ("tools", ["inbox_check"])


@pytest.mark.parametrize("status", [401, pytest.param(400, marks=pytest.mark.chaos)])
async def test_a_request_that_failed_for_good_fails_again(terminal: Terminal, status: int) -> None:
    scenario = [call("inbox_check"), Status(status, f"{KEY} is not welcome")]
    file, tape = await record(terminal, ALONE, scenario, code=1)
    (failed,) = lines(tape, "unanswered")
    assert (failed["number"], failed["again"], "is not welcome" in failed["error"]) == (2, None, True)
    assert "canary" not in tape.read_text()
    assert_alike(terminal, file, tape, code=1)


@pytest.mark.chaos
async def test_a_model_that_never_answers_is_cut_off_again(terminal: Terminal) -> None:
    text = ALONE.replace("20s", "3s")
    file, tape = await record(terminal, text, [call("document_append", content="x"), Hang()], code=1)
    assert_alike(terminal, file, tape, code=1)  # however far it has come in its time


@pytest.mark.chaos
async def test_an_attempt_that_was_cut_off_at_a_limit_is_cut_off_there_again(terminal: Terminal) -> None:
    much = Reply((Call("channel_send", {"message": "never"}),), "tools", Used(input=900))
    scenario = [call("document_append", content="x"), much, say("to sum up")]
    file, tape = await record(terminal, ALONE + "budget: {tokens: 500}\n", scenario, code=3)
    assert_alike(terminal, file, tape, code=3)
    assert result(terminal, "again")["documents"] == {"notes.md": "x"}


async def test_a_limit_is_reached_by_the_same_though_others_were_at_work(terminal: Terminal) -> None:
    """Ann is answered when ben has made his last request, and has used too much with that."""
    is_told = asyncio.Event()

    async def scenario(asked: Asked) -> fake_models.Answer:
        turn = sum(one.role == "assistant" for one in asked.turns)
        if asked.model == "ben":
            if turn == 2:
                is_told.set()
            return say("done") if turn == 2 else call("channel_send", message=f"thought {turn}")
        if turn == 0:
            return call("channel_send", message="@ben go")
        await is_told.wait()
        return Reply((Call("document_append", {"content": "x"}),), "tools", Used(input=200_000))

    file, tape = await record(terminal, TEAM + "budget: {tokens: 100000}\n", scenario, code=3)
    assert [one["number"] for one in lines(tape, "asked")].count(3) == 1
    assert_alike(terminal, file, tape, code=3)


@pytest.mark.parametrize("with_a_call", [True, pytest.param(False, marks=pytest.mark.chaos)])
async def test_mail_that_came_meanwhile_is_told_with_the_same_request(terminal: Terminal, with_a_call: bool) -> None:
    """Ben is done before ann is answered: the first of his messages waits for her next turn, and the other is told with
    the answer of her call, or before she may end."""
    is_told = asyncio.Event()

    async def scenario(asked: Asked) -> fake_models.Answer:
        turn = sum(one.role == "assistant" for one in asked.turns)
        if asked.model == "ben":
            if turn == 2:
                is_told.set()
            return say("done") if turn == 2 else call("channel_send", message=f"@ann here is news {turn}")
        if turn == 0:
            return call("channel_send", message="@ben go")
        if turn == 1:
            await is_told.wait()
            return call("document_append", content="x") if with_a_call else say("I am done")
        return say(f"thank you for the news {'news 1' in asked.text}")

    file, tape = await record(terminal, TEAM, scenario)
    told = json.dumps([[one["words"], one["heard"], one["results"]] for one in lines(tape, "asked")])
    assert [told.count(f"here is news {number}") for number in (0, 1)] == [1, 1]
    assert_alike(terminal, file, tape)


async def test_no_secret_is_in_what_models_are_asked_and_answer(terminal: Terminal) -> None:
    secret = ENV["CANARY_TOKEN"]

    def scenario(asked: Asked) -> fake_models.Answer:
        assert secret in asked.text
        if len(asked.turns) == 1:
            return calls(
                Call("document_append", {"content": secret}), Call("inbox_check", raw=f"{secret} {KEY}"), text=secret
            )
        return say(f"It is {secret}, and {KEY}.")

    file, tape = await record(terminal, ALONE.replace("@ann go", "@ann go ${{ env.CANARY_TOKEN }}"), scenario)
    assert [one["number"] for one in lines(tape, "asked", "replied")] == [1, 1, 2, 2]
    assert "[hidden]" in tape.read_text()
    assert "canary" not in tape.read_text()
    assert replay(terminal, file, tape).code in (0, 1)  # hidden words are said now


async def test_what_is_on_the_tape_is_not_written_once_more_with_every_request(terminal: Terminal) -> None:
    story, content = "once upon a time ", "and they lived "
    steps = [
        call("document_append", content=content * 200),
        call("document_read"),
        call("inbox_check"),
        say("end " * 50),
    ]
    file, tape = await record(terminal, ALONE.replace("@ann go", f"@ann go {story * 200}"), steps)
    assert len(lines(tape, "asked")) == 4
    assert story not in json.dumps(lines(tape, "asked", "replied", "progress"))
    assert content not in json.dumps(lines(tape, "asked", "progress"))
    assert sum("end end" in json.dumps(one) for one in lines(tape, "progress", "replied")) == 1
    assert_alike(terminal, file, tape)


@pytest.mark.chaos
async def test_of_requests_that_were_too_many_to_keep_the_calls_are_played(terminal: Terminal) -> None:
    file, tape = await record(terminal, TEAM, Team())
    kept = [
        line
        for line in tape.read_text().splitlines(keepends=True)
        if (one := json.loads(line))["type"] not in ("asked", "replied") or one["number"] == 1
    ]
    tape.write_text("".join(kept))
    assert_alike(terminal, file, tape)


@pytest.mark.chaos
async def test_a_look_into_the_inbox_that_was_noticed_late_hands_out_nothing(terminal: Terminal) -> None:
    has_looked, is_told = asyncio.Event(), asyncio.Event()

    async def scenario(asked: Asked) -> fake_models.Answer:
        turn = sum(one.role == "assistant" for one in asked.turns)
        if asked.model == "ben":
            await has_looked.wait()
            if turn:
                is_told.set()
            return say("done") if turn else call("channel_send", message="@ann here is news")
        if turn == 2:
            has_looked.set()
            await is_told.wait()
        steps = (call("channel_send", message="@ben go"), call("inbox_check"))
        return steps[turn] if turn < len(steps) else say("thank you")

    file, tape = await record(terminal, TEAM, scenario)
    found = [json.loads(line) for line in tape.read_text().splitlines()]
    ann = next(one["attempt"] for one in found if one["type"] == "begin")
    late = [
        one for one in found if one["type"] == "call" and one["tool"] == "inbox_check" and one["operation"] is None
    ] + [one for one in found if one["type"] == "asked" and (one["attempt"], one["number"]) == (ann, 3)]
    assert len(late) == 2
    rest = [one for one in found if one not in late]
    at = next(place for place, one in enumerate(rest) if one["type"] == "more")
    tape.write_text("".join(f"{json.dumps(one)}\n" for one in (*rest[:at], *late, *rest[at:])))
    assert_alike(terminal, file, tape)


@pytest.mark.parametrize(
    ("how", "code", "told"),
    [
        (signal.SIGKILL, 1, ["the recording was cut here"]),
        pytest.param(signal.SIGINT, 130, [], marks=pytest.mark.chaos),
    ],
)
async def test_a_run_that_ended_while_a_model_was_asked_is_played_up_to_there(
    terminal: Terminal, how: signal.Signals, code: int, told: list[str]
) -> None:
    tape = terminal.folder / "tape.jsonl"
    doing = calls(Call("document_append", {"content": "x"}), Call("channel_send", {"message": "hello"}))
    async with fake_models.serve([doing, Hang()]) as server:
        file = write(terminal, ALONE.replace("BASE", f"base_url: {server.v1!r}, env: [LAB_API_KEY]"))
        process = terminal.start("run", str(file), "--instance", "first", "--record", str(tape), env=ENV)
        await server.until_asked(2)
        process.send_signal(how)
        await asyncio.to_thread(finish, process)
    assert [(one["type"], one["number"]) for one in lines(tape, "asked", "replied")][-2:] == [
        ("replied", 1),
        ("asked", 2),
    ]
    ended = replay(terminal, file, tape)
    assert (ended.code, [one.partition(",")[0] for one in drifts(ended)]) == (code, told), ended
    came = result(terminal, "again")
    assert (came["said"][-1][:2], came["documents"]) == (["ann", "hello"], {"notes.md": "x"})
