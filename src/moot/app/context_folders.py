"""Where a workflow wants its channel and documents on disk: checked before anything is written there."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from moot.app.project import OUR_FOLDER, PEOPLE_FOLDER
from moot.core import problems
from moot.core.errors import MootError
from moot.core.problems import Problem
from moot.documents import paths, places
from moot.views.documents import BASES
from moot.workflow import templates
from moot.workflow.workflow import Context, WorkflowInvalid

_AT = ("context", "config")
_GIT = ".git"
_ENDINGS = (".md", ".txt")


def check(context: Context, root: Path, instance: str) -> None:
    """WorkflowInvalid unless the folder is moot's own, or one below the project's root that holds nothing else, and
    the names in it are those of a channel and of documents."""
    for one in faults(context, instance):
        raise WorkflowInvalid(f"{one.fact}.", one.remedy)
    folder = PurePosixPath(context.dir)
    if folder == PurePosixPath(OUR_FOLDER, instance):
        return
    found = root / folder
    if found.is_symlink() or (found.exists() and not found.is_dir()):
        raise WorkflowInvalid(f"`context.config.dir`: {found} is not a folder.", "Choose another.")
    if found.is_dir() and not (found / BASES).exists() and any(found.iterdir()):
        raise WorkflowInvalid(
            f"`context.config.dir`: {found} holds files that would all become documents.", "Choose an empty folder."
        )


def faults(context: Context, instance: str | None = None) -> Iterator[Problem]:
    """What is wrong with the names alone. While no instance is known, nor is what variables stand for: a name that
    holds one is passed over."""

    def is_known(text: str) -> bool:
        return instance is not None or not templates.places(text)

    if is_known(context.dir) and not _is_folder(context.dir, instance):
        yield _wrong("dir", context.dir, "Name a folder below the project's, as in ./talk/.")
    if is_known(context.channel):
        yield from _channel(context)
    named = [((*_AT, "document"), context.document)]
    named += [((*_AT, "documents", number), file) for number, file in enumerate(context.documents)]
    for path, file in named:
        try:
            if is_known(file):
                paths.check(file)
        except MootError as error:
            yield problems.of_error(path, error)


def _is_folder(text: str, instance: str | None) -> bool:
    """Part by part, because what else is made of the text must not mean another place."""
    first, *others = parts = text.removeprefix("./").rstrip("/").split("/")
    if any(part in ("", ".", "..") or part.casefold() == _GIT or not part.isprintable() for part in parts):
        return False
    if first == OUR_FOLDER:
        return len(others) == 1 and instance in (None, *others)
    return first.casefold() not in (OUR_FOLDER, PEOPLE_FOLDER)


def _channel(context: Context) -> Iterator[Problem]:
    folded = paths.fold(context.channel)
    if folded in map(paths.fold, (context.document, *context.documents)):
        yield _wrong("channel", context.channel, "That is a document; choose another name.")
    elif folded != places.CHANNEL and not _is_file(context.channel):
        yield _wrong("channel", context.channel, "Write one file name that ends in .md or .txt, as in talk.md.")


def _is_file(text: str) -> bool:
    """Whether a document could be called so: then nothing else of moot's is, nor anything that agents obey."""
    try:
        return paths.check(text) == text and "/" not in text and paths.fold(text).endswith(_ENDINGS)
    except MootError:
        return False


def _wrong(key: str, text: str, remedy: str) -> Problem:
    return Problem((*_AT, key), f"`context.config.{key}` cannot be {text[:80]!r}", remedy)
