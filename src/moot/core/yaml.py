"""YAML as people expect it: `yes` and `on` are text, keys come once, no file can blow up in memory, and of everything
that was read it is known where it stands."""

import re
from collections.abc import Callable, Iterator
from typing import Any, cast

import yaml
from yaml.error import Mark
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from moot.core.errors import InvalidInput
from moot.core.records import record

Path = tuple[str | int, ...]  # of keys, and of places in lists, from the root

_MOST_ALIASES = 100
_MOST_VALUES = 1_000_000
_DEEPEST = 100
_MOST_DIGITS = 300  # of a number; Python itself reads no more than 4,300
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


@record
class Document:
    """What a text says, and where it says it."""

    name: str
    data: Any
    root: Node | None
    text: str = ""  # as it was written

    def place(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """Line and column of what stands at the path, or of its key; for what is missing, of what is nearest above.
        Behind a block of text (`|`), a number in the path is a place in that."""
        block = _found(self.root, path[:-1], key=False)
        at = path[-1] if path else None
        if isinstance(block, ScalarNode) and block.style == "|" and isinstance(at, int):
            return _place_in(block, at, self.text)
        node = _found(self.root, path, key=key)
        return (1, 1) if node is None else (node.start_mark.line + 1, node.start_mark.column + 1)

    def inside(self, key: str) -> "Document":
        """What stands below one key of it, as a document of its own, with the places of this one."""
        return Document(self.name, self.data[key], _found(self.root, (key,), key=False), self.text)


def load(text: str | bytes, name: str) -> Any:
    """Plain data; YamlInvalid names the file, line and column."""
    return read(text, name).data


def read(text: str | bytes, name: str) -> Document:
    """The same, with the place of every key and value."""
    try:
        _check_depth(text, name)
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return Document(name, None, None)
            _check(root, name)
            make = cast(Callable[[Node], Any], loader.construct_document)  # pyright: ignore[reportUnknownMemberType]
            return Document(name, make(root), root, text if isinstance(text, str) else text.decode(errors="replace"))
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise YamlInvalid(
            f"{name}{_place(error, text)} is not YAML: {_problem(error)}.", _remedy(error, text)
        ) from error
    except (ValueError, RecursionError) as error:
        raise YamlInvalid(f"{name} cannot be read: {error}.", "Mend it and try again.") from error


def _check_depth(text: str | bytes, name: str) -> None:
    """Before anything is made of it: what follows calls itself for every level."""
    depth = 0
    parse = cast(Callable[..., Iterator[yaml.Event]], yaml.parse)  # pyright: ignore[reportUnknownMemberType]
    for event in parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                fact = f"{name}:{_mark(event)}: this is more than {_DEEPEST} levels deep."
                raise YamlInvalid(fact, "Use fewer levels.")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _found(root: Node | None, path: Path, *, key: bool) -> Node | None:
    """Walked anew for every question: written down beforehand, the paths through nested aliases would be countless."""
    named = node = root
    for part in path:
        step = _step(node, part)
        if step is None:
            return named if key else node
        named, node = step
    return named if key else node


def _step(node: Node | None, part: str | int) -> tuple[Node, Node] | None:
    """The key's node and the value's; in a list, both are the value's."""
    if isinstance(node, MappingNode):
        # From the end: what a merge (`<<`) brought in stands before what overrides it.
        pairs = reversed(node.value)
        return next(((name, value) for name, value in pairs if name.value == str(part)), None)
    if isinstance(node, SequenceNode) and isinstance(part, int) and 0 <= part < len(node.value):
        return node.value[part], node.value[part]
    return None


def _place_in(block: ScalarNode, at: int, text: str) -> tuple[int, int]:
    """Its lines stand below its mark as they are, but for the indentation, which is that of the first with words."""
    before = block.value[:at]
    first = block.start_mark.line + 1
    written = next((line for line in text.splitlines()[first:] if line.strip(" ")), "")
    indentation = len(written) - len(written.lstrip(" "))
    return first + before.count("\n") + 1, indentation + len(before) - (before.rfind("\n") + 1) + 1


def _check(root: Node, name: str) -> None:
    """No key twice, nothing inside itself, and few uses of one anchor: those multiply."""
    sizes: dict[int, int] = {}
    aliases = 0

    def walk(node: Node, above: frozenset[int]) -> int:
        nonlocal aliases
        if id(node) in above:
            raise YamlInvalid(f"{name}:{_mark(node)}: this contains itself.", "Write it out.")
        if id(node) in sizes:
            aliases += 1
            if aliases > _MOST_ALIASES:
                raise YamlInvalid(f"{name} uses more than {_MOST_ALIASES} aliases.", "Write the values out.")
            return sizes[id(node)]
        size = 1 + sum(walk(child, above | {id(node)}) for child in _children(node, name))
        if size > _MOST_VALUES:
            raise YamlInvalid(f"{name}:{_mark(node)}: this is more than {_MOST_VALUES:,} values.", "Use fewer aliases.")
        return sizes.setdefault(id(node), size)

    walk(root, frozenset())


def _children(node: Node, name: str) -> list[Node]:
    if isinstance(node, MappingNode):
        _check_keys(node, name)
        return [part for pair in node.value for part in pair]
    if isinstance(node, SequenceNode):
        return node.value
    if "\0" in node.value:
        raise YamlInvalid(f"{name}:{_mark(node)}: this text holds a NUL character.", "Leave it out.")
    if node.tag == "tag:yaml.org,2002:int" and len(node.value) > _MOST_DIGITS:
        raise YamlInvalid(
            f"{name}:{_mark(node)}: this number has more than {_MOST_DIGITS} digits.", "Put it in quotes."
        )
    return []


def _check_keys(node: MappingNode, name: str) -> None:
    found: set[str] = set()
    for key, _ in node.value:
        if isinstance(key.value, str):
            if key.value in found:
                raise YamlInvalid(f"{name}:{_mark(key)}: {key.value!r} stands here a second time.", "Keep one.")
            found.add(key.value)


def _mark(node: Node | yaml.Event) -> str:
    return f"{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def _place(error: yaml.YAMLError, text: str | bytes) -> str:
    if isinstance(error, ReaderError):  # a byte that no text may hold: it has a position only
        before = (text.encode() if isinstance(text, str) else text)[: error.position].decode(errors="replace")
        return f":{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
    mark = getattr(error, "problem_mark", None)
    return "" if mark is None else f":{mark.line + 1}:{mark.column + 1}"


def _problem(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)


def _remedy(error: yaml.YAMLError, text: str | bytes) -> str:
    """What people mean when they write this."""
    match _problem(error), _character(error, text):
        case "found character that cannot start any token", "\t":
            return "Indent with spaces, not with tabs."
        case "found character that cannot start any token", mark:
            return f'A value cannot begin with {mark}; put it in quotes: "{mark}…".'
        case "mapping values are not allowed in this context", _:
            return 'If the colon belongs to the text, put the whole value in quotes: "a: b". Else mend the indentation.'
        case "found undefined alias", _:
            return 'If the * belongs to the text, put the value in quotes: "*…".'
        case _:
            return "Mend it and try again."


def _character(error: yaml.YAMLError, text: str | bytes) -> str:
    """What stands where reading stopped."""
    mark: Mark | None = getattr(error, "problem_mark", None)
    lines = (text if isinstance(text, str) else text.decode(errors="replace")).splitlines()
    if mark is None or mark.line >= len(lines):
        return ""
    return lines[mark.line][mark.column : mark.column + 1]
