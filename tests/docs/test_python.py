"""The programs of docs/python.md run as they stand there, and print what the page says."""

from tests.cli.terminal import Terminal
from tests.docs import pages

PAGE = "docs/python.md"


def test_every_program_of_the_page_runs_and_prints_what_it_says(terminal: Terminal) -> None:
    ran: list[str] = []
    printed = ""
    for block in pages.blocks(PAGE):
        if block.name is not None:
            (terminal.folder / block.name).write_text(block.text)
        if block.language == "python":
            assert block.name is not None
            ended = terminal.python(f"exec(compile(open({block.name!r}).read(), {block.name!r}, 'exec'))")
            assert ended.code == 0, ended.err
            printed = ended.out
            ran.append(block.name)
        elif block.language == "output":
            assert printed == block.text
    assert ran == ["run.py", "talk.py", "test_shop.py"]
