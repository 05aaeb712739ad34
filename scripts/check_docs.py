"""Check that what the documentation names exists: links, paths, packages and commands; and that the reference is what
the code says.

Reads the Markdown as text, line by line; it renders nothing and opens no network connection.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import reference

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = ("README.md", "CONTRIBUTING.md", "AGENTS.md", "docs/architecture.md")
BESIDES_DOCS = ("Makefile", "pyproject.toml", "requirements.lock")
SHELL_FENCES = {"", "sh", "bash", "shell", "zsh"}
NOT_COMMANDS = {"main"}

FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\w*)")
INLINE_CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(<?([^)\s>]+)>?[^)]*\)|^\s*\[[^\]]+\]:\s+<?(\S+?)>?(?:\s|$)|(?:href|src)=\"([^\"]+)\"")
EXTERNAL = re.compile(r"^(?:[a-z][a-z+.-]*:|//)")
REPOSITORY_PATH = re.compile(r"^(?:src|docs|tests|bench|scripts|examples)/[\w./-]*(?=$|[#:])")
PACKAGE_INDEX = re.compile(r"\b(?:[\w-]+\.)*(?:pypi|pythonhosted|npmjs|artifactory|devpi|jfrog)(?:\.[\w-]+)+")
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:work|root|home)\b(?!-)[\w./-]*")
PROMPT = re.compile(r"^\s*\$ (.+)")
COMMAND_LINE = re.compile(r"(?:^|[|;&(]\s*)(?:\.venv/bin/)?(?:moot|agent-worker)\s+([^|;&#]+)")
COMMAND = re.compile(r"^[a-z][a-z-]*$")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a Markdown file; `fence` is the language of the code block around it, if any."""

    number: int
    text: str
    fence: str | None


@dataclass(frozen=True, slots=True)
class Page:
    path: Path
    lines: tuple[Line, ...]

    def prose(self) -> Iterator[Line]:
        return (line for line in self.lines if line.fence is None)

    def code(self) -> Iterator[str]:
        for line in self.lines:
            yield from [line.text] if line.fence is not None else INLINE_CODE.findall(line.text)


def main() -> int:
    missing = [f"{name}: this file does not exist yet" for name in REQUIRED if not (ROOT / name).is_file()]
    paths = [ROOT / name for name in REQUIRED if (ROOT / name).is_file()]
    paths += [path for path in sorted((ROOT / "docs").rglob("*.md")) if path not in paths]
    pages = [read(path) for path in paths]
    faults = [*missing, *unnamed_packages(), *reference.stale()]
    for page in pages:
        faults += [*broken_links(page), *missing_paths(page), *foreign_names(page.path)]
        if page.path.name == "README.md":
            faults += unknown_commands(page)
    for name in BESIDES_DOCS:
        faults += foreign_names(ROOT / name)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"docs: {len(pages)} pages, {len(faults)} faults")
    return 1 if faults else 0


@cache
def read(path: Path) -> Page:
    lines: list[Line] = []
    opened: re.Match[str] | None = None
    for number, text in enumerate(path.read_text("utf-8").splitlines(), start=1):
        mark = FENCE.match(text)
        if mark and opened is None:
            opened = mark
        elif mark and opened and mark[1].startswith(opened[1]) and not mark[2]:
            opened = None
        else:
            lines.append(Line(number, text, opened[2] if opened else None))
    return Page(path, tuple(lines))


def broken_links(page: Page) -> Iterator[str]:
    """Relative links whose file or heading is not there."""
    for line in page.prose():
        for groups in LINK.findall(INLINE_CODE.sub("", line.text)):
            target = "".join(groups)
            if EXTERNAL.match(target):
                continue
            file, _, anchor = target.partition("#")
            found = (page.path.parent / file).resolve() if file else page.path
            if not found.is_relative_to(ROOT) or not found.exists():
                yield f"{place(page.path, line.number)}: link to {target}, but there is no such file"
            elif anchor and found.suffix == ".md" and anchor not in anchors(found):
                yield f"{place(page.path, line.number)}: link to {target}, but there is no such heading"


@cache
def anchors(path: Path) -> frozenset[str]:
    """The names GitHub gives to the headings of a page, a repeated heading numbered from 1."""
    names: list[str] = []
    for line in read(path).prose():
        if heading := re.match(r"#{1,6}\s+(.+?)\s*#*$", line.text):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            repeats = sum(re.fullmatch(re.escape(name) + r"(-\d+)?", other) is not None for other in names)
            names.append(f"{name}-{repeats}" if repeats else name)
    return frozenset(names)


def missing_paths(page: Page) -> Iterator[str]:
    """Paths of this repository in backticks that do not exist; `src/<name>.py` is a pattern, not a path."""
    for line in page.prose():
        for code in INLINE_CODE.findall(line.text):
            path = REPOSITORY_PATH.match(code)
            if path and not (ROOT / path[0]).exists():
                yield f"{place(page.path, line.number)}: names {path[0]}, which does not exist"


def foreign_names(path: Path) -> Iterator[str]:
    """Addresses of package indexes and paths of one machine, which mean nothing on another."""
    if not path.is_file():
        yield f"{path.relative_to(ROOT)}: this file does not exist yet"
        return
    for number, text in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if host := PACKAGE_INDEX.search(text):
            yield f"{place(path, number)}: names the package index {host[0]}"
        if machine := MACHINE_PATH.search(text):
            yield f"{place(path, number)}: names {machine[0]}, a path of one machine"


def unnamed_packages() -> Iterator[str]:
    """Packages of moot that the page on architecture does not name in code (`core` or core/)."""
    page = ROOT / "docs/architecture.md"
    if not page.is_file():
        return
    named = set(re.findall(r"\w+", " ".join(read(page).code())))
    for package in sorted((ROOT / "src/moot").glob("*/__init__.py")):
        if package.parent.name not in named:
            yield f"docs/architecture.md: does not name the package {package.parent.relative_to(ROOT)}"


def unknown_commands(page: Page) -> Iterator[str]:
    """Commands shown in code blocks, typed after a prompt or in a shell script, that the CLI lacks."""
    for line in page.lines:
        typed = PROMPT.match(line.text) if line.fence is not None else None
        if typed is None and line.fence not in SHELL_FENCES:
            continue
        for arguments in COMMAND_LINE.findall(typed[1] if typed else line.text.strip()):
            command = next((word for word in arguments.split() if COMMAND.match(word)), None)
            if command and not is_command(command):
                yield f"{place(page.path, line.number)}: shows `moot {command}`, which is no command"


def is_command(name: str) -> bool:
    module = ROOT / "src/moot/cli" / name.replace("-", "_")
    return name not in NOT_COMMANDS and (module.with_suffix(".py").is_file() or module.is_dir())


def place(path: Path, number: int) -> str:
    return f"{path.relative_to(ROOT)}:{number}"


if __name__ == "__main__":
    sys.exit(main())
