"""Agent files: Markdown with a head of YAML between two lines of `---`; the rest is the system prompt."""

import re
from dataclasses import dataclass
from pathlib import Path

from moot.core import yaml
from moot.core.yaml import Document
from moot.workflow import drafts
from moot.workflow.drafts import Text

_HEAD = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AgentFile:
    head: Document
    prompt: str
    body: Text  # the file as text, for places in the prompt


def read(file: Path) -> AgentFile:
    """The head with its places in the file, and the prompt."""
    text = drafts.read_text(file)
    found = _HEAD.match(text)
    prompt = text[found.end() if found else 0 :].strip()
    head = yaml.read("\n" + found[1], str(file)) if found else None  # lines count from the file's first
    if head is None or head.data is None:
        head = Document(str(file), {}, head.root if head else None)
    return AgentFile(head, prompt, drafts.as_text(file, text, prompt))
