"""What can go wrong between a client and its server, and whether what was asked for was done."""

from typing import ClassVar, Literal

from moot.core.errors import MootError

Executed = Literal["true", "false", "unknown"]


class ServerUnreachable(MootError):
    """There is no answer; whether the call was done is not known, unless it was never sent."""

    code = "SERVER_UNREACHABLE"

    def __init__(self, fact: str, remedy: str = "", *, was_sent: bool = True) -> None:
        super().__init__(fact, remedy)
        self.was_sent = was_sent


class ServerRefused(MootError):
    """The server answered that it will not."""

    code = "SERVER_REFUSED"

    def __init__(self, fact: str, remedy: str = "", *, status: int = 0) -> None:
        super().__init__(fact, remedy)
        self.status = status  # of HTTP, if that was all


class CallFailed(MootError):
    """A tool of another server did not do what was asked for."""

    executed: ClassVar[Executed]


class NotCalled(CallFailed):
    """The server was not asked at all."""

    code = "NOT_CALLED"
    executed = "false"


class ServerNotStarted(NotCalled):
    code = "SERVER_NOT_STARTED"


class ToolFailed(CallFailed):
    """The server was asked, and answered with an error."""

    code = "TOOL_FAILED"
    executed = "true"


class OutcomeUnknown(CallFailed):
    """The server was asked, and there is no answer."""

    code = "OUTCOME_UNKNOWN"
    executed = "unknown"
