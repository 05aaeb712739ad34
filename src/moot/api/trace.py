"""The path, the calls and the time of whatever has an id: a run, a message, an attempt, a delivery, a tree."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from moot.api import targets
from moot.api.access import Access
from moot.api.targets import Target
from moot.core import clock
from moot.core.errors import MootError
from moot.core.ids import AgentId, AttemptId, InstanceName, JobId, MessageId, OperationId, RequestId, RunId
from moot.core.json import Json
from moot.core.records import record
from moot.core.tx import ReadTx
from moot.jobs import jobs
from moot.ledger import branches, traces
from moot.ledger import nodes as rolling
from moot.ledger.branches import Place
from moot.ledger.nodes import Amounts, Node
from moot.ledger.traces import Range, Tried, Word
from moot.ledger.usage import DOLLAR
from moot.registry import agents, instances, runs
from moot.registry.errors import AgentNotFound
from moot.registry.runs import Run
from moot.requests import requests

_FARTHEST = 50  # messages and attempts back to where something began


class NothingTraced(MootError):
    """There is no record of what was asked for."""

    code = "NOTHING_TRACED"


@record
class Trace:
    """What was found, those above before those below."""

    nodes: tuple[Node, ...]
    totals: Mapping[str, Amounts]
    terminals: Mapping[str, str]  # whose answer is that of each session, by its id
    now: datetime  # for what is under way

    def below(self) -> dict[str | None, list[Node]]:
        """What belongs to each node, by its id; None: to nothing."""
        found: dict[str | None, list[Node]] = defaultdict(list)
        for one in self.nodes:
            found[one.parent].append(one)
        return found

    def lasted(self, node: Node) -> timedelta:
        return (node.ended_at or max(self.now, node.started_at)) - node.started_at


async def of(access: Access, wanted: str | None, only: InstanceName | None = None) -> Trace:
    return await access.store.read(lambda tx: look(tx, wanted, only))


def look(tx: ReadTx, wanted: str | None, only: InstanceName | None = None) -> Trace:
    nodes = _last(tx, only) if wanted is None else _found(tx, wanted, only)
    return Trace(tuple(nodes), rolling.totals(nodes), rolling.terminals(nodes), tx.now)


def _last(tx: ReadTx, only: InstanceName | None) -> list[Node]:
    id = traces.last(tx, only)
    if id is None:
        raise NothingTraced("Nobody has worked here yet.", "Begin with: moot run FILE")
    run = _tried(tx, id).run
    return _of_attempt(tx, id) if run is None else _of_run(tx, run)


def _found(tx: ReadTx, wanted: str, only: InstanceName | None) -> list[Node]:
    ways: Mapping[str, Callable[[], list[Node]]] = {
        "wf": lambda: _of_run(tx, RunId(wanted)),
        "at": lambda: _of_attempt(tx, AttemptId(wanted)),
        "ms": lambda: _of_message(tx, MessageId(wanted)),
        "rq": lambda: _of_request(tx, RequestId(wanted)),
        "jb": lambda: _of_tree(tx, wanted) if "#" in wanted else _of_job(tx, JobId(wanted)),
        "op": lambda: _of_deed(tx, OperationId(wanted)),
        "ag": lambda: _of_agent(tx, AgentId(wanted)),
    }
    kind, line, _ = wanted.partition("_")
    if line and kind in ways:
        return ways[kind]()
    target = targets.parse(wanted, instance=only or targets.home())
    if target.agent is None:
        return _last(tx, target.instance)
    if only is None and "@" not in wanted and (id := _last_called(tx, target)) is not None:
        return _of_attempt(tx, id)
    return _of_agent(tx, agents.named(tx, instances.get(tx, target.instance).stream, target.agent).id)


def _last_called(tx: ReadTx, target: Target) -> AttemptId | None:
    """The last attempt of an agent of this name, where the instance that goes without saying has none."""
    assert target.agent is not None
    places = {one.name: one for one in instances.all_of(tx)}
    home = places.get(target.instance)
    if home is not None and agents.find(tx, home.stream, target.agent) is not None:
        return None
    called = [agents.find(tx, one.stream, target.agent) for one in places.values()]
    if home is None and not any(called):
        names = {agent.name for one in places.values() for agent in agents.members(tx, one.stream)}
        known = ", ".join(sorted(names - {agents.PERSON})) or "nobody yet"
        raise AgentNotFound(f"There is no agent named {target.agent[:80]!r}.", f"There are: {known}.")
    tried = [traces.last_of_agent(tx, one.id) for one in called if one is not None]
    return max((one for one in tried if one is not None), default=None)  # ids grow with time


def _missing(what: str, id: str) -> NothingTraced:
    return NothingTraced(f"There is no {what} {id[:80]!r}.", "See the ids in moot log --json, or moot trace --json.")


def _tried(tx: ReadTx, id: AttemptId) -> Tried:
    found = traces.of_attempt(tx, id)
    if found is None:
        raise _missing("attempt", id)
    return found


def _of_agent(tx: ReadTx, id: AgentId) -> list[Node]:
    agent = agents.get(tx, id)
    found = traces.last_of_agent(tx, id)
    if found is None:
        raise NothingTraced(f"{agent.name} has not worked yet.", "Give it something to do: moot send")
    return _of_attempt(tx, found)


def _of_deed(tx: ReadTx, id: OperationId) -> list[Node]:
    found = traces.attempt_of_deed(tx, id)
    if found is None:
        raise _missing("operation of an attempt", id)
    return _of_attempt(tx, found)


def _of_request(tx: ReadTx, id: RequestId) -> list[Node]:
    message = requests.get(tx, id).message
    if message is None:
        raise NothingTraced(f"Nobody was told of the request {id}.")
    return _of_message(tx, message)


def _of_run(tx: ReadTx, id: RunId) -> list[Node]:
    run = runs.get(tx, id)
    part = Range(run.stream, run.first_seq, run.last_seq or Range(run.stream).last)
    talk = _Talk(traces.given(tx, part), traces.said(tx, part))
    found = [_run_node(run)]
    for tried in traces.of_run(tx, id):
        found += _attempt(tx, tried, run.id, talk)
    return found


def _run_node(run: Run) -> Node:
    return Node(run.id, None, "run", run.name, run.started_at, run.ended_at, run.state, error=run.reason)


def _of_attempt(tx: ReadTx, id: AttemptId) -> list[Node]:
    tried = _tried(tx, id)
    return _attempt(tx, tried, None, _talk_of(tx, tried))


def _of_job(tx: ReadTx, id: JobId) -> list[Node]:
    """A delivery with all attempts at it, or whatever else a job did."""
    job, tries = jobs.get(tx, id), traces.of_job(tx, id)
    if job is None and not tries:
        raise _missing("job", id)
    start = job.created_at if job else tries[0].started_at
    name, state = (job.kind, job.state) if job else ("attempt", "done")
    ends = [one.ended_at for one in tries if one.ended_at]
    ended = max(ends, default=None) if state not in ("queued", "running") else None
    found = [Node(id, None, "job", name, start, ended, state, error=(job.error or "") if job else "")]
    for tried in tries:
        found += _attempt(tx, tried, id, _talk_of(tx, tried))
    return found


def _of_tree(tx: ReadTx, root: str) -> list[Node]:
    """The whole of it, in however many attempts it grew."""
    steps = traces.steps(tx, root)
    if not steps:
        raise _missing("tree", root)
    first = _tried(tx, steps[0].attempt)
    return branches.nodes(steps, Place(None, root, first.name, first.model))


def _of_message(tx: ReadTx, id: MessageId) -> list[Node]:
    """The way that led to it, from where that began, and all who were given it, with what they did."""
    word = traces.word(tx, id)
    if word is None:
        raise _missing("message", id)
    found, parent = _way_to(tx, word)
    found.append(_word_node(word, word.id, parent, ""))
    for attempt in traces.readers(tx, id):
        tried = _tried(tx, attempt)
        talk = _talk_of(tx, tried)
        found += _attempt(tx, tried, word.id, replace(talk, given=[one for one in talk.given if one.id != id]))
    return found


def _way_to(tx: ReadTx, word: Word) -> tuple[list[Node], str | None]:
    """Of all that an attempt was given, that which came the longest way led on."""
    way: list[Tried | Word] = []
    cause: Word | None = word
    while cause is not None and cause.said_in is not None and len(way) < _FARTHEST:
        tried = traces.of_attempt(tx, cause.said_in)
        if tried is None:
            break
        given = traces.given(tx, Range(tried.stream), tried.id)
        cause = max(given, key=lambda one: (one.hops, one.seq), default=None)
        way += [tried] if cause is None else [tried, cause]
    nodes: list[Node] = []
    for one in reversed(way):
        parent = nodes[-1].id if nodes else None
        nodes.append(_tried_node(one, parent) if isinstance(one, Tried) else _word_node(one, one.id, parent, ""))
    return nodes, nodes[-1].id if nodes else None


@record
class _Talk:
    """What attempts were given and have said."""

    given: Sequence[Word]
    said: Sequence[Word]


def _talk_of(tx: ReadTx, tried: Tried) -> _Talk:
    part = Range(tried.stream)
    return _Talk(traces.given(tx, part, tried.id), traces.said(tx, part, tried.id))


def _attempt(tx: ReadTx, tried: Tried, parent: str | None, talk: _Talk) -> list[Node]:
    given = [
        _word_node(one, f"{tried.id}:{one.id}", tried.id, "given") for one in talk.given if one.attempt == tried.id
    ]
    said = [_word_node(one, one.id, tried.id, "said") for one in talk.said if one.attempt == tried.id]
    return [_tried_node(tried, parent), *given, *work(tx, tried, tried.id), *said]


def work(tx: ReadTx, tried: Tried, parent: str | None) -> list[Node]:
    """What an attempt did: its part of the tree of sessions, or the tools it called if it was no session."""
    place = Place(parent, tried.id, tried.name, tried.model, tried.id, tried.started_at, tried.ended_at)
    trees = [traces.steps(tx, root) for root in traces.roots(tx, tried)]
    grown = [node for steps in trees for node in branches.nodes(steps, place)]
    return grown or branches.of_tool_calls(traces.tool_calls(tx, tried.id), place)


def _tried_node(tried: Tried, parent: str | None) -> Node:
    return Node(
        tried.id,
        parent,
        "attempt",
        targets.agent_in(tried.name, tried.instance),
        tried.started_at,
        tried.ended_at,
        tried.state,
        agent=tried.name,
        error=tried.error or "",
        number=tried.number,
        attempt=tried.id,
    )


def _word_node(word: Word, id: str, parent: str | None, trigger: str) -> Node:
    return Node(id, parent, "message", word.sender, word.at, word.at, "done", trigger, text=word.body)


def done_in(tx: ReadTx, id: AttemptId) -> list[dict[str, Json]]:
    """An attempt and what it did, as plain data; nothing if it was forgotten meanwhile."""
    tried = traces.of_attempt(tx, id)
    if tried is None:
        return []
    nodes = [_tried_node(tried, tried.run), *work(tx, tried, id)]
    return document(Trace(tuple(nodes), rolling.totals(nodes), rolling.terminals(nodes), tx.now))


def document(trace: Trace) -> list[dict[str, Json]]:
    """As plain data for JSON, amounts in dollars: each node with the id of the one it belongs to."""
    return [plain(one, trace) for one in trace.nodes]


def plain(node: Node, trace: Trace) -> dict[str, Json]:
    total = trace.totals.get(node.id, Amounts())
    return {
        "id": node.id,
        "parent": node.parent,
        "kind": node.kind,
        "name": node.name,
        "agent": node.agent or None,
        "trigger": node.trigger or None,
        "terminal": trace.terminals.get(node.id),
        "state": node.state,
        "stop": node.stop or None,
        "error": node.error or None,
        "text": node.text or None,
        "try": node.number,
        "root": node.root or None,
        "path": node.path if node.root else None,
        "attempt": node.attempt,
        "started_at": clock.to_iso(node.started_at),
        "ended_at": clock.to_iso(node.ended_at) if node.ended_at else None,
        "seconds": (node.ended_at - node.started_at).total_seconds() if node.ended_at else None,
        **asdict(total),
        "cost": total.cost / DOLLAR,
    }
