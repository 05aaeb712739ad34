"""One HTTP request and its answer, as ASGI hands them over, and how far the answer has come."""

from starlette.types import Message, Receive, Scope, Send

from moot.core.errors import MootError
from moot.edge import answers


class Exchange:
    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.receive = receive
        self._send = send
        self.status: int | None = None
        self.is_over = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif not message.get("more_body", False):
            self.is_over = True
        await self._send(message)

    async def end(self, error: MootError) -> None:
        """Answer with this error, or, if an answer has begun, end it as it is."""
        if self.status is None:
            await answers.refuse(self.send, error)
        elif not self.is_over:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})
