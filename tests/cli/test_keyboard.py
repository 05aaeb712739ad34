"""What a person types beside a command never ends it."""

import asyncio
from pathlib import Path

import pytest

from moot.api.connection import connect
from moot.cli import keyboard


async def test_why_typing_had_no_effect_is_told_when_the_block_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "not-a-store").write_text("something else entirely\n" * 100)
    place = connect("channel_send", store=str(tmp_path / "not-a-store"), create=True)
    beside = asyncio.all_tasks()
    async with asyncio.timeout(20), keyboard.answering(place, ()):
        await asyncio.wait(asyncio.all_tasks() - beside)
        assert capsys.readouterr().err == ""
    assert "what is typed was not read any more: " in capsys.readouterr().err
