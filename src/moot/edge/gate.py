"""The first look at a request, at its headers alone: addressed to us, from no foreign page, in a form we take."""

import re

from starlette.types import Scope

from moot.edge.refusals import BadRequest, ContentTypeRefused, HostRefused, MethodRefused, OriginRefused

_LOCAL = rb"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?"
_HOST = re.compile(_LOCAL, re.IGNORECASE)
_ORIGIN = re.compile(rb"https?://" + _LOCAL, re.IGNORECASE)
_METHODS = frozenset(("GET", "POST", "DELETE"))
_SINGLE = frozenset((b"host", b"origin", b"authorization", b"content-type", b"x-agent-id", b"mcp-session-id"))

Headers = dict[bytes, bytes]


def headers_of(scope: Scope) -> Headers:
    """The request's headers by name. Of those that decide something there is at most one."""
    found: Headers = {}
    name: bytes
    for name, value in scope["headers"]:
        if name in _SINGLE and name in found:
            raise BadRequest(f"The header {name.decode()} appears more than once.", "Send it once.")
        found[name] = value
    return found


def check_place(headers: Headers) -> None:
    """Refuse what a foreign web page, or a name rebound to this machine, would send."""
    if not _HOST.fullmatch(headers.get(b"host", b"")):
        raise HostRefused("This server answers to localhost only.", "Use http://127.0.0.1:PORT.")
    origin = headers.get(b"origin")
    if origin is not None and not _ORIGIN.fullmatch(origin):
        raise OriginRefused("Requests from other web pages are not taken.", "Leave out the Origin header.")


def check_form(method: str, headers: Headers) -> None:
    if method not in _METHODS:
        raise MethodRefused(f"{method[:20]} is not taken here.", "Use POST; GET listens, DELETE ends a session.")
    if method != "POST":
        return
    content_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if content_type != b"application/json":
        raise ContentTypeRefused("Only JSON is taken.", "Send Content-Type: application/json.")
