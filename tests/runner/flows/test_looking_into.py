"""What agents can look up: which workflows there are and what each would do, where a flow is, what it has computed, and
from what."""

from pathlib import Path

from moot.engine.expressions.sandbox import Sandbox
from moot.store.store import Store
from tests.flowing import carried_out

TEXT = """
name: shop
description: Counts.
version: "2.0"
imports: [inner]
inputs:
  most: {type: number, required: true, description: how many}
  level: {type: string, default: low, options: [low, high]}
default_state: {raw: {n: 1, items: [a, b], other: 5}, state: {version: 3}}
state_schema:
  computed:
    double: {from: raw.n, transform: input * 2}
    far: {from: [computed.double, raw.items], transform: "input[0] + input[1].length + version"}
    safe:
      {from: raw.n, transform: "if (input > 1) throw new Error('much'); return 0", on_error: use_fallback, fallback: 9}
steps:
  - {id: up, type: shell_command, command: "echo {{ n + 1 }}", output_format: json, state_update: {path: raw.n}}
  - {id: all, type: parallel_foreach, items: "{{ items }}", sub_agent_task: it}
  - {id: inside, type: include_workflow, workflow: inner}
  - {id: bye, type: user_message, message: "{{ far }}"}
sub_agent_tasks: {it: {steps: [{id: call, type: mcp_call, mcp: {method: lint.run}}]}}
"""
INNER = """
name: inner
default_state: {raw: {n: 7}}
state_schema: {computed: {double: {from: raw.n, transform: input * 10}}}
steps: [{id: put, type: state_update, path: raw.n, value: 8}]
"""
TEXTS = {"shop": TEXT, "inner": INNER}


async def test_a_definition_tells_what_it_asks_for_and_what_it_would_do(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, TEXTS) as flows:
        info = await flows.done("workflow_get_info", workflow="shop")
        assert (info["name"], info["description"], info["version"]) == ("shop", "Counts.", "2.0")
        assert info["inputs"]["most"] == {"type": "number", "required": True, "description": "how many"}
        level = {"type": "string", "required": False, "default": "low", "description": "", "options": ["low", "high"]}
        assert info["inputs"]["level"] == level
        loaded = await flows.done("workflow_load_definition", workflow="shop")
        assert (len(loaded["steps"]), loaded["resolved_imports"]) == (4, ["inner"])
        assert await flows.refused("workflow_explain_plan", workflow="shop") == "INPUT_INVALID"
        plan = await flows.done("workflow_explain_plan", workflow="shop", inputs={"most": 1})
        assert plan["required_tools"] == ["lint.run"]
        assert [one["step_id"] for one in plan["steps"]] == [
            "up.shell_command",
            "all.parallel_foreach",
            "inside.include_workflow",
            "inside.workflow.put.state_update",
            "bye.user_message",
            "it.call.mcp_call",
        ]


async def test_what_was_computed_is_told_with_what_led_to_it_also_in_an_included_workflow(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, TEXTS) as flows:
        id = await flows.start("shop", most=1)
        await flows.next(id)
        for task in ("all_0", "all_1"):
            await flows.walk(id, task=task)
        await flows.complete(id, "all.parallel_foreach")
        await flows.complete(id, (await flows.next(id))["step"]["id"])

        async def computed(field: str | None) -> list[tuple[str, str, object, object]]:
            found = await flows.done("workflow_trace_transformations", workflow_id=id, field=field)
            return [(one["field"], one["trigger"], one["input"], one.get("output")) for one in found["traces"]]

        assert await computed("double") == [("double", "raw.n", 1, 2), ("double", "raw.n", 2, 4)]
        assert await computed("computed.far") == [("far", "raw.n", 1, 7), ("far", "raw.n", 2, 9)]
        assert await computed("inside.double") == [
            ("inside.double", "raw.n", 7, 70),
            ("inside.double", "raw.n", 8, 80),
        ]
        found = await flows.done("workflow_trace_transformations", workflow_id=id, field="safe")
        assert [(one["output"], one.get("error")) for one in found["traces"]] == [(0, None), (9, "Error: much")]
        bare = await flows.done("workflow_trace_transformations", workflow_id=id, include_timing=False, limit=1)
        assert [("duration_ms" in one, one["field"]) for one in bare["traces"]] == [(False, "inside.double")]
        code = await flows.refused("workflow_trace_transformations", workflow_id=id, field="doubel")
        assert code == "FIELD_UNKNOWN"


async def test_a_field_tells_what_it_is_made_from_and_what_is_made_from_it(
    store: Store, tmp_path: Path, sandbox: Sandbox
) -> None:
    async with carried_out(store, tmp_path, sandbox, TEXTS) as flows:
        id = await flows.start("shop", most=1)

        async def dependencies(field: str) -> tuple[list[str], list[str], list[str]]:
            found = await flows.done("workflow_state_dependencies", workflow_id=id, field=field)
            return found["direct_deps"], found["all_deps"], found["dependents"]

        direct, every, dependents = await dependencies("far")
        assert {"computed.double", "raw.items", "state.version"} <= set(direct)
        assert {"raw.n", *direct} == set(every)
        assert dependents == []
        assert await dependencies("double") == (["raw.n"], ["raw.n"], ["far"])
        for spelling in ("n", "raw.n"):
            assert await dependencies(spelling) == ([], [], ["double", "far", "safe"])
        assert await dependencies("version") == ([], [], ["far"])
        assert await dependencies("other") == ([], [], [])
        assert await flows.refused("workflow_state_dependencies", workflow_id=id, field="nn") == "FIELD_UNKNOWN"


async def test_where_a_flow_is_and_what_it_has_done_is_told(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, TEXTS) as flows:
        id = await flows.start("shop", most=1)
        await flows.next(id)
        found = await flows.done("workflow_debug_info", workflow_id=id)
        assert (found["current_step"], found["status"]) == ("all.parallel_foreach", "in_progress")
        ((step, status),) = [(one["step_id"], one["status"]) for one in found["step_history"]]
        assert (step, status) == ("up.shell_command", "success")
        assert found["state_size"]["computed_bytes"] == len("4") + len("9") + len("9")
        assert found["state_size"]["total_transformations"] == 6
        assert {one["field"] for one in found["performance"]["slowest_transformations"]} == {"double", "far", "safe"}


async def test_a_transform_is_tried_without_a_workflow(store: Store, tmp_path: Path, sandbox: Sandbox) -> None:
    async with carried_out(store, tmp_path, sandbox, {}) as flows:
        tool = "workflow_test_transformation"
        well = await flows.done(tool, transform="input.map(n => n * rate)", input=[1, 2], context={"rate": 3})
        assert (well["success"], well["output"]) == (True, [3, 6])
        badly = await flows.done(tool, transform="const a = 1;\nreturn input.x.y", input={})
        assert (badly["success"], "output" in badly) == (False, False)
        assert badly["error"] == "TypeError: cannot read property 'y' of undefined (line 2)"
