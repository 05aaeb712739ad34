"""What the HTTP edge refuses before MCP sees it: each with its status, a stable code, the fact and the remedy."""

from typing import ClassVar

from moot.core.errors import MootError


class HttpRefusal(MootError):
    """A request that is not let in."""

    status: ClassVar[int] = 400


class BadRequest(HttpRefusal):
    code = "BAD_REQUEST"


class HostRefused(HttpRefusal):
    """Not addressed to this machine by a local name: what a rebound DNS name looks like."""

    code = "HOST_REFUSED"
    status = 421


class OriginRefused(HttpRefusal):
    """Sent by a web page of somebody else."""

    code = "ORIGIN_REFUSED"
    status = 403


class NameMismatch(HttpRefusal):
    """The token is one agent's, the name another's."""

    code = "NAME_MISMATCH"
    status = 403


class NotServed(HttpRefusal):
    code = "NOT_FOUND"
    status = 404


class MethodRefused(HttpRefusal):
    code = "METHOD_NOT_ALLOWED"
    status = 405


class BodyTooSlow(HttpRefusal):
    code = "BODY_TOO_SLOW"
    status = 408


class BodyTooLarge(HttpRefusal):
    code = "BODY_TOO_LARGE"
    status = 413


class ContentTypeRefused(HttpRefusal):
    code = "CONTENT_TYPE_REFUSED"
    status = 415


class HeadTooLarge(HttpRefusal):
    code = "HEAD_TOO_LARGE"
    status = 431


class ServerStopping(HttpRefusal):
    """What was asked may or may not have been done."""

    code = "SERVER_STOPPING"
    status = 503


class RequestFailed(HttpRefusal):
    """A fault in moot."""

    code = "INTERNAL_ERROR"
    status = 500


def facts_of(error: MootError) -> dict[str, str]:
    """As every refusal tells them."""
    return {"code": error.code, "message": error.fact, "remedy": error.remedy}
