"""Which flow and which strand of it a call is about, and whether it is the caller's to go on with."""

from collections.abc import Mapping

from moot.core.caller import Caller
from moot.core.errors import InvalidInput, MootError, NotAllowed
from moot.core.ids import AgentId, FlowId
from moot.core.json import Json
from moot.core.nearest import hint
from moot.core.tx import ReadTx, Tx
from moot.engine.flow import flows, strands
from moot.engine.flow.flows import Flow
from moot.engine.flow.strands import MAIN, Strand
from moot.registry import agents
from moot.tools import acting


class SubTaskNotFound(MootError):
    code = "TASK_NOT_FOUND"


class FieldUnknown(MootError):
    """Nothing is there in the state."""

    code = "FIELD_UNKNOWN"


class FlowRefused(MootError):
    """What was wanted of a flow could not be done; the code says why."""

    code = "FLOW_REFUSED"

    def __init__(self, told: Mapping[str, Json]) -> None:
        super().__init__(str(told["message"]), str(told["remedy"]))
        object.__setattr__(self, "code", str(told["code"]))  # of a class elsewhere, here of what was refused


def flow(tx: ReadTx, caller: Caller, id: str) -> Flow:
    return flows.get(tx, FlowId(id), caller.instance)


def strand(tx: ReadTx, found: Flow, context: Mapping[str, Json] | None) -> Strand:
    """The first, or that of a sub-agent's task. Of what a sub-agent says of itself only that name counts."""
    if not context:
        return strands.get(tx, found.id, MAIN)
    task = context.get("task_id") or context.get("batch_id")
    known = strands.by_task(tx, found.id, str(task))
    if known is None:
        raise SubTaskNotFound(f"{found.name} has no task {str(task)[:80]!r}.", "Give the task_id as it was handed out.")
    return known


def check(tx: ReadTx, caller: Caller, found: Flow, one: Strand) -> None:
    """NotAllowed unless the strand is the caller's, or nobody's yet."""
    holder = one.holder if one.number != MAIN or one.holder is not None else found.holder
    if found.driver == "moot":
        raise NotAllowed(f"{found.name} is carried out by moot itself.", "Watch it with moot status, or moot flow.")
    if holder is None or (caller.role == "operator" and caller.agent is None) or acting.is_own(tx, caller, holder):
        return
    if one.number != MAIN:
        remedy = f"Whoever drives {found.name} can free its tasks with workflow_resume."
        raise NotAllowed(f"{caller.name} does not hold the task {one.task_id}.", remedy)
    raise NotAllowed(f"{caller.name} does not hold {found.name}.", "Once its holder is gone: workflow_resume.")


def check_free(tx: ReadTx, caller: Caller, found: Flow) -> None:
    """NotAllowed unless the flow is the caller's, or its holder is gone."""
    holder = None if found.holder is None else agents.get(tx, found.holder)
    if caller.role != "operator" and (holder is None or holder.presence(tx.now) != "offline"):
        check(tx, caller, found, strands.get(tx, found.id, MAIN))


def is_in_vain(tx: ReadTx, found: Flow) -> bool:
    """Whether a flow has failed and would come to the same if it was resumed: it goes on with the text that it has."""
    if found.status != "failed":
        return False
    from moot.engine.files import compiling  # noqa: PLC0415  # heavy, and few have failed
    from moot.engine.flow import resuming  # noqa: PLC0415

    try:
        return not resuming.helps(tx, found, compiling.compiled(flows.files(tx, found.id)))
    except InvalidInput:  # its text itself cannot be read
        return True


def check_computed(tx: ReadTx, found: Flow, name: str) -> None:
    """FieldUnknown unless the definition computes a field of this name. Of included workflows nothing is said."""
    from moot.engine.files import compiling  # noqa: PLC0415  # heavy, and few ask

    known = compiling.compiled(flows.files(tx, found.id)).schema.computed
    if "." not in name and name not in known:
        raise FieldUnknown(f"{found.name} computes no {name[:80]!r}.", hint(name, known))


def taken(tx: Tx, caller: Caller, found: Flow, one: Strand) -> Strand:
    """The same; who comes first for a sub-agent's task has it from now on."""
    check(tx, caller, found, one)
    if one.holder is None and not strands.bind(tx, one, holder(tx, caller)):
        check(tx, caller, found, strands.get(tx, found.id, one.number))
    return one


def holder(tx: Tx, caller: Caller) -> AgentId:
    return acting.agent_for(tx, caller, None).id
