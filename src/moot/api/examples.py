"""The examples that come with moot: listed, shown, copied, and run in a folder that is gone afterwards."""

import os
import re
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Literal

from moot.app.project import PEOPLE_FOLDER, Project
from moot.core.errors import InvalidInput, MootError
from moot.core.nearest import hint
from moot.core.records import record
from moot.views.files import FileRefused

Topic = Literal["talk", "plan", "team", "steps", "agents"]
_PACKAGED = Path(__file__).parents[1] / "examples"  # of a wheel
_CHECKOUT = Path(__file__).parents[3] / "examples"
_SENTENCE = re.compile(r"#\s*(.+?)(?:\s{2,}|$)", re.MULTILINE)
_DESCRIPTION = re.compile(r"^description:\s*(.+?)(?:\s{2,}|$)", re.MULTILINE)


class ExampleNotFound(InvalidInput):
    code = "EXAMPLE_NOT_FOUND"


class FileExists(MootError):
    """Nothing is ever written over."""

    code = "FILE_EXISTS"


@record
class Example:
    """Files below `base`, and the command that runs the first of them."""

    name: str
    topic: Topic
    base: str
    files: tuple[str, ...]
    command: tuple[str, ...]
    needs_git: bool = False
    needs_project: bool = False  # it looks at the files of a project, and shows nothing without

    @property
    def place(self) -> str:
        """Where it is copied to, if nobody says otherwise."""
        if ":" in self.command[1]:  # found by its name
            return f"{PEOPLE_FOLDER}/workflows"
        return "." if len(self.files) == 1 else self.name

    @property
    def sentence(self) -> str:
        text = self.text(self.files[0])
        found = _DESCRIPTION.search(text) if self.topic == "agents" else _SENTENCE.match(text)
        return found[1] if found else ""

    @property
    def spelled(self) -> str:
        """The command, as one would type it."""
        return " ".join(("moot", *(f'"{word}"' if " " in word else word for word in self.command)))

    def text(self, file: str) -> str:
        return (folder() / self.base / file).read_text(encoding="utf-8")


def _workflow(name: str, topic: Topic, *others: str, needs_git: bool = False, needs_project: bool = False) -> Example:
    base = "steps" if topic == "steps" else ""
    files, command = (f"{name}.yaml", *others), ("run", f"{name}.yaml")
    return Example(name, topic, base, files, command, needs_git=needs_git, needs_project=needs_project)


def _asked(name: str, first: str, *others: str, question: str, base: str | None = None) -> Example:
    return Example(name, "agents", f"agents/{base or name}", (first, *others), ("ask", first, question))


ALL = (
    _workflow("review", "talk"),
    _workflow("team", "talk"),
    _workflow("scribe", "talk"),
    _workflow("election", "talk"),
    _workflow("vote", "talk"),
    _workflow("person", "talk"),
    _workflow("budget", "talk"),
    _workflow("command", "talk"),
    _workflow("model", "talk"),
    _workflow("worktrees", "talk", needs_git=True),
    _workflow("plan", "plan"),
    _workflow("shared_plan", "plan", needs_git=True),
    Example(
        "hello",
        "team",
        "team",
        ("team.yaml", "worker.sh", "hello.sh", "check.sh", "words/en.txt"),
        ("team", "up", "say hello in German, French and Italian", "--file", "team.yaml"),
        needs_git=True,
    ),
    _workflow("release", "steps"),
    _workflow("quality", "steps", "shared/line_check.yaml"),
    _workflow("dependencies", "steps", needs_project=True),
    Example(
        "standards",
        "steps",
        "steps",
        ("standards/fix.yaml",),
        ("run", "standards:fix"),
        needs_git=True,
        needs_project=True,
    ),
    _asked("handoff", "draft.md", "editor.md", "approver.md", question="What does the parser do?"),
    _asked("router", "desk.md", "billing.md", "support.md", question="I was charged twice in May."),
    _asked("advisors", "release.md", "risk.md", "law.md", question="Ship it?"),
    _asked("panel", "panel.md", "lead.md", "security.md", "speed.md", question="Can this go out?", base="team"),
    _asked("clarify", "editor.md", "researcher.md", question="When was the first release?"),
    _asked("files", "fixer.md", "changes.txt", question="Is the list right?"),
    _asked("server", "clerk.md", "stock.py", question="What is there?"),
    _asked(
        "nested",
        "intake.md",
        *("builder.md", "critic.md", "desk.md", "expert.md", "lead.md", "panel.md", "tester.md"),
        question="How should rows be written?",
    ),
)


def folder() -> Path:
    """Where they lie: in the package, or beside it in a checkout."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


def find(name: str) -> Example:
    found = next((one for one in ALL if one.name == name), None)
    if found is None:
        known = [one.name for one in ALL]
        raise ExampleNotFound(f"There is no example {name[:80]!r}.", f"{hint(name, known)} See moot examples.")
    return found


def copy(example: Example, target: Path) -> list[Path]:
    """The files as they were written; FileExists if one of them would lie over another."""
    written = {target / PurePosixPath(one): example.text(one) for one in example.files}
    for file in written:
        if file.exists():
            raise FileExists(f"{file} is there already.", "Name another folder behind the example, or move it away.")
    for file, text in written.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise FileRefused(f"{file} cannot be written: {error.strerror}.", "Name another folder.") from error
    return list(written)


@contextmanager
def tried(example: Example) -> Generator[Project]:
    """A project with nothing in it but the example, as the current folder while the block runs; then it is gone."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="moot-example-", ignore_cleanup_errors=True) as name:
        root = Path(name).resolve()
        (root / PEOPLE_FOLDER).mkdir()
        copy(example, root)
        os.chdir(root)
        try:
            yield Project(root)
        finally:
            os.chdir(before)
