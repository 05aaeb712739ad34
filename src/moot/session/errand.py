"""What an agent is asked, and where in the tree that is."""

import sys
from dataclasses import field

from moot.core.records import record
from moot.core.tree_path import ROOT, TreePath, Trigger
from moot.session.agent import Agent
from moot.session.hearing import Deaf, Hearing
from moot.session.pages import Pages
from moot.session.term import Term

_TOLD: frozenset[Trigger] = frozenset(("subagent", "advisor", "member"))


@record
class Errand:
    agent: Agent
    prompt: str
    path: TreePath = ROOT
    trigger: Trigger = "root"
    callers: tuple[str, ...] = ()  # from the first
    depth: int = 0  # of sub-agents
    depth_above: int = sys.maxsize  # that those allow who led here
    hearing: Hearing = field(default_factory=Deaf)
    is_settled: bool = False  # how it ends is told to somebody who goes on then, so that a failure on record is final
    pages: Pages | None = None  # of whoever it follows, with how that ended
    term: Term = field(default_factory=Term)  # of those in whose place it answers

    @property
    def deepest(self) -> int:
        """How deep agents may call agents: the least that it says, or anybody who led here."""
        return min(self.depth_above, self.agent.limits.depth)

    def next(self, agent: Agent, prompt: str, trigger: Trigger, at: TreePath | None = None) -> "Errand":
        """Somebody whom this one leads to, from here or from one of its calls."""
        path = (self.path if at is None else at).branch(trigger, agent.name)
        return self._passed(agent, prompt, (path, trigger), Deaf(), self.term.fresh())

    def instead(self, agent: Agent, prompt: str, trigger: Trigger) -> "Errand":
        """The same, and it has the last word in the place of this one."""
        path = self.path.branch(trigger, agent.name)
        return self._passed(agent, prompt, (path, trigger), self.hearing, self.term)

    def _passed(
        self, agent: Agent, prompt: str, place: tuple[TreePath, Trigger], hearing: Hearing, term: Term
    ) -> "Errand":
        path, trigger = place
        return Errand(
            agent,
            prompt,
            path,
            trigger,
            (*self.callers, self.agent.name),
            self.depth,
            self.deepest,
            hearing,
            is_settled=self.is_settled or trigger in _TOLD,
            term=term,
        )
