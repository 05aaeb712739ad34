"""A model whose requests and answers are written down."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from moot.backends.backend import Assignment
from moot.models.model import Again, Answer, Model, ModelFailed, Piece, Progress, Request


@dataclass(frozen=True, slots=True)
class Failed:
    """A request without an answer."""

    error: Again | ModelFailed
    text: str  # what had come by then
    seconds: float


class ModelScribe(Protocol):
    """Who writes it down. The number is that of the request in its attempt."""

    def asked(self, assignment: Assignment, request: Request) -> int: ...

    def replied(self, assignment: Assignment, number: int, answer: Answer, seconds: float) -> None: ...

    def failed(self, assignment: Assignment, number: int, failed: Failed) -> None: ...


@dataclass(frozen=True, slots=True)
class RecordedModel:
    model: Model
    assignment: Assignment
    scribe: ModelScribe

    async def ask(self, request: Request) -> AsyncGenerator[Progress]:
        """A request that is made again is one request, which has failed as often as it is said to have."""
        scribe, assignment, time = self.scribe, self.assignment, asyncio.get_running_loop().time
        number, began, pieces = scribe.asked(assignment, request), time(), list[str]()
        try:
            async with aclosing(self.model.ask(request)) as asked:
                async for progress in asked:
                    match progress:
                        case Piece(text):
                            pieces.append(text)
                        case Again():
                            scribe.failed(assignment, number, Failed(progress, "".join(pieces), time() - began))
                            pieces, began = [], time() + progress.seconds
                        case Answer():
                            scribe.replied(assignment, number, progress, time() - began)
                    yield progress
        except ModelFailed as error:
            scribe.failed(assignment, number, Failed(error, "".join(pieces), time() - began))
            raise
