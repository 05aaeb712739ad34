"""Commands run in the workspace, without secrets, and leave nothing behind."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moot.core.permissions import PRESETS
from moot.process.program import Finished
from moot.session.workspace import searching
from moot.session.workspace.place import at
from moot.session.workspace.tools import WorkspaceTools
from tests.processes import is_running
from tests.session.workspace.desk import Person, call, done, refused, tools


@pytest.fixture
def source(tmp_path: Path) -> WorkspaceTools:
    return tools(tmp_path)


@contextmanager
def fifo(path: Path) -> Generator[Callable[[], Awaitable[str]]]:
    """Waits for the next line that somebody writes there."""
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    lines: asyncio.Queue[str] = asyncio.Queue()

    def take() -> None:
        for line in os.read(descriptor, 1000).decode().splitlines():
            lines.put_nowait(line)

    async def said() -> str:
        async with asyncio.timeout(30):
            return await lines.get()

    asyncio.get_running_loop().add_reader(descriptor, take)
    try:
        yield said
    finally:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)


async def test_a_command_runs_there_and_tells_how_it_ended(source: WorkspaceTools, tmp_path: Path) -> None:
    assert await done(source, "shell", command="pwd") == f"{tmp_path.resolve()}\nexit code 0"
    text = await refused(source, "shell", command="echo out; echo err >&2; exit 3")
    assert text == "out\n[stderr]\nerr\nexit code 3"
    assert "signal 9" in await refused(source, "shell", command="kill -9 $$")


async def test_it_knows_no_secret(source: WorkspaceTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_TOKEN", "token-of-moot-1234")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-something-long")
    text = await done(source, "shell", command="env; printf %s 'token-of-moot-'; echo 1234; echo sk-something-long")
    assert "MOOT_TOKEN" not in text
    assert "ANTHROPIC" not in text
    assert "token-of-moot-1234" not in text
    assert "sk-something-long" not in text


async def test_endless_output_is_cut_and_marked(source: WorkspaceTools) -> None:
    text = await done(source, "shell", command="yes | head -c 10000000; echo the end")
    assert len(text) < 40_000
    assert "bytes cut" in text
    assert "the end\nexit code 0" in text


async def test_a_command_that_takes_too_long_is_ended(source: WorkspaceTools) -> None:
    assert "did not end in 0.1 s" in await refused(source, "shell", command="sleep 100", timeout=0.1)


STUBBORN = """
trap '' TERM
(setsid sh -c 'trap "" TERM; echo $$ > ready; while :; do sleep 60; done' &) &
echo $$ > ready
while :; do sleep 60; done
"""


async def test_who_ignores_the_signal_and_forks_is_gone_when_the_call_is_cancelled(
    source: WorkspaceTools, tmp_path: Path
) -> None:
    with fifo(tmp_path / "ready") as said:
        running = asyncio.ensure_future(call(source, "shell", command=STUBBORN))
        pids = [int(await said()), int(await said())]
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert not [pid for pid in pids if is_running(pid)]


async def test_what_runs_in_the_background_does_not_outlive_it(source: WorkspaceTools, tmp_path: Path) -> None:
    assert "exit code 0" in await done(source, "shell", command="sleep 100 & echo $! > pid")
    assert not is_running(int((tmp_path / "pid").read_text()))


async def test_quotes_and_newlines_reach_the_shell_as_they_are(source: WorkspaceTools) -> None:
    assert await done(source, "shell", command="printf '%s' \"$(echo 'a b')\"\nprintf c") == "a bc\nexit code 0"
    assert (await refused(source, "shell", command="a\0b")).startswith("BAD_ARGUMENTS")


KILLED = """
import asyncio, sys
from moot.process.guardian import Guardian
from moot.session.workspace import place
from moot.session.workspace.shell import Shell, shell
from pathlib import Path

async def main():
    with Guardian() as guardian:
        await shell(place.at(Path(sys.argv[1]), guardian), Shell(command="trap '' TERM; echo $$ > ready; sleep 100"))

asyncio.run(main())
"""


async def test_a_command_is_ended_when_moot_is_killed(tmp_path: Path) -> None:
    with fifo(tmp_path / "ready") as said:
        moot = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(tmp_path))
        pid = int(await said())
    watched = os.pidfd_open(pid)
    moot.send_signal(signal.SIGKILL)
    await moot.wait()
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(watched, gone.set)
    try:
        async with asyncio.timeout(30):
            await gone.wait()
    finally:
        asyncio.get_running_loop().remove_reader(watched)
        os.close(watched)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$"])
async def test_a_search_that_takes_years_is_stopped(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "b.txt").write_text("a" * 5000 + "b\n")
    async with asyncio.timeout(60):
        outcome = await searching.search(at(tmp_path), searching.Search(pattern=f"^{pattern}"), seconds=1)
    assert outcome.is_error
    assert "stopped after 1 s" in outcome.text


async def test_an_expression_that_takes_all_memory_harms_nobody(source: WorkspaceTools, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("b\n")
    async with asyncio.timeout(60):
        await source.call("file_search", {"pattern": "(((a{1000}){1000}){1000}){1000}"}, "")


def test_what_was_found_before_a_search_was_stopped_stays_found() -> None:
    printed = b'["a.txt", 1, "easy"]\n["b.txt", 1, "cut o'
    finished = Finished("deadline", None, 15, printed, b"", False, False, 15.0)
    outcome = searching.outcome(finished, searching.Search(pattern="x"))
    assert outcome.text.startswith("a.txt:1: easy\n… (This was stopped after 15 s.")


async def test_permissions_decide_what_is_offered_done_and_asked(tmp_path: Path) -> None:
    named = ("files", "edit", "shell")
    assert names(tools(tmp_path, named=(), permissions=PRESETS["full"])) == []
    assert names(tools(tmp_path, named=("files",))) == ["file_read", "file_list", "file_search"]
    assert names(tools(tmp_path, named=("file_edit", "channel", "mcp:x"))) == ["file_edit"]
    assert names(tools(tmp_path, named=named, permissions=PRESETS["read-only"])) == [
        "file_read",
        "file_list",
        "file_search",
    ]
    person = Person()
    edits = tools(tmp_path, permissions=PRESETS["edit"], person=person)
    await done(edits, "file_write", path="a", content="x")
    assert person.asked == []
    await done(edits, "shell", command="echo > asked")
    assert person.asked == [("shell", {"command": "echo > asked"})]
    assert (tmp_path / "asked").exists()


async def test_a_denial_is_an_error_that_says_so_and_nothing_is_done(tmp_path: Path) -> None:
    person = Person("This was denied by human: not today")
    asks = tools(tmp_path, permissions=PRESETS["ask"], person=person)
    text = await refused(asks, "file_write", path="a", content="x")
    assert text == "NOT_ALLOWED: This was denied by human: not today (executed: false)"
    await refused(asks, "shell", command="echo > b")
    assert os.listdir(tmp_path) == []


async def test_nobody_is_asked_for_what_cannot_be_done(tmp_path: Path) -> None:
    person = Person()
    asks = tools(tmp_path, permissions=PRESETS["ask"], person=person)
    await refused(asks, "file_write", path="../a", content="x")
    await refused(asks, "file_edit", path="a", old="x", new="x")
    await refused(asks, "shell")
    assert person.asked == []


async def test_only_reading_may_be_done_again_after_a_crash(source: WorkspaceTools) -> None:
    effects = {name: source.effect(name) for name in names(source)}
    assert [name for name, effect in effects.items() if effect == "outside"] == ["file_edit", "file_write", "shell"]


def names(source: WorkspaceTools) -> list[str]:
    return [spec.name for spec in source.specs()]
