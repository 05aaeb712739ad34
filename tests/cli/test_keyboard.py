"""What a person types beside a command never ends it."""

import asyncio
from pathlib import Path

import pytest

from moot.cli import keyboard
from moot.core.ids import InstanceName


async def test_why_typing_had_no_effect_is_told_when_the_block_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "not-a-store").write_text("something else entirely\n" * 100)
    beside = asyncio.all_tasks()
    async with asyncio.timeout(20), keyboard.answering(InstanceName("default"), str(tmp_path / "not-a-store"), ()):
        await asyncio.wait(asyncio.all_tasks() - beside)
        assert capsys.readouterr().err == ""
    assert "what is typed was not read any more: " in capsys.readouterr().err
