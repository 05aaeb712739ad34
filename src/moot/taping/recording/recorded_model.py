"""A model whose requests and answers are written down."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from moot.backends.backend import Assignment
from moot.core.records import record
from moot.models.model import Again, Anew, Answer, Model, ModelFailed, Piece, Progress, Request
from moot.runner.api_agents import Asking


@record
class Failed:
    """A request without an answer."""

    error: Again | ModelFailed
    text: str  # what had come by then
    seconds: float


@record
class Place:
    """Where a request stands on the tape."""

    attempt: str
    path: str
    number: int  # in its session


class ModelScribe(Protocol):
    """Who writes it down."""

    def asked(self, assignment: Assignment, asking: Asking) -> Place: ...

    def replied(self, place: Place, answer: Answer, seconds: float) -> None: ...

    def failed(self, place: Place, failed: Failed) -> None: ...


@record
class RecordedModel:
    model: Model
    assignment: Assignment
    asking: Asking
    scribe: ModelScribe

    async def ask(self, request: Request) -> AsyncGenerator[Progress]:
        """A request that is made again is one request, which has failed as often as it is said to have."""
        scribe, time = self.scribe, asyncio.get_running_loop().time
        place, began, pieces = scribe.asked(self.assignment, self.asking), time(), list[str]()
        try:
            async with aclosing(self.model.ask(request)) as asked:
                async for progress in asked:
                    match progress:
                        case Piece(text):
                            pieces.append(text)
                        case Again():
                            scribe.failed(place, Failed(progress, "".join(pieces), time() - began))
                            pieces = []
                        case Answer():
                            scribe.replied(place, progress, time() - began)
                        case Anew():
                            began = time()
                    yield progress
        except ModelFailed as error:
            scribe.failed(place, Failed(error, "".join(pieces), time() - began))
            raise
