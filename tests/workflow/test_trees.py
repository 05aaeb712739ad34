"""The tree of an agent shows whom it leads to, how, and who has the last word."""

from moot.core.teams import Team
from moot.workflow import trees
from moot.workflow.patterns import ALONE, Patterns
from moot.workflow.trees import Tree
from moot.workflow.workflow import AgentDefinition, Fallback


def everybody(**patterns: Patterns) -> dict[str, AgentDefinition]:
    return {name: AgentDefinition(name, model=f"m/{name}", patterns=one) for name, one in patterns.items()}


def drawn(tree: Tree, depth: int = 0) -> list[str]:
    marks = f"{'!' if tree.has_last_word else ''}{'^' if tree.is_shown_before else ''}"
    line = f"{'  ' * depth}{tree.kind or 'root'} {tree.agent}{marks}"
    return [line, *(inner for branch in tree.branches for inner in drawn(branch, depth + 1))]


def test_every_pattern_has_a_branch_and_the_ends_are_marked() -> None:
    found = everybody(
        desk=Patterns(agents=("search",), advisors=("wise",), destinations=("bills", "panel")),
        search=ALONE,
        wise=Patterns(handoff="search"),
        bills=Patterns(handoff="closer"),
        closer=ALONE,
        panel=Patterns(team=Team(("wise",), "boss")),
        boss=ALONE,
    )
    assert drawn(trees.grow("desk", found)) == [
        "root desk",
        "  advisor wise",
        "    handoff search",
        "  agent search",
        "  destination bills",
        "    handoff closer!",
        "  destination panel",
        "    member wise^",
        "    supervisor boss!",
    ]


def test_a_supervisor_whose_report_is_handed_over_has_not_the_last_word() -> None:
    found = everybody(a=Patterns(team=Team(("b",), "c"), handoff="d"), b=ALONE, c=ALONE, d=ALONE)
    assert drawn(trees.grow("a", found)) == ["root a", "  member b", "  supervisor c", "  handoff d!"]


def test_an_agent_alone_is_a_tree() -> None:
    alone = AgentDefinition("a", model="m/a", fallbacks=(Fallback("m/b"),))
    assert trees.grow("a", {"a": alone}) == Tree("a", None, ("m/a", "m/b"), is_terminal=True, has_last_word=True)


def test_a_tree_is_no_larger_than_what_was_written() -> None:
    two = {f"{side}{at}": Patterns(agents=(f"a{at + 1}", f"b{at + 1}")) for at in range(40) for side in "ab"}
    found = everybody(**two, a40=ALONE, b40=ALONE)
    assert len(drawn(trees.grow("a0", found))) == 1 + 2 * 79  # each tie once: b0 is not reached
