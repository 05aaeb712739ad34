"""YAML as people expect it: `yes` and `on` are text, keys come once, and no file can blow up in memory."""

import re
from collections.abc import Callable
from typing import Any, cast

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from moot.core.errors import InvalidInput

_MOST_ALIASES = 100
_DROPPED = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("bool", "int", "float", "timestamp"))


class YamlInvalid(InvalidInput):
    """The text cannot be read as YAML, or not in one way only."""

    code = "YAML_INVALID"


class _Loader(yaml.CSafeLoader):
    """Safe data only, with the booleans and numbers of YAML 1.2."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # as in the class it replaces
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in _DROPPED]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


def _resolve(kind: str, pattern: str, first: str) -> None:
    # PyYAML says nothing of its types here.
    _Loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
        f"tag:yaml.org,2002:{kind}", re.compile(rf"(?:{pattern})$"), list(first)
    )


_resolve("bool", "true|True|TRUE|false|False|FALSE", "tTfF")
_resolve("int", "[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+", "-+0123456789")
_resolve("float", r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+)", "-+.0123456789")


def load(text: str | bytes, name: str) -> Any:
    """Plain data; YamlInvalid names the file, line and column."""
    try:
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None
            _check(root, name)
            make = cast(Callable[[Node], Any], loader.construct_document)  # pyright: ignore[reportUnknownMemberType]
            return make(root)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise YamlInvalid(f"{name}{_place(error)} is not YAML: {_problem(error)}.", "Mend it and try again.") from error
    except (ValueError, RecursionError) as error:
        raise YamlInvalid(f"{name} cannot be read: {error}.", "Mend it and try again.") from error


def _check(root: Node, name: str) -> None:
    """No key twice, nothing inside itself, and few uses of one anchor: those multiply."""
    seen: set[int] = set()
    aliases = 0

    def walk(node: Node, above: frozenset[int]) -> None:
        nonlocal aliases
        if id(node) in above:
            raise YamlInvalid(f"{name}:{_mark(node)}: this contains itself.", "Write it out.")
        if id(node) in seen:
            aliases += 1
            if aliases > _MOST_ALIASES:
                raise YamlInvalid(f"{name} uses more than {_MOST_ALIASES} aliases.", "Write the values out.")
            return
        seen.add(id(node))
        for child in _children(node, name):
            walk(child, above | {id(node)})

    walk(root, frozenset())


def _children(node: Node, name: str) -> list[Node]:
    if isinstance(node, MappingNode):
        _check_keys(node, name)
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, SequenceNode) else []


def _check_keys(node: MappingNode, name: str) -> None:
    found: set[str] = set()
    for key, _ in node.value:
        if isinstance(key.value, str):
            if key.value in found:
                raise YamlInvalid(f"{name}:{_mark(key)}: {key.value!r} stands here a second time.", "Keep one.")
            found.add(key.value)


def _mark(node: Node) -> str:
    return f"{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return "" if mark is None else f":{mark.line + 1}:{mark.column + 1}"


def _problem(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or error)
