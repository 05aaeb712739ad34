"""A host on the terminal: it says where it serves, and ends on Ctrl-C."""

import re

from tests.cli.terminal import Terminal, interrupt, read_line


def test_a_second_host_says_in_one_sentence_that_there_is_another(terminal: Terminal) -> None:
    first = terminal.start("serve")
    socket = terminal.folder / ".workflow" / "moot.sock"
    url = r"http://127\.0\.0\.1:\d+/mcp"
    try:
        assert re.fullmatch(rf"moot serves on {socket} and {url}\n", read_line(first))
        second = terminal.start("serve")
        said = read_line(second)
        ended = interrupt(second)
    finally:
        interrupt(first)
    told = rf"moot serves on {url}; another host already serves {socket}, and both share the work\n"
    assert re.fullmatch(told, said)
    assert (ended.out, ended.err) == ("", "")
