"""The tree that grows from an agent: whom it leads to, by which pattern, and who has the last word."""

from collections.abc import Mapping

from moot.core.records import record
from moot.workflow import graph
from moot.workflow.patterns import Kind, Patterns, Tie, ties
from moot.workflow.workflow import AgentDefinition


@record
class Tree:
    """An agent, and below it those whom it leads to."""

    agent: str
    kind: Kind | None  # what it is to the one above; None at the root
    models: tuple[str, ...]
    is_terminal: bool  # its answer is its own
    has_last_word: bool  # its answer may be that of the root
    branches: tuple["Tree", ...] = ()
    is_shown_before: bool = False  # with its branches, which are left out here


def grow(root: str, everybody: Mapping[str, AgentDefinition]) -> Tree:
    """Each agent's branches are shown once, or a tree could be far larger than its file. There are no circles."""
    return _Gardener(everybody, set()).grow(Tie("agent", root), None, decides=True)


@record
class _Gardener:
    everybody: Mapping[str, AgentDefinition]
    shown: set[str]

    def grow(self, tie: Tie, kind: Kind | None, *, decides: bool) -> Tree:
        agent = self.everybody[tie.name]
        patterns = agent.patterns
        is_terminal = graph.is_terminal(patterns)
        below = ties(patterns)
        is_shown_before = bool(below) and tie.name in self.shown
        self.shown.add(tie.name)
        branches = () if is_shown_before else tuple(
            self.grow(one, one.kind, decides=decides and _decides(one, patterns)) for one in below
        )  # fmt: skip
        has_last_word = decides and is_terminal
        return Tree(tie.name, kind, agent.models, is_terminal, has_last_word, branches, is_shown_before)


def _decides(tie: Tie, patterns: Patterns) -> bool:
    """Whether the other may have the last word in the agent's place."""
    match tie.kind:
        case "handoff" | "destination":
            return True
        case "supervisor":
            return patterns.handoff is None
        case "agent" | "advisor" | "member":
            return False
