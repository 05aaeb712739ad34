"""`moot retry` of a single message: the others that were given up stay where they are."""

import pytest

from tests.cli.terminal import Ended, Terminal

BOTH = """
name: both
agents:
  ann: {backend: scripted, retry: {attempts: 1}, script: [{on: bad, fail: broken}, {on: good, say: fine}]}
kickoff: "@ann something bad"
"""


@pytest.fixture
def given_up(terminal: Terminal) -> Terminal:
    """Two messages: one that cannot be handled, and one that could, had it not come in a batch with the other."""
    (terminal.folder / "both.yaml").write_text(BOTH, encoding="utf-8")
    assert terminal.run("run", "both.yaml").code == 1
    terminal.ok("send", "@ann something good")
    assert terminal.run("resume").code == 1
    return terminal


def refusal(ended: Ended) -> tuple[int, str]:
    return ended.code, ended.err.split(": ")[1]


def ids(terminal: Terminal) -> dict[str, str]:
    found = terminal.ok("inbox", "ann", "--json").json
    return {one["message"]: one["id"] for one in found}


def test_one_message_is_tried_again_and_another_is_dropped(given_up: Terminal) -> None:
    parked = ids(given_up)
    assert set(parked) == {"@ann something bad", "@ann something good"}
    good, bad = parked["@ann something good"], parked["@ann something bad"]
    assert given_up.ok("retry", bad, "--drop").out == f"ann: {bad} is dropped\n"
    assert given_up.ok("retry", good, "--json").json == {"ann": 1}
    assert given_up.ok("resume").code == 0
    assert ids(given_up) == {}


def test_what_is_parked_for_nobody_is_neither_tried_again_nor_dropped(given_up: Terminal) -> None:
    bad = ids(given_up)["@ann something bad"]
    given_up.ok("retry", bad, "--drop")
    assert refusal(given_up.run("retry", bad)) == (1, "NOTHING_PARKED")
    assert refusal(given_up.run("retry", "ms_0")) == (1, "MESSAGE_NOT_FOUND")
    assert refusal(given_up.run("retry", "ann", "--drop")) == (2, "INVALID_INPUT")
