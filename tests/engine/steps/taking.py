"""One step, as people write it, taken and finished by itself."""

from collections.abc import Mapping
from typing import Any

from moot.core import json, yaml
from moot.core.json import Json
from moot.core.records import replace
from moot.engine.definition import Definition, SubTask
from moot.engine.expressions.sandbox import Sandbox
from moot.engine.files import reading
from moot.engine.flow import advance as advancing
from moot.engine.flow.advance import Advanced, Footing
from moot.engine.state import fields
from moot.engine.step import Outcome, Work

OWN = {"workflow_id": '"wf_1"', "inputs": '{"branch":"main"}'}


def defined(said: str, *tasks: SubTask) -> Definition:
    """A definition of one step that is called `it`."""
    definition, problems = reading.read(yaml.read(_flow(said), "flow.yaml"), "flow")
    assert problems == []
    return replace(definition, tasks={one.name: one for one in tasks})


def told(said: str) -> str:
    """What is wrong with it, as it is told."""
    _, problems = reading.read(yaml.read(_flow(said), "flow.yaml"), "flow")
    assert len(problems) == 1, problems
    return f"{problems[0].fact}. {problems[0].remedy}"


async def work(sandbox: Sandbox, definition: Definition, **state: Json) -> Work:
    found = await taken(sandbox, definition, **state)
    assert found.work is not None
    json.dumps(found.work.definition)
    return found.work


async def taken(sandbox: Sandbox, definition: Definition, **state: Json) -> Advanced:
    return await advancing.advance(sandbox, definition, footing(state), OWN)


async def finished(
    sandbox: Sandbox, definition: Definition, outcome: Outcome, tries: int = 0, **state: Json
) -> Advanced:
    return await advancing.finish(sandbox, definition, footing(state, tries), outcome, OWN)


def footing(state: Mapping[str, Json], tries: int = 0) -> Footing:
    return Footing({f"raw.{name}": json.dumps(value) for name, value in state.items()}, tries=tries)


def written(found: Advanced) -> dict[str, Any]:
    """What is different then."""
    return fields.flat({key: text for key, text in found.change.fields.items() if text is not None})


def _flow(said: str) -> str:
    lines = said.strip("\n").splitlines()
    return "steps:\n  - id: it\n" + "".join(f"    {line}\n" for line in lines)
