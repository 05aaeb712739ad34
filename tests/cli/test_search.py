"""`moot search`, as people and scripts call it."""

from tests.cli.terminal import Terminal


def test_messages_are_found_by_their_words(both: Terminal) -> None:
    both.join("coder")
    both.ok("send", "the parser is slow", "--to", "coder")
    both.ok("send", "the lexer is slow", "--to", "coder")
    first, second = both.ok("search", "slow", "-lexer").out.splitlines()
    assert " human  ms_" in first
    assert second == "  the parser is slow"
    found = both.ok("search", "slow", "--json", "--limit", "1").json
    assert [(one["from"], one["snippet"]) for one in found] == [("human", "the lexer is slow")]
    assert both.ok("search", "slow", "--in", "messages", "--json").json[0] == found[0]
    nothing = both.run("search", "slow", "--in", "documents")
    assert (nothing.code, nothing.out, nothing.err) == (1, "", "nothing found\n")


def test_searching_makes_no_store(terminal: Terminal) -> None:
    assert terminal.run("search", "word").code == 1
    assert terminal.run("search", "word", "--json").json == []
    assert not (terminal.folder / ".workflow").exists()


def test_a_search_for_nothing_says_what_to_write(terminal: Terminal) -> None:
    terminal.join("coder")
    refused = terminal.run("search", "🎉")
    assert refused.code == 2
    assert "NOTHING_WANTED" in refused.err
    assert terminal.run("search").code == 2


def test_what_an_agent_said_cannot_act_on_the_terminal(terminal: Terminal) -> None:
    terminal.join("coder")
    terminal.ok("send", "word \x1b[31mred\nforged line", "--to", "coder")
    assert terminal.ok("search", "word").out.splitlines()[1:] == ["  word \\x1b[31mred forged line"]
