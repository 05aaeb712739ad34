"""The other spelling of the tools for workflows with steps, with dots: for clients and texts that call them so. All
other tools have one name."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from moot.core import json
from moot.core.json import Json
from moot.core.records import replace
from moot.core.tool import ToolAnswer

Spelling = Literal["underscored", "dotted"]
DOTTED: Mapping[str, str] = {
    "workflow_get_info": "workflow.get_info",
    "workflow_start": "workflow.start",
    "workflow_get_next_step": "workflow.get_next_step",
    "workflow_step_complete": "workflow.step_complete",
    "workflow_checkpoint": "workflow.checkpoint",
    "workflow_resume": "workflow.resume",
    "workflow_complete": "workflow.complete",
    "workflow_load_definition": "workflow.load_definition",
    "workflow_definitions": "workflow.list",
    "workflow_list": "workflow.instances",
    "workflow_state_read": "workflow_state.read",
    "workflow_state_update": "workflow_state.update",
    "workflow_state_dependencies": "workflow_state.dependencies",
    "workflow_trace_transformations": "workflow.trace_transformations",
    "workflow_debug_info": "workflow.debug_info",
    "workflow_test_transformation": "workflow.test_transformation",
    "workflow_explain_plan": "workflow.explain_plan",
}
_OWN = {dotted: own for own, dotted in DOTTED.items()}


def own(name: str) -> str:
    """The name in the table of tools, of either spelling."""
    return _OWN.get(name, name)


def spelled(name: str, spelling: Spelling) -> str:
    return DOTTED.get(name, name) if spelling == "dotted" else name


def in_words(text: str, spelling: Spelling) -> str:
    """A text that names tools, with their names in this spelling."""
    return _names().sub(lambda found: DOTTED[found[0]], text) if spelling == "dotted" else text


def answered(answer: ToolAnswer, spelling: Spelling) -> ToolAnswer:
    """What moot itself says of tools in an answer: how a step is done, and what helps against a refusal. All else is
    the words of others."""
    if spelling != "dotted":
        return answer
    if answer.is_error:
        error = _with(answer.structured.get("error"), ("message", "remedy"))
        return replace(answer, text=in_words(answer.text, spelling), structured={**answer.structured, "error": error})
    step = answer.structured.get("step")
    if not isinstance(step, Mapping):
        return answer
    said = {**_with(step, ("instructions",)), "definition": _with(step.get("definition"), ("sub_agent_prompt",))}
    structured: dict[str, Json] = {**answer.structured, "step": said}
    text = answer.text.replace(json.dumps(answer.structured), json.dumps(structured), 1)  # mail may stand behind it
    return replace(answer, text=text, structured=structured)


def _with(said: Json, keys: tuple[str, ...]) -> dict[str, Json]:
    """The same with dots in these of its texts."""
    found = said if isinstance(said, Mapping) else dict[str, Json]()
    told = {key: in_words(text, "dotted") for key in keys if isinstance(text := found.get(key), str)}
    return {**found, **told}


@cache
def _names() -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(DOTTED)})\b")
