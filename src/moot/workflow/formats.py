"""Formats of what goes in and comes out: read, and compared where one agent's output is another's input."""

from collections.abc import Mapping
from typing import Any, cast

from moot.core.problems import Problem, spell
from moot.core.yaml import Path
from moot.workflow.patterns import Format
from moot.workflow.shape import FormatShape

_MOST = 300  # characters of what another library says


def read(said: str | FormatShape | None) -> Format:
    if not isinstance(said, FormatShape):
        return Format("json" if said == "json" else "markdown")
    schema = None if said.json_schema is None else dict(said.json_schema)
    return Format(said.format or ("markdown" if schema is None else "json"), schema)


def fault(found: Format, place: Path) -> Problem | None:
    """What is wrong with one by itself."""
    if found.schema is None:
        return None
    if found.kind == "markdown":
        return Problem((*place, "schema"), f"`{spell(place)}`: only JSON has a schema", "Write format: json.", True)
    # Only here: few agents have one, and it takes a while to load.
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    try:
        cast(Any, Draft202012Validator).check_schema(found.schema)
    except SchemaError as error:
        inner = tuple(error.absolute_path)
        path = (*place, "schema", *inner)
        return Problem(path, f"`{spell(path)}` is no JSON Schema: {error.message[:_MOST]}", "See json-schema.org.")
    except RecursionError:
        return Problem((*place, "schema"), f"`{spell(place)}`: the schema has too many levels", "Use fewer.")
    return None


def mismatch(output: Format, input: Format) -> tuple[str, str] | None:
    """Why the one cannot be taken for the other, and what to do."""
    if input.kind == "markdown":
        return None  # JSON can be read as words
    if output.kind == "markdown":
        return "its output is markdown, and that one takes json", "Write output: json, or let the other take markdown."
    if input.schema is None:
        return None
    lacking = [name for name in _required(input.schema) if name not in _required(output.schema or {})]
    if not lacking:
        return None
    names = ", ".join(f"`{name[:80]}`" for name in lacking)
    return f"that one requires {names}, which its output need not have", "Add them to `required` of the output."


def _required(schema: Mapping[str, Any]) -> list[str]:
    return [str(name) for name in schema.get("required", ())]
