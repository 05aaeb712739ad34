"""Checks how agents work together: that nobody is led in a circle, and everybody can do what is wanted of them."""

from collections.abc import Iterator, Mapping

from moot.core.formats import Format
from moot.core.problems import Problem
from moot.core.records import record
from moot.workflow import formats, graph
from moot.workflow.drafts import Faults
from moot.workflow.graph import Graph
from moot.workflow.members import Member
from moot.workflow.patterns import WHAT
from moot.workflow.ties import Reference

# What is said of an agent that asks no model itself, and would not hold.
_OF_ITS_TEAM = {
    "output": "its supervisor says what it reports",
    "tools": "its team works in its place",
    "max_turns": "`member_max_turns` and `supervisor_max_turns` of its team hold",
}


def check(members: Mapping[str, Member], faults: Faults) -> None:
    """Note what is wrong with everybody's patterns. Names that lead nowhere were told already."""
    found = {name: one.definition.patterns for name, one in members.items()}
    checker = _Checker(members, found, faults)
    has_circles = checker.check_circles()
    for member in members.values():
        checker.check_one(member)
        if not has_circles:  # else chains have no end
            checker.check_chains(member)


@record
class _Checker:
    members: Mapping[str, Member]
    graph: Graph
    faults: Faults

    def check_circles(self) -> bool:
        circles = list(graph.circles(self.graph))
        for circle in circles:
            *_, last, first = circle
            reference = next(one for one in self.members[last].references if one.name == first)
            self._wrong(reference, f"this leads in a circle: {' → '.join(circle)}", "Leave out one of these steps.")
        return bool(circles)

    def check_one(self, member: Member) -> None:
        """What can be seen of one agent alone."""
        patterns = member.definition.patterns
        if patterns.handoff is not None and patterns.destinations:
            self._clash(member, "handoff", "an agent with a router has no `handoff`: the one it chooses goes on")
        if patterns.team is not None and patterns.destinations:
            self._clash(member, "router", "an agent with a team has no `router`: its team works in its place")
        if patterns.team is not None and patterns.agents:
            self._clash(member, "agents", "an agent with a team calls no `agents`: its team works in its place")
        for field, why in _OF_ITS_TEAM.items() if patterns.team is not None else ():
            if field in member.places and "defaults" not in member.places[field][1]:  # these are said for all agents
                self._clash(member, field, f"an agent with a team has no `{field}`: {why}")
        seen: set[tuple[str, str]] = set()
        for one in member.references:
            if (one.kind, one.name) in seen:
                self._wrong(one, f"`{one.name[:80]}` is {WHAT[one.kind]} already", "Name it once.")
            seen.add((one.kind, one.name))
            if one.kind == "supervisor" and ("member", one.name) in seen:
                fact = f"`{one.name[:80]}` is a member, and cannot supervise itself"
                self._wrong(one, fact, "Leave it out of the members, or choose another supervisor.")

    def check_chains(self, member: Member) -> None:
        """What depends on the others."""
        for one in member.references:
            if one.name not in self.members:
                continue
            if one.kind == "advisor":
                self._check_chat(one, one.name)
            elif one.kind == "member":
                for end in graph.terminals(one.name, self.graph):
                    self._check_chat(one, end)
            elif one.kind == "supervisor":
                self._check_supervisor(one)
            self._check_input(member, one)

    def _check_chat(self, reference: Reference, name: str) -> None:
        if self.members[name].definition.is_chatty:
            return
        who = f"`{name}`" if name == reference.name else f"`{reference.name}` ends with `{name}`, which"
        fact = f"{who} is to be {WHAT[reference.kind]}, and does not let itself be asked again"
        self._wrong(reference, fact, f"Write chat: true in {self._home(name)}.")

    def _check_supervisor(self, reference: Reference) -> None:
        """It has to hear the members itself."""
        for end in self._last_stages(reference.name):
            if self.graph[end].team is not None:
                fact = f"`{end}` has a team of its own, and would not hear the members of this one"
                self._wrong(reference, fact, "Choose a supervisor without a team.")

    def _last_stages(self, name: str) -> Iterator[str]:
        """Those at the ends of its chains, behind routers too."""
        patterns = self.graph[name]
        following = patterns.destinations if patterns.handoff is None else (patterns.handoff,)
        if not following:
            yield name
        for one in following:
            if one in self.graph:
                yield from self._last_stages(one)

    def _check_input(self, member: Member, reference: Reference) -> None:
        """Whether the other can take what it will be given. What a sub-agent is given is checked with every call."""
        name, other = member.definition.name, reference.name
        match reference.kind:
            case "agent":
                return
            case "handoff":
                wrong = formats.mismatch(self._output(member), self.members[other].definition.input)
                given = f"`{name}` hands over to `{other}`"
            case "advisor":
                wrong = formats.mismatch(member.definition.input, self.members[other].definition.input, "input")
                given = f"`{other}` is asked what `{name}` is asked"
            case "destination" | "member" | "supervisor":
                takes_words = self.members[other].definition.input.kind == "markdown"
                wrong = None if takes_words else ("it is given words, and takes json", "Let it take markdown.")
                given = f"`{other}` is {WHAT[reference.kind]}"
        if wrong is not None:
            fact, remedy = wrong
            self._wrong(reference, f"{given}: {fact}", remedy)

    def _output(self, member: Member) -> Format:
        """What is handed over: its own report, or that of its team."""
        team = member.definition.patterns.team
        if team is None or team.supervisor not in self.members:
            return member.definition.output
        return self.members[graph.terminal(team.supervisor, self.graph)].definition.output

    def _home(self, name: str) -> str:
        """The file that speaks of somebody."""
        member = self.members[name]
        return member.file.name if member.file else f"agents.{name}"

    def _clash(self, member: Member, field: str, fact: str) -> None:
        document, path = member.places[field]
        self.faults.add(document, Problem(path, fact, "Leave one of them out.", is_key=True))

    def _wrong(self, reference: Reference, fact: str, remedy: str) -> None:
        self.faults.add(*reference.problem(fact, remedy))
