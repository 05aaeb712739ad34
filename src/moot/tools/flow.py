"""Flows for the agents that drive them: started by name, taken over, kept, ended. Between lies `flow_steps`."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from moot.core import clock, permissions
from moot.core.errors import NotAllowed
from moot.core.library import Source
from moot.core.tool import Call, Tool
from moot.core.tx import ReadTx, Tx
from moot.engine.definition import Definition
from moot.engine.files import compiling
from moot.engine.flow import beginning, flows, forks, history, inbox, resuming, strands
from moot.engine.flow.flows import Flow, FlowOver, NewFlow
from moot.tools import acting, advancing, flow_access, flow_shapes
from moot.tools.flow_access import FlowRefused
from moot.tools.flow_shapes import StepId
from moot.tools.shapes import Arguments, Detail, Id, Name, Prose, Result, written

WAIT_SECONDS = 20.0


class Start(Arguments):
    workflow: Annotated[Name, Field(description="Its name, such as standards:fix.")]
    inputs: Annotated[Detail, Field(description="What workflow_get_info says it needs.")] = Field(default_factory=dict)


class Keep(Arguments):
    workflow_id: Id
    step_id: Annotated[StepId, Field(description="Where you are.")] = ""
    reason: Annotated[Prose, Field(description="Why.")] = ""


class Resume(Arguments):
    workflow_id: Id


class End(Arguments):
    workflow_id: Id
    status: Literal["success", "failed", "cancelled"] = "success"


class Started(Result):
    workflow_id: str
    state: Mapping[str, JsonValue] = {}
    warnings: tuple[str, ...] = ()


class Kept(Result):
    checkpoint_id: str
    state_path: str


class LastCheckpoint(Result):
    step_id: str
    timestamp: str


class Resumed(Result):
    workflow_id: str
    state: Mapping[str, JsonValue]
    last_checkpoint: LastCheckpoint | None = None


class Ended(Result):
    success: bool
    final_state: Mapping[str, JsonValue]


async def start(call: Call, arguments: Start) -> Started:
    source = await asyncio.to_thread(call.library.find, arguments.workflow)
    definition = await asyncio.to_thread(compiling.compiled, source.files)
    given = beginning.inputs(definition, arguments.inputs)

    def change(tx: Tx) -> Started:
        instance = acting.instance_of(tx, call.caller)
        _check_commands(tx, call, definition)
        new = NewFlow(
            instance=instance.name,
            stream=instance.stream,
            name=definition.name,
            source=source.path,
            files=source.files,
            given=given,
            driver="agent",
            holder=flow_access.holder(tx, call.caller),
            role=call.caller.role,
            tool_groups=call.caller.groups,
        )
        flow = flows.create(tx, new)
        advancing.advance(tx, flow.id, flow.stream)
        return Started(workflow_id=flow.id, warnings=_warnings(source, definition))

    begun = await call.write(change)
    flow = await _moved_on(call, begun.workflow_id)
    if flow.status == "failed" and not await call.read(lambda tx: flows.has_begun(tx, flow.id)):
        raise FlowRefused({"code": "WORKFLOW_FAILED", "message": flow.error, "remedy": "Correct it and start again."})
    state = await call.read(lambda tx: flow_shapes.state(tx, flow))
    return Started(workflow_id=begun.workflow_id, state=state, warnings=begun.warnings)


async def keep(call: Call, arguments: Keep) -> Kept:
    def change(tx: Tx) -> Kept:
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        step = arguments.step_id or strands.get(tx, flow.id).step_id
        id = history.keep(tx, flow.id, step, arguments.reason, flow.version, flow_shapes.state(tx, flow))
        return Kept(checkpoint_id=id, state_path=f"moot://workflows/{flow.id}/checkpoints/{id}")

    return await call.write(change)


async def resume(call: Call, arguments: Resume) -> Resumed:
    """Take it over, and go on with what had failed."""
    texts = await call.read(lambda tx: flows.files(tx, flow_access.flow(tx, call.caller, arguments.workflow_id).id))
    definition = await asyncio.to_thread(compiling.compiled, texts)  # which may take longer than the store can wait

    def change(tx: Tx) -> Resumed:
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        if flow.driver == "moot":
            raise NotAllowed(f"{flow.name} is carried out by moot itself.", f"Run: moot resume @{flow.instance}.")
        if flow.status in ("completed", "abandoned"):
            raise FlowOver(f"{flow.name} is {flow.status}.", "Start it again with workflow_start.")
        flow_access.check_free(tx, call.caller, flow)
        flows.hand_over(tx, flow, flow_access.holder(tx, call.caller))
        if flow.status == "failed":
            resuming.resume(tx, flows.get(tx, flow.id), definition)
        advancing.advance(tx, flow.id, flow.stream)
        last = history.last_steps(tx, flow.id, 1)
        checkpoint = [LastCheckpoint(step_id=one.step_id, timestamp=clock.to_iso(one.ended_at)) for one in last]
        state = flow_shapes.state(tx, flow)
        return Resumed(workflow_id=flow.id, state=state, last_checkpoint=checkpoint[0] if checkpoint else None)

    return await call.write(change)


async def end(call: Call, arguments: End) -> Ended:
    def change(tx: Tx) -> Ended:
        flow = flow_access.flow(tx, call.caller, arguments.workflow_id)
        flow_access.check(tx, call.caller, flow, strands.get(tx, flow.id))
        wanted = {"success": "completed", "failed": "failed", "cancelled": "abandoned"}[arguments.status]
        if not flow.is_live and flow.status != wanted:
            raise FlowOver(f"{flow.name} is {flow.status} already.", "Nothing is left to do.")
        if flow.is_live and arguments.status == "success":
            raise FlowOver(f"{flow.name} has steps left.", "Do them, or say failed or cancelled.")
        if flow.is_live:
            status = "failed" if arguments.status == "failed" else "abandoned"
            flows.end(tx, flow, status, f"{call.caller.name} has ended it")
            for strand in strands.of_flow(tx, flow.id).values():
                strands.put(tx, forks.over(strand, "The workflow was ended."))
                advancing.withdraw(tx, flow, strand)
        return Ended(success=arguments.status == "success", final_state=flow_shapes.state(tx, flow))

    if arguments.status == "success":
        await call.wait(lambda tx: _is_still(tx, call, arguments.workflow_id), WAIT_SECONDS)
    return await call.write(change)


def _is_still(tx: ReadTx, call: Call, id: str) -> bool | None:
    """What was said to it before is taken in, and what that leads to; None while it is not."""
    flow = flow_access.flow(tx, call.caller, id)
    return not flow.is_live or (flow.waits_for != "" and inbox.is_empty(tx, flow.id)) or None


async def _moved_on(call: Call, id: str) -> Flow:
    """Once its state is there."""

    def ready(tx: ReadTx) -> Flow | None:
        found = flow_access.flow(tx, call.caller, id)
        return None if found.status == "starting" else found

    found = await call.wait(ready, WAIT_SECONDS)
    return found or await call.read(lambda tx: flow_access.flow(tx, call.caller, id))


def _check_commands(tx: Tx, call: Call, definition: Definition) -> None:
    """Commands of a definition are run for whoever starts it, who must be allowed to run some."""
    if call.caller.role == "operator" or not definition.runs_commands:
        return
    agent = acting.agent_for(tx, call.caller, None)
    if permissions.said(agent.settings.get("permissions")).shell != "allow" and agent.is_started_by_moot:
        raise NotAllowed(f"{agent.name} may not run commands by itself.", f"Have a person start {definition.name}.")


def _warnings(source: Source, definition: Definition) -> tuple[str, ...]:
    shadows = (f"{source.path} is used, and not {source.shadows}.",) if source.shadows else ()
    return (*shadows, *definition.warnings)


TOOLS = (
    Tool(
        name="workflow_start",
        group="flow",
        words="Begin a workflow of steps by its name; then ask for one step after the other.",
        effect="store",
        arguments=Start,
        result=Started,
        function=start,
        text=written,
        waits=True,
    ),
    Tool(
        name="workflow_checkpoint",
        group="flow",
        words="Keep the state of a workflow as it is now, to look at later. (Every step is kept anyway.)",
        effect="store",
        arguments=Keep,
        result=Kept,
        function=keep,
        text=written,
    ),
    Tool(
        name="workflow_resume",
        group="flow",
        words="Take over a workflow that was interrupted or has failed, and go on with it.",
        effect="store",
        arguments=Resume,
        result=Resumed,
        function=resume,
        text=written,
    ),
    Tool(
        name="workflow_complete",
        group="flow",
        words="Say how a workflow has ended, and get its final state.",
        effect="store",
        arguments=End,
        result=Ended,
        function=end,
        text=written,
        waits=True,
    ),
)
