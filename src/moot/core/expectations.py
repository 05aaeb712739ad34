"""What a value should have been, for each thing pydantic can find wrong with one."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from moot.core.nearest import nearest
from moot.core.records import record

# By pydantic's name for a value of the wrong type: what we call the right one.
KINDS = {
    "string_type": "text",
    "string_sub_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "none_required": "empty",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "keys and values",
    "mapping_type": "keys and values",
    "model_type": "keys and values",
    "model_attributes_type": "keys and values",
    "dataclass_type": "keys and values",
    "date_from_datetime_parsing": "a date like 2026-01-31",
    "date_type": "a date like 2026-01-31",
    "datetime_from_date_parsing": "a timestamp like 2026-01-31T09:30:00Z",
    "datetime_type": "a timestamp like 2026-01-31T09:30:00Z",
    "decimal_parsing": "a number",
    "decimal_type": "a number",
    "finite_number": "a finite number",
}
_REMEDIES = {
    "a whole number": "Write digits, without quotes.",
    "a number": "Write digits, without quotes.",
    "true or false": "Write true or false, without quotes.",
    "empty": "Leave it out.",
}


@record
class Writing:
    """How data was written, as far as what is said of it depends on that."""

    whole: str  # what all of it is called
    top: str  # remedies for what is no keys and values, where that is all of it, and below
    keys: str
    a_list: str


YAML = Writing(
    whole="this file",
    top="Write `key: value` lines.",
    keys="Write `key: value` lines below it, indented.",
    a_list="Begin each item on its own line with `- `, or write [one, two].",
)
JSON = Writing(
    whole="the arguments",
    top='Write an object: {"key": "value"}.',
    keys='Write an object: {"key": "value"}.',
    a_list='Write a list: ["one", "two"].',
)
# Text to YAML 1.2, and what it is likely to mean.
_SWITCHES = {
    "no": "false",
    "off": "false",
    "none": "false",
    "false": "false",
    "yes": "true",
    "on": "true",
    "true": "true",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "must be at least"),
    "greater_than": ("gt", "must be more than"),
    "less_than_equal": ("le", "must be at most"),
    "less_than": ("lt", "must be less than"),
}
Told = tuple[str, str, tuple[str, ...]]


def mismatch(kinds: Sequence[str], value: object, writing: Writing = YAML) -> tuple[str, str]:
    """Fact and remedy for a value of the wrong type; `kinds` are those that would do."""
    wanted = list(dict.fromkeys(kinds))
    if value is None:
        return f"must be {' or '.join(wanted)}, and is empty", "Fill it in, or leave it out."
    fact = f"must be {' or '.join(wanted)}, not {_described(value)}"
    meant = _SWITCHES.get(value.casefold()) if isinstance(value, str) and "true or false" in wanted else None
    if meant is not None:
        return fact, f"Write {meant}, without quotes."
    if "text" in wanted:
        return fact, "Put it in quotes." if isinstance(value, int | float) else "Write it as one text."
    remedies = {**_REMEDIES, "a list": writing.a_list, "keys and values": writing.keys}
    return fact, remedies.get(wanted[-1], "Write it like that.")


def _described(value: object) -> str:
    """The kind of a value. Not the value: that may be secret or huge."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return "a number"
        case str():
            return "text"
        case Mapping():
            return "keys and values"
        case Sequence():
            return "a list"
        case _:
            return "this"


def told(type_: str, context: Mapping[str, Any], value: object) -> Told:
    """Fact, remedy, and the key below the value that it is about, for everything but a wrong type."""
    unit = "character" if type_.startswith("string") else "value"
    match type_:
        case "literal_error" | "enum":
            return (*_choice(str(context["expected"]), value), ())
        case "union_tag_invalid":
            return (*_choice(str(context["expected_tags"]), context["tag"]), (context["discriminator"].strip("'"),))
        case "too_short" | "string_too_short":
            least = context["min_length"]
            fact = "must not be empty" if least == 1 else f"must have at least {_counted(least, unit)}"
            return fact, "Add to it.", ()
        case "too_long" | "string_too_long":
            return f"must not have more than {_counted(context['max_length'], unit)}", "Shorten it.", ()
        case "string_pattern_mismatch":
            return f"does not have the form {context['pattern']}", "Write it like that.", ()
        case _ if type_ in _BOUNDS:
            name, words = _BOUNDS[type_]
            return f"{words} {context[name]:.15g}", "Choose another number.", ()
        case _:
            return "cannot be this", "Write text, a number, true or false, a list, or keys and values.", ()


def _choice(expected: str, value: object) -> tuple[str, str]:
    choices = re.findall(r"'([^']*)'", expected) or [expected]
    near = nearest(value, choices) if isinstance(value, str) else None
    return f"must be one of {', '.join(choices)}", f"Did you mean {near}?" if near else "Choose one of them."


def _counted(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'' if number == 1 else 's'}"
