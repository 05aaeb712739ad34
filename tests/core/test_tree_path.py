"""The paths of a tree of sessions: what one spells, the other reads."""

import pytest

from moot.core.tree_path import ROOT, TreePath, Trigger


def test_paths_are_spelt_as_journals_and_tapes_have_them() -> None:
    call = ROOT.turn(3).call(1)
    assert (ROOT, ROOT.turn(3).request(), call) == ("", "t3/m", "t3/c1")
    assert call.branch("subagent").asked_again(2) == "t3/c1/s/q2"
    assert ROOT.branch("handoff").branch("router").turn(1) == "h/r/t1"
    assert ROOT.branch("advisor", "risk").branch("supervisor", "eve").turn(1).request() == "adv/risk/boss/t1/m"
    assert call.branch("subagent").branch("member", "adv") == "t3/c1/s/team/adv"


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("", []),
        ("t1/m", ["t1", "m"]),
        ("t3/c1/s/t1/c2", ["t3", "c1", "s", "t1", "c2"]),
        ("adv/legal/q1", ["adv/legal", "q1"]),
        ("team/adv/h/t1/m", ["team/adv", "h", "t1", "m"]),
        ("adv/team/team/t1/t1/m", ["adv/team", "team/t1", "t1", "m"]),
        ("team", ["team/"]),
    ],
)
def test_a_name_belongs_to_the_word_before_it(path: str, parts: list[str]) -> None:
    assert TreePath(path).parts == parts


def test_everything_but_the_first_session_belongs_to_something() -> None:
    deep = TreePath("adv/legal/t2/c1")
    assert deep.all_above == ["", "adv/legal", "adv/legal/t2"]
    assert (deep.above, deep.session, ROOT.above) == ("adv/legal/t2", "adv/legal", None)


@pytest.mark.parametrize(
    ("path", "kind"),
    [("", ""), ("t12", "t"), ("t1/c3", "c"), ("h/q1", "q"), ("t1/m", "m"), ("team/t1", "team/t1"), ("boss", "boss")],
)
def test_the_last_part_tells_what_it_is(path: str, kind: str) -> None:
    assert TreePath(path).kind == kind


@pytest.mark.parametrize("trigger", ["subagent", "handoff", "router", "advisor", "member", "supervisor"])
def test_a_branch_tells_how_it_came_to_be(trigger: Trigger) -> None:
    branch = ROOT.turn(1).branch(trigger, "ann")
    assert (branch.trigger, branch.turn(1).trigger) == (trigger, None)
    assert branch.name == ("ann" if trigger in ("advisor", "member") else "")


def test_the_last_word_has_the_first_or_whom_it_has_handed_over_to() -> None:
    assert [one for one in ("", "h", "r/h", "boss", "adv/h", "h/t1") if TreePath(one).has_last_word] == ["", "h", "r/h"]


def test_turn_ten_comes_after_turn_nine() -> None:
    paths = [TreePath(one) for one in ("t10/c2", "t9/m", "t10/c10", "t10", "adv/b2")]
    assert sorted(paths, key=lambda one: one.in_order) == ["adv/b2", "t9/m", "t10", "t10/c2", "t10/c10"]


def test_what_is_below_is_part_of_it_and_not_itself() -> None:
    paths = [TreePath(one) for one in ("", "t1", "t1/m", "t10/m", "h/t1/m")]
    assert [one for one in paths if one.is_below("t1")] == ["t1/m"]
    assert [one for one in paths if one.is_below(ROOT)] == paths[1:]
