"""What every answer of the page says to the browser: run nothing but our own files, show nothing in a frame, keep
nothing."""

from starlette.types import Message, Send

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_NO_STORE = (b"cache-control", b"no-store")


def guarded(send: Send) -> Send:
    """The same answer with these headers."""

    async def guard(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = {name for name, _ in _HEADERS}
            given = [(name, value) for name, value in message.get("headers", ()) if name not in ours]
            kept = () if any(name == b"cache-control" for name, _ in given) else (_NO_STORE,)
            message = {**message, "headers": [*given, *_HEADERS, *kept]}
        await send(message)

    return guard
