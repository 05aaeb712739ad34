"""Any program as an agent: what it is given, and what is made of how it ends."""

import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from moot.backends.backend import Assignment, Ended, Manner, Wrote
from moot.backends.command import CommandBackend, CommandLimits
from moot.process import child, tree
from moot.process.child import Running
from moot.process.errors import ProgramNotStarted
from moot.process.program import Program
from tests.backends.test_scripted import assignment

TOKEN = "moot_canary_of_an_attempt"


@pytest.fixture
def given(tmp_path: Path) -> Assignment:
    (tmp_path / "at_command").mkdir()
    (tmp_path / "work").mkdir()
    found = assignment([], "hi")
    access = replace(found.access, url="http://127.0.0.1:9/mcp", token=TOKEN)
    return replace(found, access=access, workspace=tmp_path / "work", folder=tmp_path / "at_command")


async def run(
    given: Assignment,
    *argv: str,
    limits: CommandLimits | None = None,
    parent: Mapping[str, str] | None = None,
    manner: Manner | None = None,
) -> Ended:
    backend = CommandBackend(
        limits, parent={"PATH": os.environ["PATH"], "SECRET_KEY": "canary-key"} | dict(parent or {})
    )
    assigned = replace(given, manner=replace(manner or Manner(), command=argv))
    *_, ended = [one async for one in backend.run(assigned)]
    assert isinstance(ended, Ended)
    return ended


async def shell(given: Assignment, line: str, **options: object) -> Ended:
    return await run(given, "/bin/sh", "-c", line, **options)  # pyright: ignore[reportArgumentType]


async def test_it_reads_who_it_is_and_what_to_do(given: Assignment) -> None:
    assert await shell(given, "cat") == Ended(text="Be kind.\n\nIt is the last.")


async def test_what_it_prints_is_told_in_whole_lines(given: Assignment) -> None:
    assigned = replace(
        given, manner=Manner(command=("/bin/sh", "-c", "echo one; echo; printf tw; sleep 0.01; printf o"))
    )
    *wrote, ended = [one async for one in CommandBackend().run(assigned)]
    texts = [one.text for one in wrote if isinstance(one, Wrote)]
    assert "".join(texts) == "one\n\ntwo\n"
    assert all(text.endswith("\n") for text in texts)
    assert ended == Ended(text="one\n\ntwo")


async def test_it_works_in_its_workspace_and_knows_who_it_is(given: Assignment) -> None:
    ended = await shell(given, 'pwd; echo "$MOOT_URL $MOOT_AGENT $MOOT_INSTANCE ${MOOT_TOKEN#moot_}"')
    assert ended.text.splitlines() == [
        str(given.workspace.resolve()),
        "http://127.0.0.1:9/mcp coder@default default canary_of_an_attempt",
    ]


async def test_it_gets_nothing_of_the_environment_but_what_was_named(given: Assignment) -> None:
    assert (await shell(given, "env | grep -c canary-key || true")).text == "0"
    named = Manner(env=("SECRET_KEY",))
    assert (
        await shell(given, 'test "$SECRET_KEY" = canary-key && echo it is there', manner=named)
    ).text == "it is there"


async def test_a_variable_that_nobody_has_set_is_named_before_anything_starts(given: Assignment) -> None:
    ended = await shell(given, "touch started", manner=Manner(env=("NO_SUCH_KEY",)))
    assert (ended.failure, ended.error) == (
        "cannot_start",
        "The environment has no NO_SUCH_KEY, which coder asks for. Set it.",
    )
    assert not (given.workspace / "started").exists()


async def test_an_isolated_one_has_a_home_of_its_own(given: Assignment) -> None:
    parent = {"HOME": "/home/somebody", "XDG_CONFIG_HOME": "/home/somebody/.config"}
    ended = await shell(given, 'echo "$HOME $XDG_CONFIG_HOME"', parent=parent, manner=Manner(is_isolated=True))
    assert ended.text == f"{given.folder}/home {given.folder}/home/.config"
    assert (await shell(given, 'echo "$HOME"', parent=parent)).text == "/home/somebody"


async def test_moot_itself_is_on_its_path(given: Assignment) -> None:
    ended = await shell(given, "command -v moot", parent={"PATH": "/usr/bin:/bin"})
    assert ended.text == os.path.join(os.path.dirname(sys.executable), "moot")


async def test_an_exit_code_is_a_failure_with_the_last_of_what_was_written(given: Assignment) -> None:
    ended = await shell(given, "echo said; echo first >&2; echo last >&2; exit 3")
    assert ended == Ended("error", "/bin/sh: it failed with exit code 3\nsaid\nfirst\nlast")
    assert (await shell(given, "exit 1")).error == "/bin/sh: it failed with exit code 1"


async def test_an_endless_error_is_cut_to_its_end(given: Assignment) -> None:
    ended = await shell(given, "seq 1 1000000 >&2; exit 1")
    assert len(ended.error) < 2000
    assert ended.error.endswith("999999\n1000000")


async def test_of_an_endless_answer_the_middle_is_cut_out(given: Assignment) -> None:
    ended = await shell(given, "seq 1 1000000")
    assert ended.failure is None
    assert len(ended.text) < 250_000
    assert ended.text.startswith("1\n2\n")
    assert ended.text.endswith("\n1000000")
    assert "bytes cut" in ended.text


async def test_bytes_that_are_no_text_do_not_harm(given: Assignment) -> None:
    ended = await shell(given, r"printf 'a\377\000b'")
    assert ended.text == "a\ufffd\ufffdb"


async def test_secrets_are_told_to_nobody(given: Assignment) -> None:
    manner = Manner(env=("SECRET_KEY",))
    for line in ('echo "$MOOT_TOKEN $SECRET_KEY"', 'echo "$MOOT_TOKEN $SECRET_KEY" >&2; exit 1'):
        backend = CommandBackend(parent={"PATH": os.environ["PATH"], "SECRET_KEY": "canary-key"})
        assigned = replace(given, manner=replace(manner, command=("/bin/sh", "-c", line)))
        told = repr([one async for one in backend.run(assigned)])
        assert "canary" not in told
        assert "[hidden] [hidden]" in told


async def test_what_does_not_end_in_time_is_ended(given: Assignment) -> None:
    ended = await shell(given, "sleep 600 & sleep 600", limits=CommandLimits(deadline=0.2))
    assert (ended.failure, ended.error) == ("timeout", "/bin/sh: it took longer than 0.2 seconds")
    assert not tree.Tree(given.folder.name).members()


async def test_what_is_silent_for_too_long_is_ended(given: Assignment) -> None:
    ended = await shell(given, "echo hello; sleep 600", limits=CommandLimits(idle=0.3))
    assert (ended.failure, ended.error) == ("timeout", "/bin/sh: it gave no sign of life for 0.3 seconds\nhello")


async def test_what_it_leaves_running_is_ended_with_it(given: Assignment) -> None:
    ended = await shell(given, "sleep 600 >/dev/null 2>&1 & echo done", limits=CommandLimits(grace=0.2))
    assert ended == Ended(text="done")
    assert not tree.Tree(given.folder.name).members()


async def test_its_processes_are_marked_with_the_attempt(given: Assignment) -> None:
    assert given.folder.name in (await shell(given, 'echo "$MOOT_PROCESS"')).text.split("/")


async def test_a_program_that_is_missing_is_named(given: Assignment) -> None:
    ended = await run(given, "no-such-program")
    assert (ended.failure, ended.is_final) == ("cannot_start", True)
    assert "'no-such-program' was not found on the PATH" in ended.error
    assert (await run(given)).error == "coder has no command. Give it one, as in command: [./agent.sh]."


async def test_a_place_that_is_missing_is_named(given: Assignment) -> None:
    ended = await shell(replace(given, workspace=given.workspace / "gone"), "pwd")
    assert (ended.failure, "BAD_WORKING_DIRECTORY" in ended.error) == ("cannot_start", True)


async def test_a_file_that_may_not_be_run_is_not_tried_again(given: Assignment) -> None:
    (given.workspace / "agent.sh").write_text("#!/bin/sh\n")
    for line in ("./agent.sh", "./nope.sh"):
        assert (await run(given, line)).failure == "cannot_start"
        assert (await shell(given, line)).failure == "cannot_start"  # as the shell says it
    assert (await run(given, sys.executable, "-c", "exit(127)")).failure == "error"  # its own code


async def test_where_the_system_has_no_room_it_may_have_some_later(
    given: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def start(program: Program) -> AsyncGenerator[Running]:
        raise ProgramNotStarted("There is no room for it.", "Wait.")
        yield

    monkeypatch.setattr(child, "start", start)
    assert (await run(given, "/bin/true")).failure == "error"
