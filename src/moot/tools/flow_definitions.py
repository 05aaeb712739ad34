"""Definitions by name: which there are, what each asks for, what it says, and what it would do."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, JsonValue

from moot.core import json, yaml
from moot.core.library import Source
from moot.core.tool import EVERYONE, Call, Tool
from moot.engine import explaining
from moot.engine.definition import Definition, InputField
from moot.engine.files import compiling
from moot.engine.flow import beginning
from moot.tools.shapes import Arguments, Detail, Name, Result, written

Named = Annotated[Name, Field(description="Its name, such as standards:fix.")]


class Look(Arguments):
    include_global: Annotated[bool, Field(description="Also your own, beside those of the project.")] = True


class One(Arguments):
    workflow: Named


class Explain(Arguments):
    workflow: Named
    inputs: Annotated[Detail, Field(description="What it would be started with.")] = Field(default_factory=dict)


class DefinitionCard(Result):
    name: str
    path: str
    description: str
    source: str


class DefinitionCards(Result):
    workflows: tuple[DefinitionCard, ...]


class InputCard(Result):
    type: str
    required: bool
    default: JsonValue = None
    description: str = ""
    options: tuple[JsonValue, ...] | None = None  # the only values that it may have


class InfoCard(Result):
    name: str
    description: str
    version: str
    inputs: Mapping[str, InputCard]
    found_at: str


class LoadedCard(Result):
    name: str
    steps: tuple[JsonValue, ...]
    state_schema: Mapping[str, JsonValue]
    default_state: Mapping[str, JsonValue]
    sub_agent_tasks: Mapping[str, JsonValue]
    loaded_from: str
    source: str
    resolved_imports: tuple[str, ...] = ()


class PlanCard(Result):
    steps: tuple[Mapping[str, JsonValue], ...]
    estimated_duration: str
    required_tools: tuple[str, ...]


async def look(call: Call, arguments: Look) -> DefinitionCards:
    found = await asyncio.to_thread(lambda: call.library.listed(with_global=arguments.include_global))
    return DefinitionCards(
        workflows=tuple(
            DefinitionCard(name=one.name, path=one.path, description=one.description, source=one.origin)
            for one in found
        )
    )


async def info(call: Call, arguments: One) -> InfoCard:
    source, definition = await _found(call, arguments.workflow)
    return InfoCard(
        name=arguments.workflow,
        description=definition.description,
        version=definition.version,
        inputs={one.name: _input(one) for one in definition.inputs},
        found_at=source.path,
    )


async def load(call: Call, arguments: One) -> LoadedCard:
    source, _ = await _found(call, arguments.workflow)
    name, text = source.files[0]
    data: Any = yaml.read(text, name).data
    said: Mapping[str, Any] = data.get("workflow") if isinstance(data.get("workflow"), Mapping) else data
    return LoadedCard(
        name=arguments.workflow,
        steps=tuple(said.get("steps") or ()),
        state_schema=said.get("state_schema") or {},
        default_state=said.get("default_state") or {},
        sub_agent_tasks=said.get("sub_agent_tasks") or {},
        loaded_from=source.path,
        source=source.origin,
        resolved_imports=tuple(one for one, _ in source.files[1:]),
    )


async def explain(call: Call, arguments: Explain) -> PlanCard:
    _, definition = await _found(call, arguments.workflow)
    given: Any = dict(arguments.inputs)
    plan: Any = explaining.to_json(explaining.explain(definition, beginning.inputs(definition, given)))
    return PlanCard.model_validate_json(json.dumps(plan))


async def _found(call: Call, name: str) -> tuple[Source, Definition]:
    source = await asyncio.to_thread(call.library.find, name)
    return source, await asyncio.to_thread(compiling.compiled, source.files)


def _input(one: InputField) -> InputCard:
    default: Any = one.default
    options: Any = one.options or None
    return InputCard(
        type=one.type, required=one.is_required, default=default, description=one.description, options=options
    )


TOOLS = (
    Tool(
        name="workflow_definitions",
        group="flow",
        words="See which workflows of steps can be started by name.",
        effect="none",
        arguments=Look,
        result=DefinitionCards,
        function=look,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="workflow_get_info",
        group="flow",
        words="See what a workflow is for, and which inputs it needs.",
        effect="none",
        arguments=One,
        result=InfoCard,
        function=info,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="workflow_load_definition",
        group="flow",
        words="Read a workflow as it is written.",
        effect="none",
        arguments=One,
        result=LoadedCard,
        function=load,
        text=written,
        roles=EVERYONE,
    ),
    Tool(
        name="workflow_explain_plan",
        group="debug",
        words="See what a workflow would do, step by step, and which tools it needs.",
        effect="none",
        arguments=Explain,
        result=PlanCard,
        function=explain,
        text=written,
        roles=EVERYONE,
    ),
)
