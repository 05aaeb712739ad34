"""What is told of flows on a tape: the same things in the same words, whether they are recorded or compared."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from moot.core.json import Json
from moot.core.tx import ReadTx
from moot.engine.flow import flows
from moot.engine.flow.delta import Delta
from moot.engine.flow.flows import Flow
from moot.engine.flow.inbox import Submission
from moot.engine.step import Work
from moot.taping.flow_lines import Stood, Submitted

_ASKED = ("command", "cwd", "timeout", "method", "params")  # what whoever works for a step is told


def taken(change: Delta) -> tuple[str, ...]:
    """`build.shell_command success`."""
    return tuple(f"{one.step_id} {one.status}" for one in change.taken)


def given(change: Delta) -> tuple[str, ...]:
    return tuple(one.step_id for one in change.strands if one.status == "given")


def asked(work: Work) -> dict[str, Any]:
    return {key: work.definition[key] for key in _ASKED if work.definition.get(key) is not None}


def submitted(one: Submission) -> Submitted:
    updates = cast(Sequence[Mapping[str, Json]], one.body.get("updates") or ())
    held = cast(Sequence[int], one.body.get("strands") or ())
    return Submitted(
        one.kind, one.strand, str(one.body.get("step_id") or ""), tuple(str(one["path"]) for one in updates), (*held,)
    )


def stood(tx: ReadTx, flow: Flow) -> Stood:
    return Stood(flow.id, flow.status, flow.error, flow.result, flows.fields(tx, flow.id))
