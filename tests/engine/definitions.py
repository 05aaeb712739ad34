"""Reads texts as files of definitions for tests."""

from moot.core import yaml
from moot.engine.definition import Definition
from moot.engine.files import reading


def found(text: str) -> tuple[Definition, list[str]]:
    """The definition, and what is wrong: `line:column: fact. remedy`."""
    document = yaml.read(text, "flow.yaml")
    definition, problems = reading.read(document, "flow.yaml")
    placed = [(*document.place(one.path, key=one.is_key), one) for one in problems]
    return definition, [f"{line}:{column}: {one.fact}. {one.remedy}" for line, column, one in placed]
