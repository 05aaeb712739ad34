"""Witnesses of tool calls: whoever writes down what was called and what was answered."""

from collections.abc import Callable, Mapping

from moot.bus.mailbox import Mail
from moot.core.caller import Caller
from moot.core.json import Json
from moot.core.records import record
from moot.core.tool import ToolAnswer
from moot.tools.call import Made


@record
class Answered:
    """A call that was answered."""

    caller: Caller
    tool: str
    arguments: Mapping[str, Json]
    is_keyed: bool  # a repetition is recognised
    answer: ToolAnswer
    made: Made | None  # what it is on record as; None if it changed nothing
    path: str | None = None  # its place in a tree of sessions


@record
class Told:
    """Mail that was handed out with the answer."""

    caller: Caller
    mail: tuple[Mail, ...]
    answered: Answered


Witness = Callable[[Answered | Told], None]
