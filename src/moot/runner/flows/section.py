"""The steps of a workflow file: the flow that they make, which has the id of the run."""

from moot.core.ids import FlowId, RunId
from moot.core.json import Json
from moot.core.tx import ReadTx, Tx
from moot.engine.flow import flows
from moot.engine.flow.flows import Flow, NewFlow
from moot.jobs import jobs
from moot.registry import runs
from moot.registry.runs import Run
from moot.tools import advancing
from moot.workflow.workflow import Workflow


def has_steps(run: Run) -> bool:
    return bool(run.definition.get("flow"))


def flow_of(tx: ReadTx, run: Run) -> Flow | None:
    return flows.find(tx, FlowId(run.id))


def begin(tx: Tx, run: Run, workflow: Workflow) -> None:
    names = [task.name for task in workflow.setup]
    printed: dict[str, Json] = {name: text for name, text in zip(names, run.outputs, strict=False) if name}
    given = {one.name: run.given.get(f"inputs.{one.name}") for one in workflow.inputs}
    new = NewFlow(
        instance=run.instance,
        stream=run.stream,
        name=run.name,
        source=run.source,
        files=workflow.flow,
        given={name: value for name, value in given.items() if value is not None},
        own={"setup": printed},
        driver="moot",
        credits=0 if workflow.is_stepped else None,
        id=FlowId(run.id),
    )
    flow = flows.create(tx, new)
    advancing.advance(tx, flow.id, flow.stream)


def is_held(tx: ReadTx, flow: Flow) -> bool:
    """Whether its run is over, paused or to be stopped: then nothing of it is begun."""
    if flow.driver == "agent":  # which is of no run
        return False
    run = runs.find(tx, RunId(flow.id))
    return run is not None and (run.state != "live" or run.is_paused or run.stop_asked is not None)


def is_moving(tx: ReadTx, run: Run) -> bool:
    """Whether it goes on by itself, so that nobody else has to do anything."""
    flow = flow_of(tx, run)
    return flow is not None and flow.is_live and flow.waits_for in ("", "time")


def trouble(tx: ReadTx, run: Run) -> str:
    """Why the steps of a run are not done, for whoever finds nobody at work on them."""
    flow = flow_of(tx, run)
    if flow is None or flow.status == "completed":
        return ""
    if flow.status in ("failed", "abandoned"):
        return flow.error or f"the steps were {flow.status}"
    return "the steps wait for somebody: see moot flow" if flow.waits_for else ""


def carry_on(tx: Tx, run: Run) -> None:
    """Also what had failed, as its definition says."""
    flow = flow_of(tx, run)
    if flow is None:
        return
    if flow.status == "failed":
        from moot.engine.files import compiling  # noqa: PLC0415  # heavy, and many only ask how a run stands
        from moot.engine.flow import resuming  # noqa: PLC0415

        resuming.resume(tx, flow, compiling.compiled(flows.files(tx, flow.id)))
    if flow.status in ("failed", *flows.LIVE):
        advancing.advance(tx, flow.id, flow.stream)


def stop(tx: Tx, run: Run) -> None:
    """Whoever is at it leaves it as it is, for those who resume the run."""
    if has_steps(run):
        jobs.cancel(tx, advancing.key(FlowId(run.id)))


def abandon(tx: Tx, run: Run) -> None:
    """Another run follows."""
    flow = flow_of(tx, run)
    if flow is not None:
        flows.end(tx, flow, "abandoned", "another run was started")
