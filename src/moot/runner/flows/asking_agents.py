"""Asking an agent of a run to do one step: by mail, and what it says at the end of the attempt that reads it is what
came of the step. Tasks that go on side by side have agents of their own, each made after the one that is named."""

import re
from collections.abc import Mapping, Sequence

from moot.bus import messages
from moot.core import json
from moot.core.errors import MootError
from moot.core.ids import AttemptId, MessageId, RunId
from moot.core.json import Json
from moot.core.records import replace
from moot.core.tx import ReadTx, Tx
from moot.engine.flow import forks, strands
from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import MAIN, Strand
from moot.engine.step import Work
from moot.registry import agents, instances, runs
from moot.registry.agents import Agent, NewAgent
from moot.registry.runs import Run
from moot.tools import advancing, talk
from moot.tools.talk import Words
from moot.workflow import stored

FLOW = "flow"  # in the metadata of agents that were made for a flow
_SHOWN = ("prompt", "command", "reason", "method", "params", "file", "hints", "schema", "previous_error")
_ANSWERS = {
    "agent_prompt": "Answer this; your last words are the answer.",
    "agent_shell_command": "Run it, and answer with what it prints and nothing else.",
    "mcp_call": "Call that tool with exactly these parameters, and answer with its result as JSON and nothing else.",
    "apply_hints": 'Apply them to the file, and answer with JSON such as {"applied_count": 3} and nothing else.',
}


_AS_JSON = frozenset(("mcp_call", "apply_hints"))
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n\s*```\s*", re.DOTALL)
_INSIDE = frozenset(("item", forks.AGENT))  # of what a strand knows: said otherwise, or nobody's affair


class NobodyToDoIt(MootError):
    """A step needs an agent, and none can be asked."""

    code = "AGENT_NEEDED"


def ask(tx: Tx, flow: Flow, strand: Strand) -> Strand:
    assert strand.work is not None
    agent = _agent(tx, flow, strand, strand.work)
    words = Words(_told(flow, strand, strand.work), to=(agent.name,), kind="task", spoken="")
    said = talk.say(tx, instances.get(tx, flow.instance), None, words)
    return replace(strand, status="waiting", waits_on=said.message.id)


def answered(tx: Tx, agent: Agent, attempt: AttemptId, mail: Sequence[MessageId], text: str) -> None:
    """An attempt has read this mail and succeeded: steps that were asked for in it are done."""
    for id in mail:
        for strand in strands.waiting_on(tx, id):
            said = text.strip() or messages.last_of_attempt(tx, agent.stream, attempt)
            advancing.tell(tx, strand, {"status": "success", "result": _result(strand, said), "by": "agent"})


def failed(tx: Tx, mail: Sequence[MessageId], error: str) -> frozenset[MessageId]:
    """An agent was given up: so are the steps that it was asked for, by mail that nobody needs any more."""
    found: set[MessageId] = set()
    for id in mail:
        for strand in strands.waiting_on(tx, id):
            found.add(id)
            advancing.tell(tx, strand, {"status": "failed", "error": error or "it failed", "by": "agent"})
    return frozenset(found)


def _result(strand: Strand, said: str) -> Json:
    """Where JSON is asked for, what it says; a fence around it is not meant."""
    if strand.work is None or strand.work.type not in _AS_JSON:
        return said
    inside = _FENCED.fullmatch(said)
    try:
        return json.loads(inside[1] if inside else said)
    except MootError:
        return said


def made_for(tx: ReadTx, run: Run) -> list[Agent]:
    """The agents that were made for the tasks of a run's flow."""
    return [one for one in agents.members(tx, run.stream) if one.metadata.get(FLOW) == run.id]


def _agent(tx: Tx, flow: Flow, strand: Strand, work: Work) -> Agent:
    named = work.definition.get("agent")  # of a call it may be true: whoever it is
    named = named if isinstance(named, str) else strand.own.get(forks.AGENT)
    agent = _known(tx, flow, None if named is None else str(named))
    if strand.number == MAIN:
        return agent
    new = NewAgent(
        name=f"{agent.name}-{strand.number}",
        runtime=agent.runtime,
        backend=agent.backend,
        label=agent.label,
        settings=agent.settings,
        capabilities=agent.capabilities,
        metadata={**agent.metadata, FLOW: flow.id},
    )
    return agents.ensure(tx, instances.get(tx, flow.instance), new)


def _known(tx: ReadTx, flow: Flow, named: str | None) -> Agent:
    if named is not None:
        return agents.named(tx, flow.stream, named)
    run = runs.find(tx, RunId(flow.id))
    names = [] if run is None else stored.names(run.definition)
    here = [one for one in (agents.find(tx, flow.stream, name) for name in names) if one is not None]
    found = [one for one in here if one.is_started_by_moot]
    if len(found) == 1:
        return found[0]
    if found:
        raise NobodyToDoIt("This step needs an agent, and there are several.", "Name it in the step: `agent: NAME`.")
    remedy = "Add agents to the workflow, or start it from an agent."
    raise NobodyToDoIt("This step needs an agent, and the workflow has none.", remedy)


def _told(flow: Flow, strand: Strand, work: Work) -> str:
    """The step in words, with everything that is needed for it."""
    parts = [f"[STEP:{strand.step_id}] {flow.name}"]
    parts += [_shown(key, work.definition) for key in _SHOWN if work.definition.get(key) not in (None, "", {})]
    if strand.number != MAIN:
        context = {key: value for key, value in strand.own.items() if key not in _INSIDE}
        parts.append(f"It belongs to the task {strand.task_id}:\n{json.pretty(context)}")
    parts.append(_ANSWERS.get(work.type, ""))
    return "\n\n".join(part for part in parts if part)


def _shown(key: str, said: Mapping[str, Json]) -> str:
    value = said[key]
    text = value if isinstance(value, str) else json.pretty(value)
    match key:
        case "prompt":
            return text
        case "schema":
            return f"Answer with JSON that fits this schema, and nothing else:\n{text}"
        case "previous_error":
            return f"The last answer would not do: {text}"
        case _:
            return f"{key}: {text}" if "\n" not in text else f"{key}:\n{text}"
