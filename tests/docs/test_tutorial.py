"""The tutorial works as it is written: every file is written, every command typed, every answer compared."""

import pytest

from tests.cli.terminal import Terminal
from tests.docs import consoles, pages

PAGE = "docs/tutorial.md"


@pytest.mark.slow
def test_a_reader_sees_what_the_tutorial_shows(terminal: Terminal) -> None:
    typed = 0
    for block in pages.blocks(PAGE):
        if block.name is not None:
            (terminal.folder / block.name).write_text(block.text)
        if block.language == "console":
            consoles.play(terminal, block.text)
            typed += block.text.count("\n$ ") + block.text.startswith("$ ")
    assert typed == 16


def test_what_is_not_shown_is_found() -> None:
    for wanted in ("b\n", "a\nb\n", "...\na\n", "a\nb\nc\nd\n", ""):
        assert not consoles.is_as_shown("a\nb\nc\n", wanted)
    for wanted in ("a\nb\nc\n", "...\n", "a\n...\n", "...\nc\n", "...\nb\n...\n"):
        assert consoles.is_as_shown("a\nb\nc\n", wanted)
    assert consoles.is_as_shown("10:00:01 done in 3.2 s wf_01m7p3fnqq662mbnxpm1", "11:22:33 done in 1 s wf_" + "a" * 20)
