"""Write docs/reference: commands, tools, workflow files and error codes, each from the code that decides about it.

`python scripts/reference.py` writes the pages; `stale` tells which of them are not what it would write.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from moot.api import checking
from moot.cli import program
from moot.core import tool_schemas
from moot.core.tool import Tool
from moot.tools import table

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
NOTE = "Made from the code by `scripts/reference.py`; do not edit it here."
Json = Mapping[str, Any]
HEAD = ("| key | | |", "|---|---|---|")
DEEPEST = 3  # keys within keys
TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "keys and values",
}
EXITS = {1: "1", 2: "2 (wrong usage)"}
# Forms of the schema under the names that people know them by, in the order of the page.
FORMS = {
    "InputShape": "inputs: NAME",
    "DefaultsShape": "defaults",
    "AgentShape": "agents: NAME",
    "PermissionsShape": "permissions",
    "BudgetShape": "budget",
    "RetryShape": "retry",
    "ContextShape": "context",
    "ConfigShape": "context: config",
    "SetupShape": "setup",
    "TaskShape": "tasks",
    "NeedShape": "tasks: depends_on",
    "LimitsShape": "limits",
    "NotifyShape": "notify",
    "LedTeamShape": "team of a workflow",
    "RouterShape": "router",
    "TeamShape": "team of an agent",
    "FormatShape": "input, output",
    "AgentFile": "the head of an agent file",
    "Line": "script",
    "Answer": "answers",
    "SubAgentTask": "sub_agent_tasks: NAME",
}


def main() -> int:
    for name, text in pages().items():
        file = FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        print(f"wrote {file.relative_to(ROOT)}")
    return 0


def stale() -> Iterator[str]:
    """Pages that are missing, or say something else than the code."""
    for name, text in pages().items():
        file = FOLDER / name
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            yield f"{file.relative_to(ROOT)}: is not what the code says; run: python scripts/reference.py"


def pages() -> Mapping[str, str]:
    made: Mapping[str, Callable[[], Iterator[str]]] = {
        "commands.md": commands,
        "tools.md": tools,
        "workflow-file.md": workflow_file,
        "error-codes.md": error_codes,
    }
    return {name: "\n".join(lines()).rstrip() + "\n" for name, lines in made.items()}


def commands() -> Iterator[str]:
    yield from ("# Commands", "", NOTE, "")
    yield "`--json` wherever data is printed. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a limit was reached,"
    yield "4 waiting for a person, 130 interrupted."
    for section, listed in program.SECTIONS.items():
        yield from ("", f"## {section}")
        for name, (_, line) in listed.items():
            found = program.program.get_command(click.Context(program.program), name)
            assert found is not None
            yield from ("", f"### moot {name}", "", f"{line}.", "")
            yield from _command(found, f"moot {name}")


def _command(command: click.Command, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    yield from ("```", f"{name} {usage}".rstrip(), "```", "")
    yield from _paragraphs(command.help or "")
    options = [one for one in command.get_params(context) if isinstance(one, click.Option) and one.name != "help"]
    rows = [record for one in options if (record := one.get_help_record(context)) is not None]
    if rows:
        yield from ("| option | |", "|---|---|")
        yield from (f"| `{_cell(names)}` | {_cell(words)} |" for names, words in rows)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None and not found.hidden:
                yield from ("", f"#### {name} {inner}", "")
                yield from _command(found, f"{name} {inner}")


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text.replace("\b\n", "").strip()):
        yield from (" ".join(paragraph.split()), "")


def tools() -> Iterator[str]:
    yield from ("# Tools", "", NOTE, "")
    yield "What agents call, over MCP and in process; [the tools](../tools.md) has them on one page. An argument with *"
    yield "is needed."
    groups: dict[str, list[Tool]] = {}
    for tool in table.TOOLS.values():
        groups.setdefault(tool.group, []).append(tool)
    for group, members in groups.items():
        yield from ("", f"## {group}")
        for tool in members:
            hidden = " Another name, which is not listed." if tool.is_hidden else ""
            yield from ("", f"### {tool.name}", "", f"{tool.words}{hidden}", "")
            yield from _tool(tool)


def _tool(tool: Tool) -> Iterator[str]:
    arguments: Any = tool_schemas.arguments(tool)
    rows = list(_fields(arguments, arguments))
    if rows:
        yield from ("| argument | | |", "|---|---|---|", *rows, "")
    result: Any = tool_schemas.result(tool)
    answered = ", ".join(f"`{name}`" for name in result.get("properties", {}))
    yield f"Answers {answered}." if answered and not tool.is_text_only else "Answers in words."


def workflow_file() -> Iterator[str]:
    schema: Any = checking.editor_schema()
    forms: dict[str, Any] = schema["$defs"]
    yield from ("# The workflow file", "", NOTE, "")
    yield "[Write a workflow](../workflows.md) and [write a step workflow](../steps.md) say how to use it;"
    yield "`moot check --schema` prints the same as JSON Schema for editors. A key with * is needed. Keys may also be"
    yield "written in camelCase."
    yield from ("", "## The file", "", *HEAD, *_fields(schema, schema))
    common = frozenset(forms["DefaultsShape"]["properties"])
    for form, heading in FORMS.items():
        yield from ("", f"## {heading}", "")
        is_agent = form in ("AgentShape", "AgentFile")
        if is_agent:
            yield from ("All keys of [defaults](#defaults), and:", "")
        yield from (*HEAD, *_fields(forms[form], schema, left_out=common if is_agent else frozenset()))
    for form in sorted(one for one in forms if one.startswith("Step_")):
        yield from ("", f"## step: {form.removeprefix('Step_')}", "", *HEAD, *_fields(forms[form], schema))


def _fields(form: Json, root: Json, prefix: str = "", left_out: frozenset[str] = frozenset()) -> Iterator[str]:
    """A row for each key: its name, what it may be, what it is for; and for what is within it, if that stands nowhere
    else."""
    needed = cast(list[str], form.get("required", []))
    for name, one in cast(Mapping[str, Json], form.get("properties", {})).items():
        if one.get("deprecated") or name in left_out:
            continue
        mark = "*" if name in needed else ""
        default = one.get("default")
        said = f"By default `{default}`." if default not in (None, "", [], {}, False) else ""
        words = _cell(str(one.get("description", ""))).rstrip(".")
        told = " ".join(part for part in (f"{words}." if words else "", said) if part)
        yield f"| `{prefix}{name}`{mark} | {_type(one, root)} | {told} |".replace("|  |", "| |")
        if prefix.count(".") < DEEPEST:
            for suffix, inner in _within(one, root):
                yield from _fields(inner, root, f"{prefix}{name}{suffix}.")


def _within(one: Json, root: Json) -> Iterator[tuple[str, Json]]:
    """Forms with keys of their own that have no heading, and how they are reached from here."""
    if "$ref" in one:
        if _heading(str(one["$ref"])) is None:
            yield from _within(_resolved(str(one["$ref"]), root), root)
    elif "properties" in one:
        yield "", one
    for part in (*one.get("anyOf", ()), *one.get("oneOf", ())):
        yield from _within(part, root)
    if isinstance(items := one.get("items"), Mapping):
        yield from ((f"[]{suffix}", form) for suffix, form in _within(cast(Json, items), root))
    for form in _by_name(one):
        yield from ((f".NAME{suffix}", inner) for suffix, inner in _within(form, root))


def _by_name(one: Json) -> Iterator[Json]:
    """Of keys that people choose: what stands behind each."""
    for form in (one.get("additionalProperties"), *cast(Json, one.get("patternProperties", {})).values()):
        if isinstance(form, Mapping):
            yield cast(Json, form)


def _type(one: Json, root: Json) -> str:
    if "$ref" in one:
        heading = _heading(str(one["$ref"]))
        return heading if heading is not None else _type(_resolved(str(one["$ref"]), root), root)
    if "enum" in one:
        return ", ".join(f"`{_cell(str(value))}`" for value in one["enum"])
    if "const" in one:
        return f"`{one['const']}`"
    if parts := one.get("anyOf") or one.get("oneOf"):
        found = dict.fromkeys(_type(part, root) for part in parts if part.get("type") != "null")
        return " or ".join(found)
    if one.get("type") == "array":
        inner = _type(one.get("items", {}), root)
        return "list" if inner == "anything" else f"list of {inner}"
    if named := [_type(form, root) for form in _by_name(one)]:
        return f"by name: {named[0]}"
    return TYPES.get(str(one.get("type")), "anything")


def _heading(pointer: str) -> str | None:
    """A link to where a form of the workflow file is told of."""
    name = pointer.removeprefix("#/$defs/")
    if name == "Step":
        return "step"
    if name not in FORMS or not pointer.startswith("#/$defs/"):
        return None
    return f"[{FORMS[name]}](#{re.sub(r'[^a-z_ -]', '', FORMS[name].lower()).replace(' ', '-')})"


def _resolved(pointer: str, root: Json) -> Json:
    if pointer == "#":
        return {"type": "object"}
    found: Any = root
    for part in pointer.removeprefix("#/").split("/"):
        found = found[part]
    return found


def error_codes() -> Iterator[str]:
    yield from ("# Error codes", "", NOTE, "")
    yield "The same in commands, tools and Python (`error.code`). Each comes with a fact and a remedy in words; the"
    yield "exit code is that of a command that ends with it."
    yield from ("", "| code | what it means | exit |", "|---|---|---|")
    known = _errors()
    found: dict[str, dict[str, str]] = {}
    for error in known:
        if error.code is not None:
            exit_code = _exit_code(error, known)
            found.setdefault(error.code, {})[error.meaning] = EXITS.get(exit_code, str(exit_code))
    for code, meanings in sorted(found.items()):
        words = " Or: ".join(_cell(one) for one in meanings)
        yield f"| `{code}` | {words} | {' or '.join(dict.fromkeys(meanings.values()))} |"


@dataclass(frozen=True, slots=True)
class Error:
    """A class as it is written: read from the source, because to import everything takes long."""

    name: str
    bases: tuple[str, ...]
    code: str | None
    exit_code: int | None
    meaning: str


def _errors() -> list[Error]:
    found: list[Error] = []
    for file in sorted((ROOT / "src" / "moot").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                said = {target: value for target, value in map(_assigned, node.body) if target}
                bases = tuple(one.id for one in node.bases if isinstance(one, ast.Name))
                code, exit_code = said.get("code"), said.get("exit_code")
                words = (ast.get_docstring(node) or "").split("\n\n")[0]
                meaning = words or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", node.name).capitalize() + "."
                is_code = isinstance(code, str) and code.isupper()
                found.append(
                    Error(
                        node.name,
                        bases,
                        str(code) if is_code else None,
                        exit_code if isinstance(exit_code, int) else None,
                        meaning,
                    )
                )
    return found


def _assigned(statement: ast.stmt) -> tuple[str, object]:
    """`name = constant` in the body of a class."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    value = getattr(statement, "value", None)
    if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
        return target.id, value.value
    return "", None


def _exit_code(error: Error, known: list[Error]) -> int:
    if error.exit_code is not None:
        return error.exit_code
    above = [one for base in error.bases for one in known if one.name == base and one is not error]
    return _exit_code(above[0], known) if above else 1


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    sys.exit(main())
