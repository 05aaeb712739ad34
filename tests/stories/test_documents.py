"""Documents through the whole house: an agent writes, a person edits the file, both sides agree."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.stories.house import SECONDS, House

SCRIBE = """
agents:
  scribe:
    script:
      - on: begin
        calls:
          - document_write: {content: "# Notes\\n"}
          - document_create: {file: findings/login.md, content: "It fails."}
          - channel_send: {message: "@human written"}
"""


async def test_what_an_agent_writes_is_a_file_that_a_person_can_edit(house: House) -> None:
    folder = house.root / ".workflow" / "default"
    async with house.serving(SCRIBE):
        await house.moot("send", "@scribe begin", "--wait")
        await until(lambda: on_disk(folder / "notes.md", "# Notes\n"))
        await until(lambda: on_disk(folder / "findings" / "login.md", "It fails."))
        (folder / "notes.md").write_text("# Notes\nfrom a person\n")
        await until(lambda: told(house, "document_changed", "disk"))
        assert await house.moot("doc", "show") == "# Notes\nfrom a person\n"
    past = await house.json("doc", "history", "notes.md")
    assert [(one["version"], one["author"]) for one in past] == [(1, "scribe"), (2, "disk")]


async def test_what_is_edited_while_nobody_runs_is_taken_in_by_the_next_host(house: House) -> None:
    folder = house.root / ".workflow" / "default"
    async with house.serving(SCRIBE) as process:
        await house.moot("send", "@scribe begin", "--wait")
        await until(lambda: on_disk(folder / "notes.md", "# Notes\n"))
        process.kill()
        await process.wait()
    (folder / "notes.md").write_text("while away")
    (folder / "findings" / "login.md").unlink(missing_ok=True)
    async with house.serving(SCRIBE):
        await until(lambda: on_disk(folder / "findings" / "login.md", "It fails."))
        await until(lambda: told(house, "document_changed", "disk"))
    assert await house.moot("doc", "show") == "while away"


async def on_disk(file: Path, content: str) -> bool:
    return file.exists() and file.read_text() == content


async def told(house: House, kind: str, actor: str) -> bool:
    """Not by `moot doc`, which brings both sides together by itself."""
    return any(one["kind"] == kind and one["actor"] == actor for one in await house.json("log", "--events"))


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            if await is_so():
                return
            await asyncio.sleep(0.01)
