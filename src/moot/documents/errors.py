"""Facts about documents."""

from moot.core.errors import InvalidInput, MootError


class DocumentNotFound(MootError):
    code = "DOCUMENT_NOT_FOUND"


class DocumentExists(MootError):
    code = "DOCUMENT_EXISTS"


class DocumentChanged(MootError):
    """The version that somebody meant to change is not the current one; nothing was written."""

    code = "DOCUMENT_CHANGED"

    def __init__(self, fact: str, remedy: str = "", *, version: int = 0) -> None:
        super().__init__(fact, remedy)
        self.version = version


class DocumentTooLarge(InvalidInput):
    code = "DOCUMENT_TOO_LARGE"


class PathRefused(InvalidInput):
    """This cannot be the name of a document."""

    code = "PATH_REFUSED"


class NotDocumentOwner(MootError):
    code = "NOT_DOCUMENT_OWNER"


class ElectionInProgress(MootError):
    """Nobody owns the documents until a vote has ended."""

    code = "ELECTION_IN_PROGRESS"
