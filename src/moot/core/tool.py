"""Tools and calls: what agents can ask for, as data, and the hands a tool is given to do it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from moot.core.caller import Caller, Role
from moot.core.ears import Ears
from moot.core.json import Json
from moot.core.library import Library
from moot.core.records import record
from moot.core.tx import ReadTx, Tx

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T")
Effect = Literal["none", "store", "outside"]

EVERYONE: frozenset[Role] = frozenset(("member", "owner", "lead", "reviewer", "observer", "operator"))
WRITERS: frozenset[Role] = EVERYONE - {"observer"}
OPERATORS: frozenset[Role] = frozenset(("operator",))


class Call(Protocol):
    """One call of one tool: who calls, and the only ways it may touch the store."""

    @property
    def caller(self) -> Caller: ...

    @property
    def library(self) -> Library:
        """Definitions that can be started by name where this is served."""
        ...

    @property
    def ears(self) -> Ears:
        """Of those who have flows in hand in this process."""
        ...

    async def write(self, change: Callable[[Tx], T]) -> T:
        """Commit `change` with the record of this call; a repeated key answers what was answered before."""
        ...

    async def read(self, look: Callable[[ReadTx], T]) -> T: ...

    async def upkeep(self, change: Callable[[Tx], T]) -> T:
        """Commit what changes nothing for anybody, like bringing an index up to date: it is not on record, and a
        repeated call does it again if there is something to do."""
        ...

    async def outside(self, act: Callable[[], Awaitable[T]]) -> T:
        """Do something beyond the store: the intent is on record before, the outcome after.

        A crash in between leaves the outcome unknown, and a repetition under the same key is refused.
        """
        ...

    async def wait(self, ready: Callable[[ReadTx], T | None], seconds: float) -> T | None:
        """Look again after every commit until there is something, or the time is up."""
        ...


@record
class Tool:
    """A domain function made callable: one record serves MCP clients and agents in process alike."""

    name: str
    group: str
    words: str
    effect: Effect
    arguments: type["BaseModel"]
    result: type["BaseModel"]
    # The argument model is checked against `arguments` where the tool is declared; Any joins the two here.
    function: Callable[[Call, Any], Awaitable["BaseModel"]]
    text: Callable[[Any], str]
    roles: frozenset[Role] = WRITERS
    waits: bool = False  # the answer may take a while, because something else has to happen first
    is_fresh: bool = False  # about this very moment: asked again under the same key, it is answered anew
    is_hidden: bool = False  # another name for something that is offered
    is_on_demand: bool = False  # only for callers whose groups name it
    is_text_only: bool = False  # there is no structured result, because those who call it take none
    tells_mail: bool = True  # with its answer an agent at work is told what has come for it meanwhile


@record
class ToolAnswer:
    """What came back: short words as text, the typed result, or a refusal with its code."""

    text: str
    structured: Mapping[str, Json]
    is_error: bool = False
    is_text_only: bool = False
    mail: tuple[str, ...] = ()  # the messages that were told with it


class Toolbox(Protocol):
    """The tools of one attempt, bound to its identity."""

    async def call(self, name: str, arguments: Mapping[str, Json]) -> ToolAnswer: ...
