"""Whether a value fits a JSON Schema, and whether that is one. As a program it runs in a process of its own: some
schemas take years or all memory, and then it is ended without harm. Nothing is ever fetched."""

import json
import resource
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from moot.core.json import Json

NOT_APPLICABLE = "its schema cannot be applied to it"
_MEMORY = 1 << 30
_SECONDS = 20  # of computing, should nobody be there any more to end it


def mismatch(value: Json, schema: Mapping[str, Json]) -> str | None:
    """The first thing that does not fit."""
    # Only here: most agents report in words, and it takes a while to load.
    from jsonschema import Draft202012Validator, ValidationError  # noqa: PLC0415
    from jsonschema_specifications import REGISTRY  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]

    validator: Any = cast(Any, Draft202012Validator)(schema, registry=REGISTRY)
    try:
        error = cast("ValidationError | None", next(iter(validator.iter_errors(value)), None))
    except RecursionError:
        return "it has too many levels"
    except Exception:  # noqa: BLE001  # over what is no schema, the library stumbles in any way
        wrong = fault(schema)
        return NOT_APPLICABLE if wrong is None else f"{NOT_APPLICABLE}: {wrong}"
    if error is None:
        return None
    place = "/".join(str(part) for part in error.absolute_path)
    return f"{error.message[:300]}{f' (at {place})' if place else ''}"


def fault(schema: Mapping[str, Json]) -> str | None:
    """Why nothing could be checked by it."""
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415

    try:
        cast(Any, Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        return error.message[:300]
    except RecursionError:
        return "it has too many levels"
    return None


def main() -> None:
    with suppress(OSError, ValueError):  # not every system knows these limits
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    asked = json.loads(sys.stdin.read())
    if "schemas" in asked:
        found = next((wrong for wrong in map(fault, asked["schemas"]) if wrong is not None), None)
    else:
        found = mismatch(asked["value"], asked["schema"])
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main()
