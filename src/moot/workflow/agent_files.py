"""Agent files: Markdown with a head of YAML between two lines of `---`; the rest is the system prompt."""

import re
from pathlib import Path

from moot.core import yaml
from moot.core.errors import MootError
from moot.core.problems import Problem
from moot.core.records import record
from moot.core.yaml import Document, YamlInvalid
from moot.workflow import drafts
from moot.workflow.drafts import Text

_OPENED = re.compile(r"---[ \t]*\r?\n")
_HEAD = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


@record
class AgentFile:
    head: Document
    prompt: str
    body: Text  # the file as text, for places in the prompt


@record
class _Spot(Document):
    """A file that could not be read beyond one place."""

    at: tuple[int, int] = (1, 1)

    def place(self, path: yaml.Path, *, key: bool = False) -> tuple[int, int]:
        return self.at


def fault(file: Path, error: MootError) -> tuple[Document, Problem]:
    """Why `read` refused the file, where that is known with the place."""
    found = re.match(rf"{re.escape(str(file))}:(\d+):(\d+)(:| is not YAML:) ", error.fact)
    if found is None:
        return _Spot(str(file), None, None), Problem((), error.fact.rstrip("."), error.remedy)
    line, column, colon = found.groups()
    fact = f"{'this is not YAML: ' if colon != ':' else ''}{error.fact[found.end() :].rstrip('.')}"
    return _Spot(str(file), None, None, at=(int(line), int(column))), Problem((), fact, error.remedy)


def read(file: Path) -> AgentFile:
    """The head with its places in the file, and the prompt."""
    text = drafts.read_text(file)
    found = _HEAD.match(text)
    if found is None and _OPENED.match(text):
        raise YamlInvalid(f"{file}:1:1: no second line `---` ends this head.", "Write it before the prompt.")
    prompt = text[found.end() if found else 0 :].strip()
    head = yaml.read("\n" + found[1], str(file)) if found else None  # lines count from the file's first
    if head is None or head.data is None:
        head = Document(str(file), {}, head.root if head else None)
    return AgentFile(head, prompt, drafts.as_text(file, text, prompt))
