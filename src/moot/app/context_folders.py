"""Where a workflow wants its channel and documents on disk: checked before anything is written there."""

from pathlib import Path, PurePosixPath

from moot.app.project import OUR_FOLDER, PEOPLE_FOLDER
from moot.views.documents import BASES
from moot.workflow.workflow import Context, WorkflowInvalid

_FOREIGN = (OUR_FOLDER, PEOPLE_FOLDER, ".git")


def check(context: Context, root: Path, instance: str) -> None:
    """WorkflowInvalid unless the folder is moot's own, or one below the project's root that holds nothing else."""
    folder = PurePosixPath(context.dir)
    if folder == PurePosixPath(OUR_FOLDER, instance):
        return
    if folder.is_absolute() or ".." in folder.parts or not folder.parts or folder.parts[0] in _FOREIGN:
        raise WorkflowInvalid(
            f"`context.config.dir` cannot be {context.dir!r}.", "Name a folder below the project's, as in ./talk/."
        )
    found = root / folder
    if found.is_symlink() or (found.exists() and not found.is_dir()):
        raise WorkflowInvalid(f"`context.config.dir`: {found} is not a folder.", "Choose another.")
    if found.is_dir() and not (found / BASES).exists() and any(found.iterdir()):
        raise WorkflowInvalid(
            f"`context.config.dir`: {found} holds files that would all become documents.", "Choose an empty folder."
        )
