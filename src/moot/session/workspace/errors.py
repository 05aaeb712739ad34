"""Why a tool of the workspace did nothing."""

from moot.core.errors import InvalidInput, MootError


class PathRefused(InvalidInput):
    """The path leads out of the workspace, or to what is not for agents."""

    code = "PATH_REFUSED"


class FileRefused(MootError):
    """What is there cannot be read or written."""

    code = "FILE_REFUSED"


class EditRefused(MootError):
    """The text to be replaced is not there, or not once."""

    code = "EDIT_REFUSED"


class SearchFailed(MootError):
    """The search came to nothing."""

    code = "SEARCH_FAILED"
