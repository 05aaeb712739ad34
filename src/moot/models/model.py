"""The contract with models: a request in plain records, pieces of text while it is answered, and one answer."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal, Protocol

from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.records import record

Stop = Literal[
    "end",  # it has said what it had to say
    "tools",  # it waits for the results of its calls
    "max_tokens",  # its answer was cut off
    "context",  # the conversation does not fit any more
    "refusal",  # it will not, or its provider will not let it
    "pause",  # it asks to be asked again with what it has said so far
    "other",  # something the provider did not name in a way we know
]
Kind = Literal[
    "auth",  # no key, a wrong one, or one that may not do this
    "refused",  # this request would be turned down again
    "rate_limit",  # the provider asks to wait
    "unavailable",  # it cannot be reached, or not now
    "timeout",  # it began or would have begun, and then nothing came
    "error",  # what came is no answer
]


@dataclass(frozen=True)
class ToolSpec:
    """A tool, as a model is told of it."""

    name: str
    words: str
    schema: Mapping[str, Json]

    @cached_property
    def letters(self) -> int:
        """By and large. It is told with every request, and counted once."""
        return len(self.words) + len(str(self.schema))


@record
class Call:
    """A call the model wants made. `arguments` is JSON as the model wrote it, which may be none at all."""

    id: str
    name: str
    arguments: str


@record
class Usage:
    """Of one request. `input_tokens` counts all of it, what the cache gave and took included."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float = 0.0  # dollars
    is_estimated: bool = False  # tokens or price are not known for certain
    reasoning_tokens: int = 0  # among the output, where the provider tells it


@record
class Said:
    """Words for the model."""

    text: str


@record
class Result:
    """What came of one call."""

    call: Call
    text: str
    is_error: bool = False


@record
class Results:
    """What came of the calls of one answer, and words that go with them."""

    results: tuple[Result, ...]
    text: str = ""


@record
class Answer:
    """What the model answered. `kept` is the answer as its provider wants it back, for the next request."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: Stop = "end"
    usage: Usage = Usage()
    at: datetime | None = field(default=None, compare=False)  # when it was on record
    kept: object = field(default=None, repr=False, compare=False)


Message = Said | Answer | Results


@record
class Request:
    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None  # None: what the model can
    temperature: float | None = None  # None: the provider's own
    is_cached: bool = True  # the beginning, which the next request repeats, is worth keeping at the provider
    bound: int | None = None  # tokens that money is set aside for, if any: the answer may have no more
    letters: int | None = field(default=None, compare=False)  # of all that is told, if they were counted as it came


@record
class Piece:
    """A piece of the answer's text, as it comes."""

    text: str


@record
class Again:
    """The request failed and will be made again after so many seconds. The pieces so far count for nothing."""

    kind: Kind
    reason: str
    seconds: float
    used: Usage = Usage()  # what the try that failed may have cost


@dataclass(slots=True)
class Anew:
    """That time is over: the request is made again, in another form if whoever is told this wants one."""

    request: Request


Progress = Piece | Again | Anew | Answer


class Model(Protocol):
    """Answers one request: pieces, then the answer. Raises ModelFailed. Closing the iteration ends the request."""

    def ask(self, request: Request) -> AsyncGenerator[Progress]: ...


class ModelFailed(MootError):
    """A request has no answer. Nothing in its words is secret."""

    code = "MODEL_FAILED"

    def __init__(
        self, kind: Kind, fact: str, remedy: str = "", *, until: datetime | None = None, used: Usage | None = None
    ) -> None:
        super().__init__(fact, remedy)
        self.kind: Kind = kind
        self.used = used or Usage()  # of an answer that broke off: it may have been billed
        self.until = until  # when the provider wants to be asked again
        self.provider = ""  # whose name whoever asked has put here
