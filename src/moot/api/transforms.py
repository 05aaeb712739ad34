"""Trying a transform in the sandbox: one that is typed, or that of a computed field of a workflow."""

from collections.abc import Mapping, Sequence
from typing import cast

from moot.api import access
from moot.app import workflows
from moot.core import json
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.nearest import hint
from moot.engine.expressions import javascript
from moot.engine.expressions.evaluation import Evaluation
from moot.engine.files import compiling
from moot.engine.state import reactive
from moot.engine.state.schema import Computed
from moot.tools import flow_debug
from moot.tools.flow_debug import TestCard

INPUT = "input"


async def tried(transform: str, given: Json, context: Mapping[str, Json]) -> TestCard:
    names = javascript.free_names(transform) & context.keys()
    evaluation = Evaluation(transform, tuple((name, f"own.{name}") for name in sorted(names)), (INPUT,))
    scope = {INPUT: json.dumps(given), **{f"own.{name}": json.dumps(context[name]) for name in names}}
    return await flow_debug.tried(scope, evaluation)


async def tried_field(target: str, field: str, given: Json, context: Mapping[str, Json]) -> TestCard:
    """The field as the file has it, with its fallback and what it must hold to."""
    project = access.find_project()
    files = workflows.read(project, workflows.find(project, target)).flow
    schema = compiling.compiled(files).schema if files else None
    name = field.removeprefix("computed.")
    if schema is None or name not in schema.computed:
        known = [] if schema is None else list(schema.computed)
        remedy = hint(name, known) if known else "Name a file with computed fields."
        raise InvalidInput(f"{target} has no computed field {name[:80]!r}.", remedy)
    one = schema.computed[name]
    known = {key: json.dumps(value) for key, value in _sources(one, given).items()}
    own = {f"computed.{key}" if key in schema.computed else f"raw.{key}": json.dumps(context[key]) for key in context}
    scope = {**own, **known}
    return await flow_debug.tried(scope, reactive.evaluation(one, scope, schema))


def _sources(one: Computed, given: Json) -> dict[str, Json]:
    """What it is made from: one value, or a list of as many as it names."""
    if not one.lists_inputs:
        return {one.sources[0]: given}
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != len(one.sources):
        named = ", ".join(one.sources)
        raise InvalidInput(
            f"{one.name} is made from {len(one.sources)} fields.", f"Give --input as a list of these: {named}."
        )
    return dict(zip(one.sources, cast(Sequence[Json], given), strict=True))
