"""One call from outside to one answer: the boundary where every failure becomes a refusal in words."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from moot.core import problems
from moot.core.caller import Caller
from moot.core.errors import MootError
from moot.core.json import Json
from moot.core.tool import Tool, ToolAnswer
from moot.ledger import operations
from moot.ledger.operations import Deed, Key
from moot.store.store import Store
from moot.tools import arrivals, groups, table
from moot.tools.around import Around
from moot.tools.call import Made, StoreCall
from moot.tools.witness import Answered, Told

_log = logging.getLogger("moot.tools")


class ToolNotFound(MootError):
    code = "TOOL_NOT_FOUND"


async def perform(  # noqa: PLR0913  # what a call is made of, and who looks on
    store: Store,
    caller: Caller,
    name: str,
    arguments: Mapping[str, Json],
    key: Key | None = None,
    *,
    tells_mail: bool = True,
    around: Around | None = None,
    path: str | None = None,
) -> ToolAnswer:
    """Call a tool on somebody's behalf. Never raises but for cancellation. With `tells_mail` an attempt is told what
    has come for it meanwhile."""
    made: list[Made] = []
    around = around or Around()
    witness = around.witness

    def hands(tool: Tool, deed: Deed) -> StoreCall:
        return StoreCall(store, caller, tool, deed, made, around.library, around.ears)

    tool = table.find(name, caller, around.functions)
    answer = await _perform(hands, caller, name, tool, arguments, key)
    done = made[-1] if made and not answer.is_error else None
    answered = Answered(caller, name, arguments, key is not None, answer, done, path)
    if witness is not None:
        witness(answered)
    if caller.attempt is None or not tells_mail or (tool is not None and not tool.tells_mail):
        return answer
    mail = await arrivals.handed_out(store, caller)
    if witness is not None and mail:
        witness(Told(caller, tuple(mail), answered))
    return arrivals.told(answer, mail) if mail else answer


async def _perform(
    hands: Callable[[Tool, Deed], StoreCall],
    caller: Caller,
    name: str,
    found: Tool | None,
    arguments: Mapping[str, Json],
    key: Key | None,
) -> ToolAnswer:
    try:
        tool = _allowed(caller, name, found)
        parsed = _parsed(tool, arguments)
        deed = Deed("tool", name, operations.hash_of(arguments), None if tool.is_fresh else key)
        result = await tool.function(hands(tool, deed), parsed)
        if tool.is_text_only:
            return ToolAnswer(tool.text(result), {}, is_text_only=True)
        return ToolAnswer(tool.text(result), dump(result))
    except MootError as error:
        return refusal(error)
    except Exception:  # noqa: BLE001  # the boundary of a tool call
        _log.exception("the tool %s failed", name)
        return refusal(MootError(f"The tool {name[:80]} failed inside moot.", "The host's log has the details."))


def refusal(error: MootError) -> ToolAnswer:
    """An error as callers see it: stable code, fact, remedy."""
    facts: dict[str, Json] = {"code": error.code, "message": error.fact, "remedy": error.remedy}
    return ToolAnswer(f"{error.code}: {error}", {"error": facts}, is_error=True)


def dump(result: BaseModel) -> dict[str, Json]:
    plain: dict[str, Any] = result.model_dump(mode="json", exclude_none=True)
    return plain


def _allowed(caller: Caller, name: str, tool: Tool | None) -> Tool:
    if tool is None:
        raise ToolNotFound(f"There is no tool {name[:80]!r}.", "See tools/list.")
    if not table.is_offered(tool, caller):
        raise groups.refusal(caller, name)
    return tool


def _parsed(tool: Tool, arguments: Mapping[str, Json]) -> Any:
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise problems.in_call(tool.name, error, tool.arguments, arguments) from error
