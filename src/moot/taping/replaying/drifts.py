"""Drifts: where a workflow has moved away from its recording, in words."""

from collections.abc import Sequence
from itertools import zip_longest

from moot.backends import backend as contract
from moot.backends.backend import Briefing
from moot.bus.mailbox import Mail
from moot.core.tool import ToolAnswer
from moot.taping.replaying import workflow_likeness
from moot.taping.replaying.likeness import lasting, standing
from moot.taping.tape import Begin, Call, Header, Letter
from moot.workflow.workflow import Workflow

_SHOWN = 80  # characters of a text in what is told


class Drifts:
    """What was found so far, each once."""

    def __init__(self) -> None:
        self.facts: list[str] = []
        self._prompted: set[str] = set()

    def add(self, fact: str) -> None:
        if fact not in self.facts:
            self.facts.append(fact)

    def unwoken(self, begin: Begin) -> None:
        self.add(f"{begin.agent} was not woken by {quoted(begin.mail)}, as it was in the recording")

    def compare_mail(self, agent: str, recorded: Sequence[Letter], now: Sequence[contract.Letter | Mail]) -> bool:
        """Whether it is alike."""
        before = [(one.sender, lasting(one.body)) for one in recorded]
        if before != [(one.sender, lasting(one.body)) for one in now]:
            self.add(f"the mail of {agent} differs: {quoted(now)} instead of {quoted(recorded)}")
            return False
        return True

    def compare_briefing(self, agent: str, recorded: Briefing, now: Briefing) -> None:
        """Each agent is told of once: what differs in its first prompt differs in the next."""
        if lasting(recorded.system_prompt) != lasting(now.system_prompt):
            self.add(f"{agent}: {workflow_likeness.PROMPT_CHANGED}")
        before, after = standing(recorded.prompt).splitlines(), standing(now.prompt).splitlines()
        if before != after and agent not in self._prompted:
            self._prompted.add(agent)
            old, new = next(pair for pair in zip_longest(before, after, fillvalue="") if pair[0] != pair[1])
            self.add(f"{agent}: its prompt differs: {new[:_SHOWN]!r} instead of {old[:_SHOWN]!r}")

    def compare_answer(self, call: Call, answer: ToolAnswer) -> None:
        if answer.is_error and not call.is_error:
            self.refused(call.caller, call.tool, answer.text)
        elif call.is_error and not answer.is_error:
            self.add(f"{call.caller}: {call.tool} was refused in the recording, and is not any more")

    def refused(self, who: str, what: str, why: str) -> None:
        self.add(f"{who}: {what} is refused now: {why[:_SHOWN]}")

    def compare_setup(self, recorded: Header, played: Workflow) -> None:
        for old, new in zip(recorded.setup, (one.shell for one in played.setup), strict=False):
            if old != new:
                self.add(f"the setup command `{new[:_SHOWN]}` was `{old[:_SHOWN]}` in the recording")
        if len(recorded.setup) != len(played.setup):
            self.add(f"there are {len(played.setup)} setup commands instead of {len(recorded.setup)}")


def quoted(mail: Sequence[Letter | contract.Letter | Mail]) -> str:
    return ", ".join(f"{one.sender}: {' '.join(one.body.split())[:_SHOWN]!r}" for one in mail) or "no mail"
