"""The graph of agents: who leads to whom, in circles or to an end, and who has the last word."""

from collections.abc import Iterator, Mapping

from moot.workflow.patterns import Patterns, ties

Graph = Mapping[str, Patterns]  # by name; names that are not there lead nowhere


def reached(name: str, graph: Graph) -> tuple[str, ...]:
    """Everybody to whom an agent leads, however far, in the order of finding them; not itself."""
    found = {name: None}
    waiting = [name]
    while waiting:
        for other in _next(waiting.pop(0), graph):
            if other not in found:
                found[other] = None
                waiting.append(other)
    return tuple(found)[1:]


def circles(graph: Graph) -> Iterator[tuple[str, ...]]:
    """Ways that come back to where they began, as `(a, b, a)`: one for each tie that closes a circle."""
    finished: set[str] = set()
    for start in graph:
        way: dict[str, Iterator[str]] = {}
        if start not in finished:
            way[start] = iter(_next(start, graph))
        while way:
            last = next(reversed(way))
            other = next(way[last], None)
            if other is None:
                finished.add(last)
                del way[last]
            elif other in way:
                names = list(way)
                yield (*names[names.index(other) :], other)
            elif other not in finished:
                way[other] = iter(_next(other, graph))


def is_terminal(patterns: Patterns) -> bool:
    """Whether an agent's answer is its own. A router may answer itself, but mostly another does."""
    return patterns.handoff is None and not patterns.destinations and patterns.team is None


def terminal(name: str, graph: Graph) -> str:
    """The agent whose answer is returned when this one is asked: the end of its chain, or the router where the chain
    forks. The graph has no circles."""
    seen = {name}
    while (other := _successor(graph.get(name))) is not None and other in graph and other not in seen:
        seen.add(other)
        name = other
    return name


def terminals(name: str, graph: Graph) -> tuple[str, ...]:
    """All ends of its chains, behind routers too. Routers that answer themselves are not among them."""
    found: dict[str, None] = {}
    waiting, seen = [name], set[str]()
    while waiting:
        end = terminal(waiting.pop(0), graph)
        if end in seen:
            continue
        seen.add(end)
        patterns = graph.get(end, Patterns())
        if is_terminal(patterns):
            found[end] = None
        waiting += [one for one in patterns.destinations if one in graph]
    return tuple(found)


def _successor(patterns: Patterns | None) -> str | None:
    """Who certainly answers in its place."""
    if patterns is None:
        return None
    if patterns.handoff is not None:
        return patterns.handoff
    return patterns.team.supervisor if patterns.team else None


def _next(name: str, graph: Graph) -> list[str]:
    return [tie.name for tie in ties(graph[name]) if tie.name in graph]
