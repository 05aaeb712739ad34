"""Who leads to whom, and who has the last word."""

import pytest

from moot.core.teams import Team
from moot.workflow import graph
from moot.workflow.graph import Graph
from moot.workflow.patterns import ALONE, Patterns

CHAIN: Graph = {"a": Patterns(handoff="b"), "b": Patterns(handoff="c"), "c": Patterns(handoff="d"), "d": ALONE}
FORK: Graph = {
    "desk": Patterns(advisors=("wise",), destinations=("bills", "panel", "inner")),
    "wise": Patterns(agents=("search",)),
    "search": ALONE,
    "bills": Patterns(handoff="closer"),
    "closer": ALONE,
    "panel": Patterns(team=Team(("wise", "bills"), "boss")),
    "boss": ALONE,
    "inner": Patterns(destinations=("closer", "search")),
}


def test_the_end_of_a_chain_answers_for_all_of_it() -> None:
    assert {name: graph.terminal(name, CHAIN) for name in CHAIN} == dict.fromkeys("abcd", "d")
    assert {name: graph.is_terminal(one) for name, one in CHAIN.items()} == {
        "a": False, "b": False, "c": False, "d": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "end", "ends"),
    [
        ("wise", "wise", ("wise",)),
        ("bills", "closer", ("closer",)),
        ("panel", "boss", ("boss",)),
        ("desk", "desk", ("closer", "boss", "search")),
        ("inner", "inner", ("closer", "search")),
    ],
)
def test_a_team_ends_with_its_supervisor_and_a_router_with_anybody_it_may_choose(
    name: str, end: str, ends: tuple[str, ...]
) -> None:
    assert graph.terminal(name, FORK) == end
    assert graph.terminals(name, FORK) == ends


def test_what_a_team_finds_goes_on_if_it_is_handed_over() -> None:
    found = {**FORK, "panel": Patterns(team=Team(("wise",), "boss"), handoff="closer")}
    assert graph.terminal("panel", found) == "closer"


def test_advisors_and_agents_that_are_called_leave_the_answer_to_who_asked() -> None:
    assert graph.is_terminal(Patterns(agents=("a",), advisors=("b",)))
    assert not graph.is_terminal(Patterns(destinations=("a",)))
    assert not graph.is_terminal(Patterns(team=Team(("a",), "b")))


def test_everybody_is_reached_once() -> None:
    assert graph.reached("a", CHAIN) == ("b", "c", "d")
    assert graph.reached("desk", FORK) == ("wise", "bills", "panel", "inner", "search", "closer", "boss")
    assert graph.reached("d", CHAIN) == ()


@pytest.mark.parametrize(
    ("found", "circles"),
    [
        (CHAIN, []),
        (FORK, []),
        ({"a": Patterns(handoff="a")}, [("a", "a")]),
        ({**CHAIN, "d": Patterns(agents=("b",))}, [("b", "c", "d", "b")]),
        (
            {
                "a": Patterns(advisors=("b",), destinations=("c",)),
                "b": Patterns(agents=("a",)),
                "c": Patterns(team=Team(("d",), "a")),
                "d": Patterns(handoff="c"),
            },
            [("a", "b", "a"), ("c", "d", "c"), ("a", "c", "a")],
        ),
        ({"a": Patterns(handoff="nobody")}, []),
    ],
)
def test_circles_are_found_over_all_patterns(found: Graph, circles: list[tuple[str, ...]]) -> None:
    assert list(graph.circles(found)) == circles


def test_nothing_is_too_long_or_too_wide() -> None:
    long = {f"a{at}": Patterns(handoff=f"a{at + 1}") for at in range(5_000)} | {"a5000": ALONE}
    assert list(graph.circles(long)) == []
    assert graph.terminal("a0", long) == "a5000"
    wide = {f"a{at}": Patterns(destinations=(f"a{at + 1}", f"b{at + 1}")) for at in range(60)}
    wide |= {f"b{at}": Patterns(destinations=(f"a{at + 1}", f"b{at + 1}")) for at in range(60)}
    wide |= {"a60": ALONE, "b60": ALONE}
    assert list(graph.circles(wide)) == []
    assert graph.terminals("a0", wide) == ("a60", "b60")
