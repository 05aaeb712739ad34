"""The other spelling of the tools for workflows with steps, with dots: for clients and texts that call them so. All
other tools have one name."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

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


@cache
def _names() -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(DOTTED)})\b")
