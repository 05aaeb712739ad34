"""Small workflows of steps, drawn by lot: commands that take their time and may fail, agents, tools, loops, and tasks
side by side. What comes of one is another each time that it is run."""

import random
from typing import Any

import yaml

# A number below ten that nobody can foresee; `date` has no leading zeros to stumble over here.
LOT = "$(( 1$(date +%N) / 1000 % 10 ))"
_LEAVES = ("command", "command", "command", "update", "message", "send", "append", "own_state", "ask", "wait")
_BLOCKS = ("choice", "each", "again", "tasks", "tasks", "block")


class Drawn:
    """One workflow, of its lot."""

    def __init__(self, lot: int) -> None:
        self._random = random.Random(lot)
        self._count = 0
        self._sub_agent_tasks: dict[str, Any] = {}

    @property
    def text(self) -> str:
        lot = self._random
        steps = self._steps(lot.randint(1, 3), depth=0, in_task=False)
        steps.append({"id": "side", **self._tasks("side", 0, in_task=False)})
        steps += self._steps(lot.randint(0, 2), depth=0, in_task=False)
        say = {"on": "STEP", "takes": f"{lot.choice((0, 10, 40))}ms", "say": "done"}
        fails = {**say, "fails": 1, "fail": "not now"} if lot.random() < 0.2 else say
        said: dict[str, Any] = {
            "name": "drawn",
            "context": {"document_owner": "none"},
            "agents": {
                "ann": {"script": [{"on": "hello", "say": "hi"}, fails], "retry": {"backoff": "10ms", "attempts": 3}},
                "bob": {"script": [say]},
            },
            "default_state": {"raw": {"log": [], "count": 0}},
            "state_schema": {"computed": {"length": {"from": "raw.log", "transform": "input.length"}}},
            "steps": steps,
            "sub_agent_tasks": self._sub_agent_tasks,
            "result": "{{ log.join(' ') }}",
        }
        if lot.random() < 0.4:
            said["kickoff"] = "@ann hello"
        said["error_handling"] = lot.choice(
            (
                {},
                {"on_error": "continue"},
                {"on_error": "retry_workflow", "max_retries": 1},
                {"on_failure": [{"type": "user_message", "message": "{{ error.message }} {{ log.length }}"}]},
            )
        )
        return yaml.safe_dump(said, sort_keys=False)

    def _steps(self, count: int, depth: int, *, in_task: bool) -> list[dict[str, Any]]:
        return [self._step(depth, in_task=in_task) for _ in range(count)]

    def _step(self, depth: int, *, in_task: bool) -> dict[str, Any]:
        self._count += 1
        id = f"s{self._count}"
        kinds = _LEAVES if depth > 1 else (*_LEAVES, *_BLOCKS)
        kind = self._random.choice(kinds)
        if kind == "tasks" and in_task and depth:
            kind = "command"
        return {"id": id, **getattr(self, f"_{kind}")(id, depth, in_task=in_task)}

    def _command(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        lot = self._random
        failing = f"test {LOT} -gt 3" if lot.random() < 0.4 else "true"
        step: dict[str, Any] = {
            "type": "shell_command",
            "command": f"sleep 0.0{LOT}; {failing} && echo {id} {LOT} | tee -a ran",
        }
        step["state_update"] = {"path": "raw.log", "operation": "append"}
        how = lot.choice(("fail", "continue", "retry"))
        if failing != "true" and how != "fail":
            step |= {"on_error": how, "fallback_value": "lost", "retry_delay": 10, "retry_count": 2}
        return step

    def _update(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        value = self._random.choice((f"{id} {{{{ uuid() }}}}", f"{id} {{{{ now() }}}}", "{{ Math.random() }}"))
        return {"type": "state_update", "path": "raw.log", "operation": "append", "value": value}

    def _message(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        return {"type": "user_message", "message": f"{id}: {{{{ length }}}} {{{{ log[log.length - 1] }}}}"}

    def _send(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        step = {"type": "mcp_call", "method": "channel_send", "params": {"message": f"{id} {{{{ length }}}}"}}
        return {**step, "state_update": {"path": f"raw.sent_{id}", "value": "{{ result.status ?? 'sent' }}"}}

    def _append(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        return {"type": "mcp_call", "method": "document_append", "params": {"content": f"{id} {{{{ length }}}}\n"}}

    def _own_state(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        update = {"path": "raw.count", "operation": "increment", "value": 1}
        params = {"workflow_id": "{{ workflow_id }}", "updates": [update]}
        return {"type": "mcp_call", "method": "workflow_state_update", "params": params}

    def _ask(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        who = self._random.choice(("ann", "bob"))
        step = {"type": "agent_prompt", "agent": who, "prompt": f"{id} {{{{ length }}}}?"}
        return {**step, "state_update": {"path": "raw.log", "operation": "append"}}

    def _wait(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        return {"type": "wait", "for": f"{self._random.choice((10, 50, 900))}ms"}

    def _choice(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        then, other = (self._steps(self._random.randint(1, 2), depth + 1, in_task=in_task) for _ in range(2))
        return {"type": "conditional", "condition": "{{ Math.random() < 0.5 }}", "then": then, "else": other}

    def _each(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        items = [f"{id}_{number}" for number in range(self._random.randint(0, 3))]
        steps = self._steps(self._random.randint(1, 2), depth + 1, in_task=in_task)
        return {"type": "foreach", "items": items, "steps": steps}

    def _again(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        body = self._steps(self._random.randint(1, 2), depth + 1, in_task=in_task)
        return {"type": "while", "condition": "{{ Math.random() < 0.7 }}", "max_iterations": 3, "body": body}

    def _block(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        return {"type": "sequential", "steps": self._steps(2, depth + 1, in_task=in_task)}

    def _tasks(self, id: str, depth: int, *, in_task: bool) -> dict[str, Any]:
        lot = self._random
        steps = self._steps(lot.randint(2, 4), depth + 1, in_task=True)
        cleanup = [{"type": "state_update", "path": "raw.log", "operation": "append", "value": "{{ error.message }}"}]
        errors = {"error_handling": {"cleanup_on_error": cleanup}} if lot.random() < 0.5 else {}
        self._sub_agent_tasks[f"t_{id}"] = {"steps": steps, **errors}
        strategy = lot.choice(("fail_all", "continue", "retry_failed"))
        return {
            "type": "parallel_foreach",
            "items": [f"{id}_{number}" for number in range(lot.randint(2, 5))],
            "sub_agent_task": f"t_{id}",
            "max_parallel": lot.randint(1, 4),
            "wait_for_all": lot.random() < 0.8,
            "on_sub_agent_error": {"strategy": strategy, "max_retries": 1},
        }


def text(lot: int) -> str:
    return Drawn(lot).text
