"""What the real programs are told, and what is left of them: prompts as meant, no secret seen, nothing left behind."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from moot.process import tree
from tests import fake_models, processes
from tests.backends.programs.stage import Stage, play
from tests.clis.subjects import ALL, CANARY, CLAUDE, CODEX, GEMINI, Subject
from tests.fake_models import Answer, Asked, Hang, call, say

pytestmark = pytest.mark.clis
FOUR = pytest.mark.parametrize("subject", ALL, ids=lambda subject: subject.name)
THREE = pytest.mark.parametrize("subject", [CLAUDE, CODEX, GEMINI], ids=lambda subject: subject.name)
OWN_WORDS = {  # of the system prompt of each, beside its name, which Claude Code says whatever it is told
    "claude": "You are an agent working with the user toward their goals",
    "codex": "You are a coding agent running in the Codex CLI",
    "gemini": "You are a non-interactive CLI agent specializing in software engineering tasks",
    "opencode": "You are OpenCode, the best coding agent on the planet",
}
PROMPT, SYSTEM = "canary-of-the-prompt-77", "canary-of-the-system-prompt-78"


@FOUR
@pytest.mark.parametrize("is_replaced", [False, True], ids=["appended", "replaced"])
async def test_the_system_prompt_is_appended_or_replaces_its_own(
    place: Stage, parent: dict[str, str], subject: Subject, is_replaced: bool
) -> None:
    async with fake_models.serve(lambda _: say("hello")) as server:
        manner = replace(subject.manner(server), replaces_system_prompt=is_replaced)
        given = await place.assignment(manner=manner, prompt=PROMPT, system_prompt=SYSTEM)
        _, ended = await play(subject.backend(parent), given)
        asked = next(asked for asked in server.asked if asked.tools)
    assert ended.failure is None, ended.error
    whole = f"{asked.system}\n{asked.text}"
    assert whole.count(SYSTEM) == 1
    assert PROMPT in asked.text
    assert (OWN_WORDS[subject.name] in whole) == (not is_replaced)


@FOUR
async def test_nobody_sees_a_secret_or_a_prompt_in_the_process_list(
    place: Stage, parent: dict[str, str], subject: Subject
) -> None:
    seen: list[str] = []

    def scenario(asked: Asked) -> Answer:
        seen.extend(processes.command_line(pid) for pid in tree.Tree(given.attempt).members())
        return say("hello")

    async with fake_models.serve(scenario) as server:
        given = await place.assignment(manner=subject.manner(server), prompt=PROMPT, system_prompt=SYSTEM)
        told, ended = await play(subject.backend(parent), given)
    assert ended.failure is None, ended.error
    assert [line for line in seen if subject.name in line]
    for secret in (CANARY, given.access.token, PROMPT, SYSTEM):
        assert secret not in "".join(seen)
    for secret in (CANARY, given.access.token):
        assert secret not in repr((told, ended))


@FOUR
async def test_the_token_is_in_no_file_afterwards(place: Stage, parent: dict[str, str], subject: Subject) -> None:
    async with fake_models.serve(lambda _: say("hello")) as server:
        given = await place.assignment(manner=subject.manner(server))
        await play(subject.backend(parent), given)
    for file in place.root.rglob("*"):
        if file.is_file() and not file.is_symlink() and "store" not in file.parts:
            assert given.access.token.encode() not in file.read_bytes(), file
    assert not list((place.root / "workspace").iterdir())
    assert not list(Path(parent["TMPDIR"]).iterdir())


@THREE
async def test_cancelling_ends_a_command_that_it_runs(place: Stage, parent: dict[str, str], subject: Subject) -> None:
    started, has_started = place.root / "started", asyncio.Event()
    os.mkfifo(started)
    reading = os.open(started, os.O_RDONLY | os.O_NONBLOCK)
    asyncio.get_running_loop().add_reader(reading, has_started.set)
    tool, arguments = subject.shell
    command = f"setsid -f sleep 1000; echo > {started}; sleep 1000"

    def scenario(asked: Asked) -> Answer:
        return call(tool, **arguments(command)) if not asked.results else Hang()

    async with fake_models.serve(scenario) as server:
        given = await place.assignment(manner=subject.manner(server))
        playing = asyncio.ensure_future(play(subject.backend(parent), given))
        async with asyncio.timeout(30):
            await has_started.wait()
        asyncio.get_running_loop().remove_reader(reading)
        os.close(reading)
        assert len(tree.Tree(given.attempt).members()) >= 3
        playing.cancel()
        await asyncio.wait([playing], timeout=30)
        assert playing.cancelled()
        assert not tree.Tree(given.attempt).members()
        await server.until_quiet()


async def test_six_at_once_all_finish_and_leave_nothing(place: Stage, parent: dict[str, str]) -> None:
    def scenario(asked: Asked) -> Answer:
        if not asked.results:
            return call(asked.tool("channel_send"), message=f"hello from {asked.last_text[-1:]}")
        return say("done")

    async with fake_models.serve(scenario) as server:
        given = [
            await place.assignment(f"a{number}", manner=CLAUDE.manner(server), prompt=f"You are {number}")
            for number in range(7)
        ]
        first = await play(CLAUDE.backend(parent), given[6], 100.0)  # loads what is loaded once
        before, size = len(os.listdir("/proc/self/fd")), psutil.Process().memory_info().rss
        results = [first, *await asyncio.gather(*(play(CLAUDE.backend(parent), one, 100.0) for one in given[:6]))]
        assert psutil.Process().memory_info().rss - size < 64 << 20
    assert [(ended.failure, ended.text) for _, ended in results] == [(None, "done")] * 7
    said = await place.meeting.said()
    assert sorted(said) == [(f"a{number}", f"hello from {number}") for number in range(7)]
    assert not [pid for one in given for pid in tree.Tree(one.attempt).members()]
    assert len(os.listdir("/proc/self/fd")) <= before + 8  # connections of our own server, kept alive for a while
