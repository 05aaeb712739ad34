"""What all sessions of one tree share."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Literal

from moot.core.json import Json
from moot.core.records import record
from moot.models.model import Model, Request
from moot.models.reserving import FREE, Price
from moot.session.agent import Agent, Cast
from moot.session.events import Event
from moot.session.journal import Journal
from moot.session.source import Source

Asked = Literal[
    "stop",  # everybody comes to an end: one last turn, and a report
    "shutdown",  # nothing more is begun; what is under way is written down, and all go on from there later
]  # an abort is neither: it cancels the tree


async def _nothing() -> Asked | None:
    return None


async def _never() -> object:
    return await asyncio.get_running_loop().create_future()


@record
class Question:
    """One request to a model, where it stands in the tree, and what it is made of that nobody could find out again."""

    path: str
    request: Request
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])


@record
class Stage:
    cast: Cast
    journal: Journal
    model: Callable[[Agent, str, Question], Awaitable[Model]]  # of an agent, by its name, to be asked this
    sources: Callable[[Agent, str], Sequence[Source]]  # the tools of an agent whose session has this path
    tell: Callable[[str, Event], None] = lambda agent, event: None
    price: Callable[[Agent, str, Request], Price] = lambda agent, model, request: FREE
    asked: Callable[[], Awaitable[Asked | None]] = _nothing  # of the whole tree, from outside
    ends: Callable[[], Awaitable[object]] = _never  # waits until moot comes to its end; what is wanted then is `asked`
    provider: Callable[[Agent, str], str] = lambda agent, model: model  # who use the same one wait together
    ending: str = ""  # why nothing is left to spend but on last turns
