"""The JSON Schema of workflow files and of the heads of agent files, for editors: made from the form they are read by,
with its words."""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel

from moot.core.json import Json
from moot.core.records import record
from moot.workflow import keys, shape
from moot.workflow.shape import AgentFileShape, FileShape

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SOMEBODY_OR_STEPS: list[Any] = [
    {"required": ["agents"]},
    {"required": ["team"]},
    {"required": ["steps"], "not": {"anyOf": [{"required": ["kickoff"]}, {"required": ["tasks"]}]}},
    {"required": ["sub_agent_tasks"], "not": {"anyOf": [{"required": ["kickoff"]}, {"required": ["tasks"]}]}},
    {"required": ["workflow"]},
]
_AGENT_FILE = "AgentFile"  # the head of one is `#/$defs/AgentFile`


@record
class FlowForms:
    """Schemas of the engine's sections by name, and those that they refer to under `$defs`."""

    sections: Mapping[str, Any]
    definitions: Mapping[str, Any]


def schema(line: type[BaseModel], answer: type[BaseModel], flow: FlowForms) -> dict[str, Json]:
    """Draft 2020-12. `line` is the form of a script's lines, `answer` that of a scripted model's, `flow` what is known
    of steps. Other spellings of keys are there too, marked as such."""
    made = FileShape.model_json_schema(by_alias=True)
    head = AgentFileShape.model_json_schema(by_alias=True)
    others = {**head.pop("$defs"), _AGENT_FILE: head, "Line": _whole("Line", line), "Answer": _whole("Answer", answer)}
    forms: dict[str, dict[str, Any]] = {**made["$defs"], **others}
    for part in (made, *forms.values()):
        _add_spellings(part)
        _forget_titles(part)
    for owner, field, form in (
        ("AgentShape", "script", "Line"),
        ("AgentShape", "answers", "Answer"),
        (_AGENT_FILE, "answers", "Answer"),
    ):
        lines = {"type": "array", "items": {"$ref": f"#/$defs/{form}"}}
        forms[owner]["properties"][field]["anyOf"][0] = lines
    steps: dict[str, Any] = {**flow.definitions}
    made["properties"]["workflow"] = {"$ref": "#", "description": "All of it, in a file that others import"}
    made["dependentSchemas"] = {"workflow": {"maxProperties": 1}}
    made["properties"] |= {name: flow.sections[name] for name in shape.FLOW_SECTIONS}
    for part in (made["properties"], *steps.values()):
        _forget_titles(part)
    forms |= steps
    return {"$schema": DIALECT, "title": "moot workflow", **made, "anyOf": _SOMEBODY_OR_STEPS, "$defs": forms}


def _whole(name: str, form: type[BaseModel]) -> dict[str, Any]:
    """With its parts within it: those of different forms may have the same name."""
    return form.model_json_schema(by_alias=True, ref_template=f"#/$defs/{name}/$defs/{{model}}")


def _add_spellings(part: dict[str, Any]) -> None:
    properties = cast(dict[str, Any], part.get("properties", {}))
    for name, form in list(properties.items()):
        others = {keys.camel(name)} - {name} if name not in shape.FLOW_SECTIONS else set[str]()
        if name == "options":
            others = {"enum"}
        for other in others:
            properties[other] = {**form, "description": f"Another spelling of {name}", "deprecated": True}


def _forget_titles(part: Any) -> None:
    """Pydantic's titles are the names of our classes."""
    if isinstance(part, dict):
        if isinstance(cast(dict[str, Any], part).get("title"), str):
            del part["title"]
        for inner in cast(dict[str, Any], part).values():
            _forget_titles(inner)
    elif isinstance(part, list):
        for inner in cast(list[Any], part):
            _forget_titles(inner)
