"""What can go wrong between a client and its server."""

from moot.core.errors import MootError


class ServerUnreachable(MootError):
    """There is no answer; whether the call was done is not known."""

    code = "SERVER_UNREACHABLE"


class ServerRefused(MootError):
    """The server answered that it will not."""

    code = "SERVER_REFUSED"
