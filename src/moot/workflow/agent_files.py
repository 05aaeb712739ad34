"""Agent files: Markdown with a head of YAML between two lines of `---`; the rest is the system prompt."""

import re
from pathlib import Path

from moot.core import yaml
from moot.core.yaml import Document
from moot.workflow import drafts

_HEAD = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def read(file: Path) -> tuple[Document, str]:
    """The head with its places in the file, and the prompt."""
    text = drafts.read_text(file)
    found = _HEAD.match(text)
    if found is None:
        return Document(str(file), {}, None), text.strip()
    head = yaml.read("\n" + found[1], str(file))  # lines count from the file's first
    empty = Document(head.name, {}, head.root) if head.data is None else head
    return empty, text[found.end() :].strip()
