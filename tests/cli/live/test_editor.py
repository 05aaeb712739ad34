"""Keys, as terminals send them, become lines."""

import pytest

from moot.cli import below
from moot.cli.live.editor import Editor, Line

LEFT, UP, DOWN, HOME, DELETE = "\x1b[D", "\x1b[A", "\x1b[B", "\x1b[H", "\x1b[3~"
PASTE, PASTED = "\x1b[200~", "\x1b[201~"


def typed(*pieces: str) -> Editor:
    editor = Editor()
    for one in pieces:
        assert list(editor.feed(one)) == []
    return editor


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("abc\x7f", "ab"),
        (f"ac{LEFT}b", "abc"),
        (f"bc{HOME}a", "abc"),
        (f"abc{LEFT}{LEFT}{DELETE}", "ac"),
        ("one two  three\x17", "one two  "),
        ("one two\x15", ""),
        (f"abc{LEFT}\x0b", "ab"),
        ("a\x1b[1;5Cb", "ab"),
        ("a\x1b[99~b\x1bOPc", "abc"),
        ("a\x00\x07\x1b\x9bb", "ab"),
        ("日本\x7f語", "日語"),
    ],
)
def test_keys_edit_the_line(keys: str, text: str) -> None:
    assert typed(keys).text == text
    assert typed(*keys).text == text  # also when every byte comes by itself


def test_enter_gives_the_line_and_begins_another() -> None:
    editor = Editor()
    assert list(editor.feed("one\rtwo\nthr")) == [Line("one"), Line("two")]
    assert (editor.text, editor.place) == ("thr", 3)


def test_the_end_is_only_told_of_an_empty_line() -> None:
    editor = typed(f"ab{LEFT}\x04")
    assert editor.text == "a"
    assert list(editor.feed("\x7f\x04")) == ["end"]


def test_earlier_lines_come_back_and_the_one_begun_is_kept() -> None:
    editor = Editor()
    assert len(list(editor.feed("one\ntwo\ntwo\nthr"))) == 3
    seen: list[str] = []
    for key in (UP, UP, UP, DOWN, DOWN, DOWN):
        assert list(editor.feed(key)) == []
        seen.append(editor.text)
    assert seen == ["two", "one", "one", "two", "thr", "thr"]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_what_is_pasted_is_one_line_however_it_arrives(size: int) -> None:
    keys = f"a{PASTE}one\r\ntwo\rthree\x1b[31m\x07{PASTED}b"
    editor = typed(*(keys[at : at + size] for at in range(0, len(keys), size)))
    assert editor.text == "aone\ntwo\nthree[31mb"
    assert editor.window(80)[0] == "aone⏎two⏎three[31mb"
    assert list(editor.feed("\r")) == [Line("aone\ntwo\nthree[31mb")]


@pytest.mark.parametrize("columns", [5, 10, 40])
@pytest.mark.parametrize("text", ["x" * 200, "日本語" * 40, "short", "e\u0301" * 60])
def test_the_cursor_is_always_within_what_is_seen(columns: int, text: str) -> None:
    editor = typed(text)
    while editor.place:
        shown, column = editor.window(columns)
        assert below.cells(shown) < columns
        assert column < columns
        assert list(editor.feed(LEFT)) == []
    assert editor.window(columns)[1] == 0


def test_a_very_long_line_is_cheap_to_show() -> None:
    assert typed(f"{PASTE}{'x' * 1_000_000}{PASTED}").window(80) == (f"…{'x' * 77}", 78)
