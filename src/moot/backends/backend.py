"""The contract between the runner and whatever runs an agent."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from moot.core.ids import AttemptId, MessageId
from moot.core.json import Json
from moot.core.permissions import PRESETS, Permissions
from moot.core.prices import Rates
from moot.core.records import record
from moot.core.tool import Toolbox

Failure = Literal[
    "error",  # what nothing below says better
    "cannot_start",  # its program is not there or cannot be run, or something that it needs is not set
    "crash",  # of the program, or of our own code
    "timeout",  # too long, or too long without a sign of life
    "no_result",  # it ended and did not say how
    "no_tools",  # it never reached our server
    "auth",  # no login, no key, or a wrong one
    "refused",  # the model or its provider does not take this request, and would not the next time
    "rate_limit",  # the provider asks to wait
    "unavailable",  # the provider cannot be reached, or is overloaded
    "denied",  # what it needed to do is not permitted
    "limit",  # its own limit of turns or money
    "budget",  # cut off at what its run, or it itself, may use
    "invalid",  # its report has the wrong shape
    "reported",  # it says itself that it could not be done
    "stopped",  # somebody has stopped it, and it had nothing to report
]
# What the next attempt would only meet again, or what is a result: to begin anew would do everything a second time.
FINAL: frozenset[Failure] = frozenset(
    ("cannot_start", "auth", "refused", "denied", "limit", "budget", "invalid", "reported", "stopped")
)


@record
class Letter:
    """A message, as an agent is shown it."""

    id: MessageId
    seq: int
    sender: str
    body: str
    kind: str
    priority: str
    at: datetime


@record
class Briefing:
    """In words what an attempt has to know: what woke it, what was said and written before, and how work goes here."""

    prompt: str = ""
    system_prompt: str = ""
    request: str = ""  # what was asked, where that is all there is to tell


@record
class Manner:
    """How an agent is to be run, as its definition says. Each backend takes what concerns it."""

    model: str | None = None  # `provider/name`, or as written where only the backend knows
    permissions: Permissions = PRESETS["ask"]
    replaces_system_prompt: bool = False
    is_isolated: bool = False  # private directories instead of the user's own login
    keeps_conversation: bool = False
    command: tuple[str, ...] = ()
    base_url: str | None = None
    env: tuple[str, ...] = ()  # variables of the environment that its program gets, too
    rates: Rates | None = None  # what its model costs; None: as the price list says


@record
class Access:
    """How a program reaches our tools as this attempt."""

    url: str  # of the MCP endpoint, on loopback
    token: str = field(repr=False)
    has_connected: Callable[[], bool]  # whether anybody has come with the token
    is_watched: bool = False  # what it does is written down, so all of it has to come over the endpoint


@record
class Conversation:
    """A program's own conversation, which a later attempt may go on with. What it has used is counted from its
    beginning, because that is how programs count."""

    handle: str
    used: "Usage"


@record
class Assignment:
    """Everything one attempt gets: who it is, what woke it, its tools, and where it works."""

    agent: str
    instance: str
    attempt: AttemptId
    settings: Mapping[str, Json]
    manner: Manner
    inbox: tuple[Letter, ...]
    number: int  # 1 is the first attempt at this mail
    toolbox: Toolbox
    brief: Callable[[], Awaitable[Briefing]]  # made when it is asked for: not every backend reads it
    more: Callable[
        [], Awaitable[tuple[Letter, ...]]
    ]  # waits for mail that comes meanwhile; from then on it is handed out
    access: Access
    workspace: Path  # where it works
    folder: Path  # private, made for programs only, gone after the attempt; its name marks their processes
    conversation: Conversation | None = None  # of the attempt before, if it is to be kept


@record
class Wrote:
    """A piece of text on the way to the answer."""

    text: str


@record
class Called:
    """A tool that it has called, ours or its own."""

    tool: str
    is_error: bool = False
    why: str = field(default="", compare=False)  # it went wrong, if that is known


@record
class Warned:
    """Something the person should know, that did not stop the attempt."""

    text: str


@record
class Usage:
    """What was used: as progress, since the last time it was told; at the end, by the whole attempt."""

    input_tokens: int = 0
    output_tokens: int = 0
    turns: int = 0
    cost: float = 0.0  # dollars
    is_estimated: bool = False  # the price is not known for certain

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.turns + other.turns,
            self.cost + other.cost,
            self.is_estimated or other.is_estimated,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        """What is left to count; below zero where more was guessed on the way."""
        return Usage(
            self.input_tokens - other.input_tokens,
            self.output_tokens - other.output_tokens,
            self.turns - other.turns,
            self.cost - other.cost,
            self.is_estimated,
        )


@record
class Counted(Usage):
    """The same, where whoever used it has added it to the agent's account already."""


@record
class Ended:
    """The last event of every attempt. `text` is posted for an agent that said nothing itself."""

    failure: Failure | None = None
    error: str = ""
    text: str = ""
    usage: Usage = Usage()  # of this attempt alone
    conversation: Conversation | None = None  # to go on with
    wait_until: datetime | None = None  # if the provider asked to wait: until when
    provider: str = ""  # and which one, if it is not that of the agent itself

    @property
    def is_final(self) -> bool:
        """Whether another attempt would only meet the same."""
        return self.failure in FINAL


Progress = Wrote | Called | Warned | Usage | Ended


class Backend(Protocol):
    """Runs one attempt. Cancelling the iteration ends everything the attempt has started."""

    def run(self, assignment: Assignment) -> AsyncGenerator[Progress]: ...
