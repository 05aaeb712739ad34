"""A Python function is told to agents as it is written, called once for each call, and never breaks the server."""

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from moot.core import tool_schemas
from moot.core.caller import Caller
from moot.core.errors import MootError
from moot.core.ids import InstanceName
from moot.core.json import Json
from moot.core.tool import ToolAnswer
from moot.ledger.operations import Key
from moot.store.store import Store
from moot.tools import dispatch, functions, table
from moot.tools.around import Around
from moot.tools.functions import FunctionRefused
from moot.tools.table import Functions
from tests.tools.desk import DEFAULT, OPERATOR, member, open_desk


@dataclass
class Box:
    width: int
    label: str | None


def stock(item: Annotated[str, "What is looked for."], at: Literal["north", "south"] = "north") -> int:
    """How many of an item are in stock."""
    return len(item) * (1 if at == "north" else 10)


async def call(
    store: Store, function: Callable[..., Any], key: str | None = None, idempotent: bool = False, **arguments: Json
) -> ToolAnswer:
    tool = functions.tool_of(function, is_idempotent=idempotent)
    around = Around(functions=Functions({tool.name: tool}))
    used = Key("here", key) if key else None
    return await dispatch.perform(store, OPERATOR, tool.name, arguments, used, around=around)


def test_an_agent_is_told_name_docstring_types_and_defaults() -> None:
    tool = functions.tool_of(stock)
    schema: Any = tool_schemas.arguments(tool)
    assert (tool.name, tool.group, tool.words) == ("stock", "functions", "How many of an item are in stock.")
    assert schema["properties"]["item"] == {"type": "string", "description": "What is looked for."}
    assert schema["properties"]["at"] == {"type": "string", "enum": ["north", "south"], "default": "north"}
    assert schema["required"] == ["item"]
    assert tool_schemas.result(tool)["properties"] == {"result": {"type": "integer"}}


async def test_a_call_is_answered_with_what_the_function_returns(store: Store) -> None:
    answer = await call(store, stock, item="pears", at="south")
    assert (answer.text, answer.structured, answer.is_error) == ("50", {"result": 50}, False)


async def test_an_async_function_is_awaited_and_a_plain_one_does_not_hold_up_the_loop(store: Store) -> None:
    async def slow(word: str) -> str:
        """Says it after a turn of the loop."""
        await asyncio.sleep(0)
        return word.upper()

    def where() -> bool:
        """Whether it runs beside the loop."""
        return threading.current_thread() is not threading.main_thread()

    assert (await call(store, slow, word="so")).text == "SO"
    assert (await call(store, where)).structured == {"result": True}


async def test_dataclasses_are_taken_and_given_and_what_is_null_is_left_out(store: Store) -> None:
    def wider(box: Box) -> Box:
        """A wider one."""
        return Box(box.width + 1, None)

    answer = await call(store, wider, box={"width": 1, "label": "a"})
    assert answer.structured == {"result": {"width": 2}}
    required: Any = tool_schemas.result(functions.tool_of(wider))["$defs"]
    assert required["Box"]["required"] == ["width"]


async def test_arguments_may_be_called_like_methods_of_models(store: Store) -> None:
    def odd(json: str, schema: int = 2) -> str:
        """Odd names."""
        return json * schema

    assert (await call(store, odd, json="a")).text == "aa"


async def test_a_function_may_ask_who_calls(store: Store) -> None:
    def who(caller: Caller, greeting: str = "hello") -> str:
        """Greets."""
        return f"{greeting} {caller.name}"

    assert (await call(store, who)).text == "hello human"
    assert list(functions.tool_of(who).arguments.model_json_schema()["properties"]) == ["greeting"]


@pytest.mark.parametrize("wrong", [{}, {"item": "a", "more": 1}, {"item": "a", "at": "west"}, {"item": {"a": 1}}])
async def test_wrong_arguments_are_refused_before_the_function_is_called(store: Store, wrong: dict[str, Json]) -> None:
    called: list[str] = []

    def noting(item: str, at: Literal["north", "south"] = "north") -> None:
        """Notes that it was called."""
        called.append(item + at)

    tool = functions.tool_of(noting)
    around = Around(functions=Functions({tool.name: tool}))
    answer = await dispatch.perform(store, OPERATOR, tool.name, wrong, around=around)
    assert answer.text.startswith("INVALID_INPUT: noting: ")
    assert called == []


async def test_a_failure_is_told_in_words_and_logged_with_its_traceback(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> str:
        """Breaks."""
        raise LookupError("no such shelf")

    with caplog.at_level(logging.WARNING, "moot.functions"):
        answer = await call(store, broken)
    assert answer.text.startswith("FUNCTION_FAILED: broken failed: LookupError: no such shelf. ")
    assert "Traceback" not in answer.text
    assert caplog.records[0].exc_info is not None


async def test_an_answer_of_another_type_is_a_failure(store: Store) -> None:
    def wrong() -> int:
        """Promises a number."""
        return "many"  # type: ignore[return-value]  # pyright: ignore[reportReturnType]

    assert "wrong answered str, which is not what it says" in (await call(store, wrong)).text


async def test_words_of_its_own_reach_the_agent(store: Store) -> None:
    def choosy() -> None:
        """Refuses."""
        raise MootError("The shop is closed.", "Come back tomorrow.")

    assert (await call(store, choosy)).text == "ERROR: The shop is closed. Come back tomorrow."


async def test_the_same_key_is_answered_the_same_without_another_call(store: Store) -> None:
    made: list[int] = []

    def count() -> int:
        """Counts its calls."""
        made.append(1)
        return len(made)

    assert [(await call(store, count, key="a")).text for _ in range(2)] == ["1", "1"]
    assert [(await call(store, count, key="a", idempotent=True)).text for _ in range(2)] == ["2", "3"]


async def test_an_outcome_that_was_lost_is_not_made_up_for_unless_the_function_is_idempotent(store: Store) -> None:
    begun = asyncio.Event()

    async def endless() -> str:
        """Never answers the first time."""
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return "now"

    for is_idempotent in (False, True):
        begun.clear()
        lost = asyncio.ensure_future(call(store, endless, key=f"lost {is_idempotent}", idempotent=is_idempotent))
        await begun.wait()
        lost.cancel()
        await asyncio.wait([lost])
        again = await call(store, endless, key=f"lost {is_idempotent}", idempotent=is_idempotent)
        assert again.is_error is not is_idempotent
        assert again.text == "now" if is_idempotent else again.text.startswith("OUTCOME_UNKNOWN")


async def test_only_callers_of_the_instance_who_hold_the_group_are_offered_it(store: Store) -> None:
    tool = functions.tool_of(stock)
    given = Functions({tool.name: tool}, DEFAULT)
    desk = await open_desk(store)
    ann = member(await desk.house.join("ann"))
    holders = {
        "all": ann,
        "by group": _with(ann, ("inbox", "functions")),
        "by name": _with(ann, ("stock",)),
    }
    others = {"no group": _with(ann, ("inbox",)), "elsewhere": Caller("ann", "member", InstanceName("other"))}
    for name, caller in {**holders, **others}.items():
        is_offered = "stock" in [one.name for one in table.offered(caller, given)]
        assert is_offered is (name in holders), name
        answer = await dispatch.perform(store, caller, "stock", {"item": "a"}, around=Around(functions=given))
        assert answer.is_error is (name in others), name


def _with(caller: Caller, groups: tuple[str, ...]) -> Caller:
    return Caller(caller.name, caller.role, caller.instance, caller.agent, groups=groups)


@pytest.mark.parametrize(
    ("written", "fact"),
    [
        ("(item: str) -> str: return item", "found has no docstring."),
        ("(item) -> str: 'Says no type.'", "found: `item` has no type."),
        ("(item: str): 'Says no result.'", "found does not say what it returns."),
        (
            "(*items: str) -> str: 'Takes any number.'",
            "found takes `*items: str`, which has no name that an agent could use.",
        ),
        ("(lock: threading.Lock) -> str: 'Takes what no JSON is.'", "found has a type that cannot be told as JSON:"),
        ("(item: 'Nowhere') -> str: 'Is lost.'", "The annotations of found cannot be read: name 'Nowhere' is not"),
    ],
)
def test_a_function_that_no_agent_could_be_told_of_is_refused(written: str, fact: str) -> None:
    scope: dict[str, Any] = {"threading": threading}
    exec(f"def found{written}", scope)
    with pytest.raises(FunctionRefused) as refused:
        functions.tool_of(scope["found"])
    assert refused.value.fact.startswith(fact)
    assert refused.value.remedy


@pytest.mark.parametrize("name", ["channel_send", "inbox", "functions", "a b", "1st", "x" * 65, ""])
def test_names_that_are_taken_or_no_names_are_refused(name: str) -> None:
    with pytest.raises(FunctionRefused):
        functions.tool_of(stock, name=name or "-")
