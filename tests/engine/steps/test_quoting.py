"""No value means anything to the shell, and no expression stands where that could not be kept."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.engine.expressions.template import Expression
from moot.engine.resolving import text_of
from moot.engine.step import StepFailed
from moot.engine.steps import quoting
from moot.engine.steps.quoting import ValueMisplaced

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))) | st.sampled_from(
    ["", "-n", "a b", "$(touch /tmp/no)", "`id`", "'", '"', "\\", "a\nb", "*", "~", "'; exit 1 #", "!", "$HOME"]
)
SCALARS = TEXTS | st.integers(-(2**53), 2**53) | st.booleans() | st.none() | st.dictionaries(TEXTS, TEXTS, max_size=2)
PLAIN = Expression("x", source="{{ x }}")


def shell(command: str) -> list[str]:
    """The words that a program is given by a real shell."""
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=True, timeout=60)
    return done.stdout.decode().split("\0")[:-1]


@settings(max_examples=60, deadline=None)
@given(value=SCALARS, items=st.lists(SCALARS, max_size=4))
def test_every_value_is_one_word_and_a_list_one_for_each_item(value: Json, items: list[Json]) -> None:
    one, several = quoting.spelled(PLAIN, value), quoting.spelled(PLAIN, items)
    words = shell(f"printf '%s\\0' begin {one} x{one}y {several} end \"$(printf '<%s>' {one})\"")
    inner = f"<{text_of(value)}>".rstrip("\n")
    assert words == ["begin", text_of(value), f"x{text_of(value)}y", *(text_of(one) for one in items), "end", inner]


def test_what_stands_in_three_braces_is_put_in_as_it_is() -> None:
    raw = Expression("x", is_raw=True, source="{{{ x }}}")
    assert shell(f"printf '%s\\0' {quoting.spelled(raw, 'a b; true')}") == ["a", "b"]
    assert quoting.spelled(raw, [1, "a"]) == '[1,"a"]'


def test_a_zero_byte_is_refused() -> None:
    with pytest.raises(StepFailed, match="zero byte"):
        quoting.spelled(PLAIN, ["a", "b\0"])


@pytest.mark.parametrize(
    "command",
    [
        "echo {{ x }}",
        "echo 'a' \"b\" x={{ x }} 'it'\\''s' {{ x }}",
        'echo "$(cat {{ x }})" {{ x }}',
        "echo \\' {{ x }} \\\\{{ x }}",
        "echo a#b' # 'c {{ x }}",
        "# it's a comment\necho {{ x }}",
        "echo {{ x }}# {{ x }}",
        "cat <<EOF\nit's `text\nEOF\necho {{ x }}",
        "cat <<-'END' <<B\n\tEND x\n\tEND\nB\necho {{ x }}",
        "cat <<< {{ x }}\necho {{ x }}",
        "(cd {{ x }} && echo `pwd` $((1 << 2)) {{ x }})",
        "echo $(( 1 + (2) )) {{ x }}",
        "echo \"{{{ x }}}\" '{{{ x }}}' `{{{ x }}}`",
        "case {{ x }} in a) echo {{ x }};; esac",
    ],
)
def test_an_expression_may_stand_wherever_a_word_may(command: str) -> None:
    quoting.check(command)


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("echo '{{ x }}'", "in single quotes"),
        ('git commit -m "fix: {{ x }}"', "in double quotes"),
        ('echo "a $(echo "b {{ x }}")"', "in double quotes"),
        ('echo "(({{ x }}"', "in double quotes"),
        ("echo `cat {{ x }}`", "between backticks"),
        ("echo `cat '$(cat {{ x }})'`", "between backticks"),
        ("echo $(( {{ x }} + 1 ))", "in arithmetic"),
        ('echo "$(( (1 + {{ x }}) ))"', "in arithmetic"),
        ("echo \\{{ x }}", "behind a backslash"),
        ("echo # {{ x }}", "in a comment"),
        ("true;#it is\\\n{{ x }}# {{ x }}\necho;# {{ x }}", "in a comment"),
        ("cat <<EOF\n{{ x }}\nEOF", "in a text that is given by <<"),
        ("cat <<-'END'\n\tx\n  END\n{{ x }}", "in a text that is given by <<"),
        ("cat <<EOF\n{{{ x }}}EOF\n{{ x }}", "in a text that is given by <<"),
    ],
)
def test_whoever_puts_one_elsewhere_is_told_before_it_runs(command: str, where: str) -> None:
    with pytest.raises(ValueMisplaced, match=f"stands {where}") as error:
        quoting.check(command)
    assert error.value.remedy


PIECES = st.lists(
    st.sampled_from(["'", '"', "\\", "`", "$(", "((", "))", ")", " ", "#", "\n", "echo ", "<<E", "E", "${x:-", "}"]),
    max_size=8,
)


@settings(max_examples=100, deadline=None)
@given(before=PIECES, after=PIECES)
def test_where_an_expression_is_allowed_a_real_shell_runs_nothing_of_its_value(
    before: list[str], after: list[str]
) -> None:
    begin, end = "".join(before), "".join(after)
    try:
        quoting.check(f"{begin}{{{{ x }}}}{end}")
    except InvalidInput:
        return
    for value in ("$(echo BAD >&2)", "'`echo BAD >&2`", "\necho BAD >&2\n", '"$(echo BAD >&2)', ";echo BAD >&2;"):
        command = f"{begin}{quoting.spelled(PLAIN, value)}{end}"
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
        assert "BAD" not in done.stderr.splitlines(), command
