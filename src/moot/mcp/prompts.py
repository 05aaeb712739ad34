"""Prompts: what an agent is told who carries out a workflow, or one task of it; for those who hold the tools for it."""

from collections.abc import Callable, Mapping

import mcp_types as types

from moot.core.caller import Caller
from moot.core.records import record
from moot.tools import flow_prompts, spellings, table
from moot.tools.spellings import Spelling

_NEEDED = "workflow_get_next_step"
_LONGEST = 4000  # characters of an argument


@record
class Prompt:
    name: str
    words: str
    arguments: Mapping[str, str]  # with what each is; none has to be given
    told: Callable[[Mapping[str, str]], str]


PROMPTS: Mapping[str, Prompt] = {
    one.name: one
    for one in (
        Prompt(
            "workflow",
            "Carry out a workflow step by step.",
            {
                "workflow": "Its name, such as standards:fix; or the id of one to go on with.",
                "inputs": "What it needs, as key=value, with spaces between.",
            },
            flow_prompts.orchestrator,
        ),
        Prompt(
            "workflow_sub_agent",
            "Do one task of a workflow that another agent carries out.",
            {"workflow_id": "Of the workflow.", "task_id": "As it was handed out."},
            flow_prompts.sub_agent,
        ),
    )
}


def listed(caller: Caller) -> list[types.Prompt]:
    return [_described(one) for one in PROMPTS.values()] if _is_for(caller) else []


def get(caller: Caller, name: str, given: Mapping[str, str], spelling: Spelling) -> types.GetPromptResult | None:
    """None if there is none of this name for the caller."""
    found = PROMPTS.get(name)
    if found is None or not _is_for(caller):
        return None
    text = found.told({key: value[:_LONGEST] for key, value in given.items() if key in found.arguments})
    said = types.TextContent(type="text", text=spellings.in_words(text, spelling))
    return types.GetPromptResult(description=found.words, messages=[types.PromptMessage(role="user", content=said)])


def _is_for(caller: Caller) -> bool:
    return table.is_offered(table.TOOLS[_NEEDED], caller)


def _described(one: Prompt) -> types.Prompt:
    arguments = [types.PromptArgument(name=name, description=words) for name, words in one.arguments.items()]
    return types.Prompt(name=one.name, description=one.words, arguments=arguments)
