"""Facts that keep a program from starting, or from being spoken to."""

from moot.core.errors import InvalidInput, MootError


class ProgramNotFound(MootError):
    """There is no such program on the child's PATH."""

    code = "PROGRAM_NOT_FOUND"


class ProgramNotExecutable(MootError):
    """The file is there, but the system will not run it."""

    code = "PROGRAM_NOT_EXECUTABLE"


class ProgramNotStarted(MootError):
    """The system had no room for another process."""

    code = "PROGRAM_NOT_STARTED"


class ArgumentsTooLong(MootError):
    """Arguments and environment together are more than the system hands to a program."""

    code = "ARGUMENTS_TOO_LONG"


class BadWorkingDirectory(MootError):
    """The directory to start in is missing, not a directory, or closed to us."""

    code = "BAD_WORKING_DIRECTORY"


class BadArguments(InvalidInput):
    """The argument list is empty or holds text that no program can be given."""

    code = "BAD_ARGUMENTS"


class BadEnvironment(InvalidInput):
    """A variable has a name or value that no program can be given."""

    code = "BAD_ENVIRONMENT"


class BadMarker(InvalidInput):
    """A marker would be mistaken for another, or for several."""

    code = "BAD_MARKER"


class BadIdentity(InvalidInput):
    """The text does not name a process."""

    code = "BAD_IDENTITY"


class NotConfined(InvalidInput):
    """A program would have all rights of its user, and no person has looked at it."""

    code = "NOT_CONFINED"


class StdinClosed(MootError):
    """The program no longer reads its standard input."""

    code = "STDIN_CLOSED"
