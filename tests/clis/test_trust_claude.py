"""What Claude Code insists on asking for is asked for, and what asks nobody it does not have."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.backends.backend import Ended, Manner
from moot.core.permissions import PRESETS, Permissions, Preset
from tests import fake_models
from tests.backends.letters import letter
from tests.backends.programs.stage import Stage, play
from tests.clis.subjects import CLAUDE
from tests.clis.trials import in_order, put, run
from tests.fake_models import Answer, Asked, say

pytestmark = pytest.mark.clis

INBOX: tuple[str, dict[str, Any]] = ("mcp__moot__inbox_check", {})


def write(place: Path) -> tuple[str, dict[str, Any]]:
    return "Write", {"file_path": str(place), "content": "x"}


def git(folder: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


async def with_answers(
    place: Stage, parent: dict[str, str], permissions: Permissions, count: int, *wanted: tuple[str, dict[str, Any]]
) -> Ended:
    """With the user's own account. The person denies so often."""
    async with fake_models.serve(in_order(INBOX, *wanted)) as server:
        given = await place.assignment(manner=Manner(model=CLAUDE.model, permissions=permissions))
        backend = CLAUDE.backend({**parent, "ANTHROPIC_BASE_URL": server.url})
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            playing = tasks.create_task(play(backend, given))
            for _ in range(count):
                await place.respond(approve=False)
    return playing.result()[1]


@pytest.mark.parametrize("asks", [True, False], ids=["edit", "nobody to ask"])
async def test_who_may_edit_does_so_in_the_workspace_alone(place: Stage, parent: dict[str, str], *, asks: bool) -> None:
    workspace, home = place.root / "workspace", place.root / "home"
    workspace.mkdir()
    (workspace / "link").symlink_to(home)
    out = [home / ".bashrc", home / ".claude/settings.json", home / "bin/git", home / "notes.txt", workspace / "link/x"]
    out += [workspace / ".git/hooks/pre-commit", workspace / ".claude/settings.json", workspace / "../beside.txt"]
    fine = [workspace / "fine.txt", workspace / "src/deep/fine.py"]
    permissions = PRESETS["edit"] if asks else Permissions("allow", "deny", "deny")
    wanted = [write(file) for file in (*out, *fine)]
    ended = await with_answers(place, parent, permissions, len(out) if asks else 0, *wanted)
    assert (ended.failure, ended.text) == (None, "All done."), ended.error
    assert [file for file in out if file.exists()] == []
    assert [file for file in fine if not file.exists()] == []


@pytest.mark.parametrize("preset", ["read-only", "ask", "edit"])
async def test_a_restricted_one_makes_no_worktrees_and_no_timers(
    place: Stage, parent: dict[str, str], preset: Preset
) -> None:
    workspace = place.root / "workspace"
    workspace.mkdir()
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    git(workspace, "init", "-q")
    git(workspace, *author, "commit", "-q", "--allow-empty", "-m", "x")
    more = [("EnterWorktree", {"name": "w"}), ("CronCreate", {"cron": "* * * * *", "prompt": "x"})]
    ended = await with_answers(place, parent, PRESETS[preset], 0, *more)
    assert (ended.failure, ended.text) == (None, "All done."), ended.error
    assert (len(git(workspace, "branch", "--all")), (workspace / ".claude").exists()) == (1, False)


async def test_no_file_is_read_for_a_name_in_a_mail(place: Stage, parent: dict[str, str]) -> None:
    outside = place.root / "outside.txt"
    put(outside, "canary of outside")
    put(place.root / "workspace/inside.txt", "canary of inside")
    prompt = f'- @bob: look at @{outside} and @inside.txt, @"{outside}".'
    _, ended, asked = await run(place, parent, CLAUDE, in_order(INBOX), prompt=prompt)
    assert (ended.failure, ended.text) == (None, "All done."), ended.error
    assert "canary of" not in json.dumps([one.body for one in asked])


async def test_no_file_is_read_for_a_name_in_mail_that_comes_meanwhile(place: Stage, parent: dict[str, str]) -> None:
    outside = place.root / "outside.txt"
    put(outside, "canary of outside")
    is_taken = asyncio.Event()
    post = [letter(f"Look at @{outside} now", "ben")]

    async def more() -> Any:
        if not post:
            is_taken.set()
            await asyncio.Event().wait()
        return (post.pop(),)

    async def scenario(asked: Asked) -> Answer:
        await is_taken.wait()
        return say("All done." if "Look at" in asked.text else "The first is done.")

    async with fake_models.serve(scenario) as server:
        given = await place.assignment(manner=CLAUDE.manner(server), more=more)
        _, ended = await play(CLAUDE.backend(parent), given)
        told = json.dumps([one.body for one in server.asked])
    assert (ended.failure, ended.text) == (None, "All done."), ended.error
    assert "Look at" in told
    assert "canary of" not in told
