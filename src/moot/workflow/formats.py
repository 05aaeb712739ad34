"""Formats of what goes in and comes out: read, and compared where one agent's output is another's input."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from moot.core.formats import DATA, NAMED, Format
from moot.core.problems import Problem, spell
from moot.core.yaml import Path
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
        dead = next(_dead(found.schema), None)
    except SchemaError as error:
        inner = tuple(error.absolute_path)
        path = (*place, "schema", *inner)
        return Problem(path, f"`{spell(path)}` is no JSON Schema: {error.message[:_MOST]}", "See json-schema.org.")
    except RecursionError:
        return Problem((*place, "schema"), f"`{spell(place)}`: the schema has too many levels", "Use fewer.")
    if dead is None:
        return None
    path, to = (*place, "schema", *dead[0]), dead[1]
    return Problem(path, f"`{spell(path)}` leads nowhere: {to[:_MOST]!r}", "Nothing is fetched: put it under `$defs`.")


def _dead(schema: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """References to what is not there, with their places."""
    from jsonschema_specifications import REGISTRY  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415

    return _dead_in(schema, (), cast(Any, REGISTRY).resolver_with_root(DRAFT202012.create_resource(cast(Any, schema))))


def _dead_in(node: object, path: Path, resolver: Any) -> Iterator[tuple[Path, str]]:
    from referencing.exceptions import Unresolvable  # noqa: PLC0415
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415

    if isinstance(node, list):
        for number, one in enumerate(cast(list[object], node)):
            yield from _dead_in(one, (*path, number), resolver)
    if not isinstance(node, Mapping):
        return
    schema = cast(Mapping[str, Any], node)
    inner = resolver.in_subresource(DRAFT202012.create_resource(cast(Any, schema)))
    for key, value in schema.items():
        if key in ("$ref", "$dynamicRef") and isinstance(value, str):
            try:
                is_there = isinstance(inner.lookup(value).contents, Mapping | bool)
            except (Unresolvable, ValueError, TypeError):  # the latter for what is no address
                is_there = False
            if not is_there:
                yield (*path, key), value
        elif key in NAMED and isinstance(value, Mapping):
            for name, one in cast(Mapping[str, object], value).items():
                yield from _dead_in(one, (*path, key, name), inner)
        elif key not in DATA:
            yield from _dead_in(value, (*path, key), inner)


def mismatch(given: Format, input: Format, called: str = "output") -> tuple[str, str] | None:
    """Why the one cannot be taken for the other, and what to do."""
    if input.kind == "markdown":
        return None  # JSON can be read as words
    if given.kind == "markdown":
        fact = f"its {called} is markdown, and that one takes json"
        return fact, f"Write {called}: json, or let the other take markdown."
    if input.schema is None:
        return None
    clash = next(_clashes(given.schema or {}, input.schema), None)
    if clash is not None:
        fact = f"that one takes `{clash[:80]}` of another type than its {called} has"
        return fact, "Give both the same type."
    lacking = [name for name in _required(input.schema) if name not in _required(given.schema or {})]
    if not lacking:
        return None
    names = ", ".join(f"`{name[:80]}`" for name in lacking)
    return f"that one requires {names}, which its {called} need not have", f"Add them to `required` of the {called}."


def _clashes(given: Mapping[str, Any], taken: Mapping[str, Any]) -> Iterator[str]:
    """Properties that have a type in both, and none in common."""
    for name, schema in _properties(taken).items():
        here, there = _types(_properties(given).get(name)), _types(schema)
        if here and there and here.isdisjoint(there) and not (here == {"integer"} and "number" in there):
            yield name


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return schema.get("properties", {})


def _types(schema: object) -> set[str]:
    """Empty: it does not say."""
    said = cast(Mapping[str, Any], schema).get("type") if isinstance(schema, Mapping) else None
    return {said} if isinstance(said, str) else set(cast(list[str], said or ()))


def _required(schema: Mapping[str, Any]) -> list[str]:
    return [str(name) for name in schema.get("required", ())]
