"""What happens when a step has failed, and how a flow that has failed goes on."""

from moot.core.errors import MootError
from moot.engine.definition import ErrorHandling, Resumption
from moot.engine.files.section import Notes
from moot.engine.files.sections import steps
from moot.engine.shape import ErrorsShape, ResumeShape
from moot.engine.state import paths

SECTION = "error_handling"


def read(said: ErrorsShape, notes: Notes) -> ErrorHandling:
    kept = said.error_collection if said.error_collection and said.error_collection.enabled else None
    return ErrorHandling(
        said.on_error,
        said.max_retries,
        _place(kept.state_path, notes) if kept else "",
        kept is not None and kept.include_stack_traces,
        steps.read(said.on_failure, (SECTION, "on_failure"), notes),
    )


def resumption(said: ResumeShape | None) -> Resumption | None:
    if said is None:
        return None
    return Resumption(said.retry_failed_steps, said.skip_completed_steps, said.reset_error_counts)


def _place(written: str, notes: Notes) -> str:
    try:
        paths.writable(paths.parse(written))
    except MootError as error:
        notes.refuse((SECTION, "error_collection", "state_path"), error)
    return written
