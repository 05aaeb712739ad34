"""A finished tree as spans of OpenTelemetry, in the names of its GenAI conventions and the JSON of its protocol.

What was asked, answered or handed to tools is not in them; of a failure they have the kind, and no words. The ids come
from root and path, so that whoever sends a tree again sends the same spans.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from moot.core import clock
from moot.core.json import Json
from moot.core.records import record
from moot.core.version import VERSION
from moot.ledger.nodes import Node
from moot.ledger.usage import DOLLAR

_INTERNAL, _CLIENT = 1, 3
_ERROR = 2
_OPERATIONS = {"attempt": "invoke_agent", "session": "invoke_agent", "model": "chat", "tool": "execute_tool"}
# Those whom the conventions call otherwise.
_PROVIDERS = {"google": "gcp.gemini", "mistral": "mistral_ai", "xai": "x_ai"}
_FINE = frozenset(("done", "succeeded", "repeated"))
Value = str | int | float | bool | Sequence[str]


@record
class Grown:
    """What one trace is made of."""

    root: str
    nodes: Sequence[Node]
    provider: str  # of the agent that was asked, where a model does not name its own
    about: Mapping[str, str]  # what all spans carry: run, instance
    now: datetime


def request(trees: Iterable[Grown], service: str) -> dict[str, Json]:
    """The body of one request to a collector."""
    resource: Json = {"attributes": _attributes({"service.name": service, "service.version": VERSION})}
    scope: Json = {"name": "moot", "version": VERSION}
    spans: Json = [span for tree in trees for span in _spans(tree)]
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}


def _spans(tree: Grown) -> Iterator[dict[str, Json]]:
    """Turns have none: what is done in a turn is done by its session."""
    turns = {one.id: one.parent for one in tree.nodes if one.kind == "turn"}
    known = {one.id: one for one in tree.nodes}
    for node in tree.nodes:
        if node.kind in _OPERATIONS:
            parent = turns.get(node.parent or "", node.parent)
            yield _span(tree, node, known.get(parent or ""))


def _span(tree: Grown, node: Node, parent: Node | None) -> dict[str, Json]:
    operation = _OPERATIONS[node.kind]
    found: dict[str, Json] = {
        "traceId": _hash(tree.root, 16),
        "spanId": _span_id(tree, node),
        "name": f"{operation} {_model(node) if node.kind == 'model' else node.name}",
        "kind": _CLIENT if node.kind == "model" else _INTERNAL,
        "startTimeUnixNano": _nanos(node.started_at),
        "endTimeUnixNano": _nanos(node.ended_at or max(tree.now, node.started_at)),
        "attributes": _attributes(_facts(tree, node, operation)),
        "status": {} if node.state in _FINE else {"code": _ERROR},
    }
    if parent is not None:
        found["parentSpanId"] = _span_id(tree, parent)
    return found


def _hash(text: str, size: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[: 2 * size]


def _span_id(tree: Grown, node: Node) -> str:
    place = f"{node.path}#{node.number}" if node.root else node.id
    return _hash(f"{tree.root}\n{place}", 8)


def _nanos(moment: datetime) -> str:
    return str(clock.to_micros(moment) * 1000)


def _facts(tree: Grown, node: Node, operation: str) -> dict[str, Value]:
    found: dict[str, Value] = {"gen_ai.operation.name": operation, "gen_ai.agent.name": node.agent}
    found |= {"gen_ai.conversation.id": tree.root, **tree.about}
    if node.kind == "tool":
        found |= {"gen_ai.tool.name": node.name, "gen_ai.tool.type": "function"}
    else:
        found["gen_ai.provider.name"] = _provider(tree, node)
    if node.kind == "model":
        found |= _asked(node)
    if node.trigger:
        found["moot.trigger"] = node.trigger
    if node.attempt:
        found["moot.attempt.id"] = node.attempt
    if node.state not in _FINE:
        found["error.type"] = "unknown" if node.state == "unknown" else node.stop or _kind_of_failure(node)
    return found


def _kind_of_failure(node: Node) -> str:
    return "tool_error" if node.kind == "tool" else node.state


def _provider(tree: Grown, node: Node) -> str:
    written, slash, _ = node.name.partition("/") if node.kind == "model" else ("", "", "")
    provider = written if slash else tree.provider
    return _PROVIDERS.get(provider, provider)


def _model(node: Node) -> str:
    return node.name.partition("/")[2] or node.name


def _asked(node: Node) -> dict[str, Value]:
    used = node.used
    found: dict[str, Value] = {
        "gen_ai.request.model": _model(node),
        "gen_ai.usage.input_tokens": used.input_tokens,
        "gen_ai.usage.output_tokens": used.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": used.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": used.cache_write_tokens,
        "gen_ai.usage.reasoning.output_tokens": used.reasoning_tokens,
        "moot.cost.dollars": used.cost / DOLLAR,
        "moot.cost.is_estimated": used.is_estimated,
        "moot.try": node.number,
    }
    if node.state == "done" and node.stop:
        found["gen_ai.response.finish_reasons"] = (node.stop,)
    return found


def _attributes(facts: Mapping[str, Value]) -> list[Json]:
    return [{"key": key, "value": _value(value)} for key, value in facts.items()]


def _value(value: Value) -> dict[str, Json]:
    """Whole numbers are written as text: JSON would cut off large ones."""
    match value:
        case bool():
            return {"boolValue": value}
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case _:
            return {"arrayValue": {"values": [{"stringValue": one} for one in value]}}
