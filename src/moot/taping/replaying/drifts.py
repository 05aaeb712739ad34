"""Drifts: where a workflow has moved away from its recording, in words."""

from collections.abc import Callable, Sequence
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
_LEAD = 20  # of them before the difference, in a long line


class Drifts:
    """What was found so far, each once."""

    def __init__(self) -> None:
        self.facts: list[str] = []
        self._prompted: set[str] = set()
        self._asked: set[tuple[str, str]] = set()

    def add(self, fact: str) -> None:
        if fact not in self.facts:
            self.facts.append(fact)

    def unwoken(self, begin: Begin) -> None:
        self.add(f"{begin.agent} was not woken by {quoted(begin.mail)}, as it was in the recording")

    def compare_mail(
        self, agent: str, recorded: Sequence[Letter], now: Sequence[contract.Letter | Mail], plain: Callable[[str], str]
    ) -> bool:
        """Whether it is alike."""
        before = [(one.sender, lasting(plain(one.body))) for one in recorded]
        if before != [(one.sender, lasting(plain(one.body))) for one in now]:
            self.add(f"the mail of {agent} differs: {quoted(now)} instead of {quoted(recorded)}")
            return False
        return True

    def compare_briefing(self, agent: str, recorded: Briefing, now: Briefing) -> None:
        """Each agent is told of once: what differs in its first prompt differs in the next."""
        if lasting(recorded.system_prompt) != lasting(now.system_prompt):
            self.add(f"{agent}: {workflow_likeness.PROMPT_CHANGED}")
        if standing(recorded.prompt) != standing(now.prompt) and agent not in self._prompted:
            self._prompted.add(agent)
            self.add(f"{agent}: its prompt differs: {difference(standing(recorded.prompt), standing(now.prompt))}")

    def asked(self, agent: str, where: str, fact: str) -> None:
        """Something else is asked of a model. What is told of one attempt of an agent is not told of its next."""
        if (agent, fact) not in self._asked:
            self._asked.add((agent, fact))
            self.add(f"{agent}, {where}: {fact}")

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


def difference(recorded: str, now: str) -> str:
    """The first lines that differ, from where they do."""
    pairs = zip_longest(recorded.splitlines(), now.splitlines(), fillvalue="")
    old, new = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
    same = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(old))
    start = same - _LEAD if same > _SHOWN - _LEAD else 0
    return f"{_part(new, start)!r} instead of {_part(old, start)!r}"


def _part(line: str, start: int) -> str:
    return f"{'…' if start else ''}{line[start : start + _SHOWN]}"


def quoted(mail: Sequence[Letter | contract.Letter | Mail]) -> str:
    return ", ".join(f"{one.sender}: {' '.join(one.body.split())[:_SHOWN]!r}" for one in mail) or "no mail"
