"""A value in a shell command arrives as one argument, or the command is refused."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.workflow import shell
from moot.workflow.shell import CommandUnsafe
from moot.workflow.workflow import Value

# What a program can be given: no NUL, no lone surrogates.
VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=40) | st.sampled_from(
    [
        "'",
        '"',
        "$(touch x)",
        "`touch x`",
        "\n",
        "-rf",
        "a b",
        "$HOME",
        "\\",
        "*",
        "~",
        "#",
        "; exit 3",
        "&&",
        "${{ v }}",
    ]
)
SHELLS = ["sh", "bash"]


def printed(command: str, program: str = "sh") -> str:
    done = subprocess.run([program, "-c", command], capture_output=True, check=True, timeout=20)
    return done.stdout.decode()


@settings(max_examples=40, deadline=None)
@given(value=VALUES)
def test_a_value_arrives_as_one_argument(value: str) -> None:
    for program in SHELLS:
        command = shell.expand("printf '%s|' ${{ v }} \"end\"", {"v": value})
        assert printed(command, program) == f"{value}|end|"


@settings(max_examples=25, deadline=None)
@given(value=VALUES)
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("printf '%s|' a${{ v }}b", "a{}b|"),
        ("x=${{ v }}; printf '%s|' \"$x\"", "{}|"),
        ('printf "%s|" "it\'s" ${{ v }}', "it's|{}|"),
        ("printf '%s|' \"a \\\" b\" ${{ v }} \\' ", "a \" b|{}|'|"),
        ("# it's a comment\nprintf '%s|' ${{ v }}", "{}|"),
        ("printf '%s|' $(printf '%s' a)${{ v }}", "a{}|"),
        ("printf '%s|' a#b ${{ v }} # 'tis", "a#b|{}|"),
    ],
)
def test_it_does_so_wherever_it_is_taken(command: str, shown: str, value: str) -> None:
    assert list(shell.unsafe(command)) == []
    assert printed(shell.expand(command, {"v": value})) == shown.replace("{}", value)


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(
        st.sampled_from(
            ["'", '"', "\\", " ", "a", "# ", "$", "`", "\n", "$(echo ", ")", "${x}", "${x:-", "}", "<<E\n", "((", ";"]
            + ["${{ v }}"] * 4
        ),
        max_size=12,
    )
)
def test_what_is_taken_never_runs_a_value(pieces: list[str]) -> None:
    """Whatever the shell makes of such a command, what stands in the value is not run."""
    command = "".join(pieces)
    if list(shell.unsafe(command)):
        return
    for hostile in ("$(printf BROKEN >&2)", "`printf BROKEN >&2`", "'; printf BROKEN >&2; '", "\nprintf BROKEN >&2\n"):
        filled = shell.expand(command, {"v": hostile})
        for program in SHELLS:
            done = subprocess.run(
                [program, "-c", filled], capture_output=True, check=False, timeout=20, stdin=subprocess.DEVNULL
            )
            ran = done.stderr.replace(b"printf BROKEN", b"")  # messages about words that are no command quote them
            assert b"BROKEN" not in ran, (command, program, done.stderr)


@pytest.mark.parametrize(
    ("values", "arguments"),
    [
        ({"v": ("a b", "c'd", "")}, "a b|c'd||"),
        ({"v": ()}, ""),
        ({"v": None}, "|"),
        ({"v": ""}, "|"),
        ({"v": 42}, "42|"),
        ({"v": True}, "true|"),
    ],
)
def test_each_element_of_an_array_is_one_argument(values: dict[str, Value], arguments: str) -> None:
    command = shell.expand("for one in ${{ v }}; do printf '%s|' \"$one\"; done", values)
    assert printed(command) == arguments


def test_a_number_before_a_redirection_is_still_an_argument() -> None:
    assert shell.expand("echo ${{ n }}>/dev/stdout", {"n": 2}) == "echo '2'>/dev/stdout"


@pytest.mark.parametrize(
    ("command", "fact"),
    [
        ("echo '${{ v }}'", "in single quotes"),
        ('echo "${{ v }}"', "in double quotes"),
        ('echo "a $(b "c") ${{ v }}"', "after a substitution in double quotes"),
        ('echo "$(echo "${{ v }}")"', "after a substitution in double quotes"),
        ("echo 'a' # ${{ v }}", "in a comment"),
        ("echo `echo ${{ v }}`", "after a backtick"),
        ("cat <<EOF\n${{ v }}\nEOF", "after a here-document"),
        ("echo $'a\\'b' ${{ v }}", "after a quotation that begins with $"),
        ("echo $(( ${{ v }} + 1 ))", "after (("),
        ("echo ${x:-${{ v }}}", "after ${"),
        ("echo $${{ v }}", "right after a $"),
        ("echo \\${{ v }}", "right after a \\"),
    ],
)
def test_a_variable_where_its_value_cannot_be_quoted_is_refused(command: str, fact: str) -> None:
    assert [one.fact for one in shell.unsafe(command)] == [fact]
    with pytest.raises(CommandUnsafe, match="A variable stands"):
        shell.expand(command, {"v": "x"})


def test_a_value_that_no_argument_can_hold_is_refused() -> None:
    with pytest.raises(CommandUnsafe, match="NUL"):
        shell.expand("echo ${{ v }}", {"v": "a\0b"})
