"""Sessions that are cut off at a budget go on where they were: what they have done is not done, or paid, again."""

from pathlib import Path

import pytest

from tests.cli.terminal import Ended, Terminal

HEAD = "tools: [shell]\npermissions: {shell: allow}\n"


@pytest.fixture
def terminal(tmp_path: Path, bytecode: Path) -> Terminal:
    return Terminal(tmp_path, bytecode)


def step(word: str) -> str:
    return f"  - calls: [{{shell: {{command: echo {word} >> effects.txt}}}}]\n    usage: {{cost: 0.1}}\n"


def write(terminal: Terminal, name: str, *answers: str, head: str = HEAD) -> None:
    (terminal.folder / f"{name}.md").write_text(f"---\n{head}answers:\n{''.join(answers)}---\nBe brief.\n")


def effects(terminal: Terminal) -> list[str]:
    return (terminal.folder / "effects.txt").read_text().split()


def resume(terminal: Terminal, budget: str) -> Ended:
    instances = [one["instance"] for one in terminal.ok("list", "--all", "--json").json if one["name"] == "top"]
    return terminal.ok("resume", f"@{instances[0]}", "--budget", budget)


def answers(terminal: Terminal) -> list[str]:
    (instance,) = {one["instance"] for one in terminal.ok("list", "--all", "--json").json if one["name"] == "top"}
    said = terminal.ok("log", "--json", "--instance", instance).json
    return [one["message"] for one in said if one["from"] == "top"]


def test_the_last_attempt_goes_on_and_gives_its_report(terminal: Terminal) -> None:
    write(terminal, "top", step("one"), step("two"), "  - say: as far as I came\n")
    ended = terminal.run("ask", "top.md", "Go.", "--budget", "turns=2")
    assert (ended.code, ended.out) == (3, "as far as I came\n")
    assert "this is what it had by then; ask again with --budget turns=4" in ended.err
    assert "moot resume" not in ended.err
    assert effects(terminal) == ["one", "two"]
    again = resume(terminal, "turns=9")
    assert (again.out, again.err) == (ended.out, "this was answered before: there was nothing left to go on with\n")


def test_who_does_not_report_in_the_last_attempt_goes_on_with_a_larger_budget(terminal: Terminal) -> None:
    write(terminal, "top", step("one"), step("two"), step("refused"), step("three"), "  - say: done\n")
    assert terminal.run("ask", "top.md", "Go.", "--budget", "turns=2").code == 3
    assert effects(terminal) == ["one", "two"]
    resume(terminal, "turns=20")
    assert (effects(terminal), answers(terminal)) == (["one", "two", "three"], ["done"])
    assert terminal.ok("cost", "--json").json["total"]["cost"] == pytest.approx(0.4)


def test_a_tree_goes_on_from_where_one_of_it_was_cut_off(terminal: Terminal) -> None:
    """Nobody in it takes the end of the money for the end of whoever met it."""
    write(terminal, "kid", step("kid"), step("kid2"), "  - say: from the kid\n    usage: {cost: 0.1}\n")
    asks = "  - calls: [{agent_kid: {prompt: help}}]\n    usage: {cost: 0.1}\n"
    write(terminal, "top", step("one"), asks, "  - say: done\n", head=f"{HEAD}agents: [kid]\n")
    assert terminal.run("ask", "top.md", "Go.", "--budget", "cost=0.35").code == 3
    assert effects(terminal) == ["one", "kid"]
    resume(terminal, "cost=5")
    assert (effects(terminal), answers(terminal)) == (["one", "kid", "kid2"], ["done"])
    assert terminal.ok("cost", "--json").json["total"]["cost"] == pytest.approx(0.5)


def test_a_failure_that_an_agent_reports_is_a_result_and_is_not_tried_again(terminal: Terminal) -> None:
    gives_up = "  - calls: [{final_report: {report: could not, status: failure}}]\n"
    write(terminal, "top", step("one"), gives_up, head=f"{HEAD}agents: [kid]\n")
    write(terminal, "kid", "  - say: unasked\n")
    ended = terminal.run("ask", "top.md", "Go.")
    assert (ended.code, effects(terminal)) == (1, ["one"])
    assert "could not" in ended.err
