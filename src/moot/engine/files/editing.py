"""The JSON Schema of the sections that the engine reads, for editors: made from the forms by which they are read."""

from typing import Any

from pydantic import BaseModel

from moot.core.records import record
from moot.engine.kinds import KINDS
from moot.engine.shape import ErrorsShape, FlowShape, InputShape, TaskErrorsShape, TaskShape

_STEP = {"$ref": "#/$defs/Step"}
_STEPS: dict[str, Any] = {"type": "array", "items": _STEP}


@record
class Forms:
    """Schemas of sections by name, and those that they refer to under `$defs`."""

    sections: dict[str, Any]
    definitions: dict[str, Any]


def forms() -> Forms:
    flow = _form("Flow", FlowShape)
    sections: dict[str, Any] = {
        name: form for name, form in flow["properties"].items() if name not in ("name", "inputs", "result")
    }
    sections["steps"] = {**_STEPS, "minItems": 1, "description": sections["steps"]["description"]}
    errors = _with_steps(_form("Errors", ErrorsShape), "on_failure")
    sections["error_handling"] = {**errors, "description": sections["error_handling"]["description"]}
    _each(sections["sub_agent_tasks"], {"$ref": "#/$defs/SubAgentTask"})
    definitions: dict[str, Any] = {
        "Flow": {"$defs": flow["$defs"]},
        "Errors": {"$defs": sections["error_handling"].pop("$defs")},
        "SubAgentTask": _task(),
        "Step": _step(),
    }
    return Forms(sections, {**definitions, **{_name(kind): _kind(kind) for kind in KINDS}})


def _step() -> dict[str, Any]:
    """Which form it has, its type says: so that what is wrong is told of that form alone."""
    chosen = [
        {"if": {"properties": {"type": {"const": kind}}}, "then": {"$ref": f"#/$defs/{_name(kind)}"}} for kind in KINDS
    ]
    type_ = {"enum": list(KINDS), "description": "What kind of step it is"}
    return {"type": "object", "required": ["type"], "properties": {"type": type_}, "allOf": chosen}


def _kind(name: str) -> dict[str, Any]:
    return _with_steps(_form(_name(name), KINDS[name].said), *KINDS[name].blocks)


def _task() -> dict[str, Any]:
    form = _with_steps(_form("SubAgentTask", TaskShape), "steps")
    form["properties"]["steps"]["minItems"] = 1
    errors = _with_steps(_form("SubAgentTask", TaskErrorsShape), "cleanup_on_error")
    form["properties"]["error_handling"] = {**errors, "description": "What happens when one fails"}
    known = _form("SubAgentTask", InputShape)
    values = {"type": ["string", "number", "boolean", "array", "null"]}
    _each(form["properties"]["inputs"], {"anyOf": [values, known]})
    return form


def _each(form: dict[str, Any], value: dict[str, Any]) -> None:
    """Whatever stands under a key that may be one."""
    form["patternProperties"] = dict.fromkeys(form["patternProperties"], value)
    form["additionalProperties"] = False


def _with_steps(form: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        form["properties"][key] = {**_STEPS, "description": form["properties"][key].get("description", "")}
    return form


def _form(name: str, model: type[BaseModel]) -> dict[str, Any]:
    """With its parts within it: those of different forms may have the same name."""
    return model.model_json_schema(by_alias=True, ref_template=f"#/$defs/{name}/$defs/{{model}}")


def _name(kind: str) -> str:
    return f"Step_{kind}"
