"""The tape: what happened in a run, as a list of lines. Each line is one of the records below, with its `type`.

Lines stand in the order in which they were noticed, which is a little later than the store did it; those that the store
tells of carry its numbers. How they lie in a file is the matter of `tape_file`, and in which order they are played
that of `score`.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from moot.backends.backend import Failure, Usage
from moot.bus.messages import Kind
from moot.core.caller import Role
from moot.core.json import Json
from moot.core.records import record
from moot.models import model
from moot.runner.purses import FREE, Leave
from moot.runner.refusals import Reached
from moot.taping.flow_lines import Moved, Started, Stood
from moot.workflow.workflow import Backend

FORMAT = 9
SCRIPTED = "scripted"  # a model that is none
How = Literal["ended", "crashed", "cancelled"]


@record
class Member:
    """An agent, as the workflow had it."""

    backend: Backend  # that ran it
    is_said: bool  # and was not found by looking around
    model: str | None
    permissions: str
    tools: tuple[str, ...] | None
    marks: Mapping[str, str]  # of all else that is said of it, by setting: the same has the same mark


@record
class Header:
    moot: str
    workflow: str
    instance: str
    setup: tuple[str, ...]  # the commands
    agents: Mapping[str, Member]
    context: Mapping[str, str]  # what they share
    has_person: bool = False  # at the terminal, who could answer
    format: int = FORMAT
    type: Literal["recording"] = "recording"


@record
class Letter:
    id: str
    sender: str
    kind: str
    body: str


@record
class Begin:
    """An attempt, with what woke it, and whether it was the last."""

    attempt: str
    agent: str
    number: int
    mail: tuple[Letter, ...]
    leave: Leave = FREE
    type: Literal["begin"] = "begin"


@record
class Briefed:
    """The words with which an attempt was begun, if its backend has asked for them."""

    attempt: str
    prompt: str
    system_prompt: str | None = None  # None: as in the attempt of the same agent before
    type: Literal["briefed"] = "briefed"


@record
class Call:
    """A call of a tool; `attempt` is None for those who come by themselves."""

    attempt: str | None
    caller: str
    role: Role
    tool: str
    arguments: Mapping[str, Any]
    is_keyed: bool
    text: str
    structured: Mapping[str, Any]
    is_error: bool
    operation: str | None = None  # what it is on record as; None if it changed nothing
    path: str | None = None  # its place in the attempt's tree of sessions; None: of a program
    events: tuple[int, ...] = ()  # the numbers of what it has brought about
    flow: str | None = None  # at a step of which moot has called it; None: somebody else has
    strand: int = 0  # of that flow
    step: str = ""
    type: Literal["call"] = "call"


@record
class More:
    """Mail that was handed out while an attempt ran, between two turns or with the answer of a tool."""

    attempt: str
    mail: tuple[Letter, ...]
    call: int | None = None  # with the answer of this call of the attempt, counted from 0; None: between two turns
    type: Literal["more"] = "more"


@record
class Result:
    """What a model was told of a call. It begins with what a call on the tape was answered, if `call` says which."""

    tool: str
    call: int | None = None  # of the attempt, counted from 0
    text: str = ""  # what follows; all of it without `call`
    is_error: bool = False


@record
class Heard:
    """What came for a session while it ran, and which mail or broadcasts that was."""

    text: str
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_called_back: bool = False  # it was done, and went on because of this


@record
class Asked:
    """A request to a model: what it has that the one before, in the same session, had not. The answers to those are on
    the tape already, and so is what the attempt was briefed with."""

    attempt: str
    agent: str  # in the attempt's tree
    path: str  # of the request in that tree
    number: int  # in its session, from 1
    model: str
    results: tuple[Result, ...] = ()
    words: str = ""  # said to the model
    is_briefed: bool = False  # the prompt of the briefing stands before these words
    heard: Heard | None = None  # it stands behind them
    more_words: str = ""  # and these behind that
    system: str | None = None  # None: as in the request before; in the first of a session, as in the briefing
    tools: tuple[str, ...] | None = None  # that were offered; None: as in the request before
    max_tokens: int | None = None
    type: Literal["asked"] = "asked"


@record
class Wanted:
    """A call that a model wants made; what it wrote where that is no JSON object."""

    id: str
    tool: str
    arguments: Mapping[str, Any] | str


@record
class Replied:
    """What a model has answered, and how long that took."""

    attempt: str
    path: str
    number: int  # of the request
    text: str
    calls: tuple[Wanted, ...]
    stop: model.Stop
    usage: model.Usage
    seconds: float
    seq: int | None = None  # behind which it was on record, and counted; None: nobody could tell
    type: Literal["replied"] = "replied"


@record
class Unanswered:
    """How a request has failed. `again` tells that it is made once more, after so many seconds."""

    attempt: str
    path: str
    number: int  # of the request
    kind: model.Kind
    error: str
    remedy: str
    text: str  # what had come by then
    again: float | None
    seconds: float
    usage: model.Usage = field(default_factory=model.Usage)  # of what had come: it may have been billed
    seq: int | None = None
    type: Literal["unanswered"] = "unanswered"


@record
class Refused:
    """A request that was not made, and the limits that were reached by then: of the run, and of the agent."""

    attempt: str
    path: str
    model: str
    kind: Literal["budget", "rate_limit"]
    error: str
    reached: Reached
    seq: int
    heard: Heard | None = None
    type: Literal["refused"] = "refused"


@record
class Progress:
    """What an attempt let be known on the way: text, a tool of its own, a warning, usage; at its end, how much of it is
    not here because it was too much."""

    attempt: str
    kind: Literal["wrote", "called", "warned", "used", "cut"]
    text: str = ""
    is_error: bool = False
    usage: Usage = field(default_factory=Usage)
    type: Literal["progress"] = "progress"


@record
class End:
    """How an attempt ended; what the store says of it counts where its backend was cut short."""

    attempt: str
    how: How
    failure: Failure | None = None
    error: str = ""
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    type: Literal["end"] = "end"


@record
class Happened:
    """An event of the store, with its number, who caused it, and what is needed to do the same again."""

    seq: int
    kind: str
    subject: str
    actor: str
    at: int  # in microseconds
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    type: Literal["event"] = "event"


@record
class Limit:
    """A limit that was reached: its words, and whose it was; without an agent the run's."""

    reason: str
    agent: str = ""


@record
class Said:
    """A message, as it stands in the channel."""

    seq: int
    id: str
    sender: str
    kind: Kind
    body: str
    to: tuple[str, ...]
    attempt: str | None
    actor: str = ""  # who caused it: moot speaks also when somebody else has done something
    at: int = 0
    reply_to: str | None = None
    limit: Limit | None = None  # that it tells of
    type: Literal["said"] = "said"


@record
class Read:
    """Mail that somebody whom moot does not start is done with. It has no number of its own: it came behind `seq`."""

    seq: int
    agent: str
    mail: tuple[Letter, ...]
    type: Literal["read"] = "read"


@record
class Printed:
    """What a command of setup has printed."""

    number: int
    output: str
    type: Literal["printed"] = "printed"


@record
class Outcome:
    """What came of the run."""

    exit_code: int
    state: str
    failure: str = ""  # of the command of setup that failed
    type: Literal["outcome"] = "outcome"


Line = (
    Header | Begin | Briefed | Asked | Replied | Unanswered | Refused | Call | More | Progress | End | Happened | Said
    | Read | Printed | Started | Moved | Stood | Outcome
)  # fmt: skip
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="type")])


@record
class Tape:
    header: Header
    lines: tuple[Line, ...]  # all but the header and the outcome
    outcome: Outcome | None  # None: it was cut before the run had ended


def plain(line: Line) -> dict[str, Json]:
    return _LINE.dump_python(line, mode="json")


def parse(found: Mapping[str, Json]) -> Line:
    """ValidationError if it is no line."""
    return _LINE.validate_python(found)
