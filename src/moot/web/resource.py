"""Resources: what the page can be asked for and told to do. Whoever makes the page hands them in."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from moot.core.json import Json
from moot.core.records import record
from moot.web.ask import Ask

Method = Literal["GET", "POST"]


@record
class Picture:
    """An answer that is drawn: SVG."""

    svg: str


Answer = Mapping[str, Json] | Picture


@record
class Resource:
    """A GET changes nothing; a POST is only for visitors who may change something."""

    method: Method
    path: str  # as `/api/tasks/{id}`
    answer: Callable[[Ask], Awaitable[Answer]]
    takes: frozenset[str] = frozenset()  # names of arguments, besides `instance`


def get(path: str, answer: Callable[[Ask], Awaitable[Answer]], *takes: str) -> Resource:
    return Resource("GET", path, answer, frozenset(takes))


def post(path: str, answer: Callable[[Ask], Awaitable[Answer]], *takes: str) -> Resource:
    return Resource("POST", path, answer, frozenset(takes))
