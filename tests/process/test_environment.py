import pytest

from moot.process import environment
from moot.process.errors import BadEnvironment, BadMarker


def test_only_allowed_variables_of_the_parent_are_passed_on() -> None:
    parent = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "XDG_CONFIG_HOME": "/c",
        "https_proxy": "http://p",
        "API_KEY": "secret",
        "SSH_AUTH_SOCK": "/agent",
        "PATHS": "x",
    }
    assert environment.build(parent=parent) == {
        "PATH": "/bin",
        "LC_ALL": "C",
        "XDG_CONFIG_HOME": "/c",
        "https_proxy": "http://p",
    }


def test_a_caller_may_name_more_of_the_parents_variables() -> None:
    parent = {"SSH_AUTH_SOCK": "/agent", "API_KEY": "secret"}
    built = environment.build(also=("SSH_AUTH_SOCK", "CODEX_HOME"), parent=parent)
    assert built == {"SSH_AUTH_SOCK": "/agent"}


def test_additions_win_over_the_parents_variables() -> None:
    assert environment.build({"HOME": "/new", "A": "ü"}, parent={"HOME": "/old"}) == {
        "HOME": "/new",
        "A": "ü",
    }


def test_without_a_parent_given_it_is_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Mars/Olympus")
    monkeypatch.setenv("API_KEY", "secret")
    built = environment.build()
    assert built["TZ"] == "Mars/Olympus"
    assert "API_KEY" not in built


@pytest.mark.parametrize("name", ["", "A=B", "A\0", "\ud800"])
def test_a_name_no_program_can_be_given_is_refused(name: str) -> None:
    with pytest.raises(BadEnvironment, match="cannot name"):
        environment.build({name: "x"}, parent={})


@pytest.mark.parametrize("value", ["secret\0", "secret\ud800"])
def test_a_value_no_program_can_be_given_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(BadEnvironment, match="The value of TOKEN") as refusal:
        environment.build({"TOKEN": value}, parent={})
    assert "secret" not in str(refusal.value)


def test_markers_are_appended_to_those_of_the_parent() -> None:
    outer = environment.marked({}, "a", parent={})
    inner = environment.marked({"X": "1"}, "b", "c", parent=outer)
    assert outer == {environment.MARKER: "a"}
    assert inner == {"X": "1", environment.MARKER: "a/b/c"}


def test_a_marker_cannot_be_smuggled_in_with_the_variables() -> None:
    assert environment.marked({environment.MARKER: "z"}, "a", parent={}) == {environment.MARKER: "a"}


@pytest.mark.parametrize("marker", ["", "a/b", "a\0", "\ud800"])
def test_a_marker_that_would_be_mistaken_is_refused(marker: str) -> None:
    with pytest.raises(BadMarker):
        environment.marked({}, marker, parent={})


def test_a_process_carries_whole_markers_only() -> None:
    assert environment.carries("a/bc/d", "bc")
    assert not environment.carries("a/bc/d", "b")
    assert not environment.carries(None, "a")
