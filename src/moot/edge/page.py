"""What a server answers with besides its own paths, if it is given such a thing: a page for people."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from starlette.types import Receive, Scope, Send


class Page(Protocol):
    """Only those come to it who were let in at the door."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send, /) -> None: ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """It answers in here."""
        ...

    def close(self) -> None:
        """End the streams."""
        ...
