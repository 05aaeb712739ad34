"""The scenarios as graphs of LangGraph, without a checkpointer or with SqliteSaver. Runs in the peers' environment."""

# pyright: basic, reportMissingImports=false

import operator
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode

from bench.crew import Job, Order, Result
from bench.peers import script
from bench.peers.script import PLAYS, Scenario

_LIMIT = 1_000  # steps


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    asked: Annotated[int, operator.add]


@contextmanager
def playing(setup: Order) -> Generator[Job]:
    """Takes orders: which scenario, how often, and the folder if it is to be durable."""
    yield _play


def _play(order: Order) -> Result:
    scenario: Scenario = order["scenario"]
    if order["folder"] is None:
        return _timed(_GRAPHS[scenario]().compile(), scenario, order["repeats"])
    folder = Path(order["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    commits: list[str] = []
    with closing(sqlite3.connect(folder / f"{time.monotonic_ns()}.db", check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        saver.setup()
        connection.execute("pragma synchronous = full")
        graph = _GRAPHS[scenario]().compile(checkpointer=saver)
        connection.set_trace_callback(lambda sql: commits.append(sql) if sql.startswith("COMMIT") else None)
        graph.invoke(_begun(), _config("counted"), durability="sync")
        connection.set_trace_callback(None)
        return {**_timed(graph, scenario, order["repeats"]), "commits": len(commits) / PLAYS[scenario].turns}


def _timed(graph: Any, scenario: Scenario, repeats: int) -> Result:
    more: dict[str, Any] = {"durability": "sync"} if graph.checkpointer else {}
    cpu, wall = time.process_time(), time.monotonic()
    for number in range(repeats):
        found = graph.invoke(_begun(), _config(str(number)), **more)
        assert found["asked"] == PLAYS[scenario].turns, found["asked"]
    return {"cpu": time.process_time() - cpu, "wall": time.monotonic() - wall}


def _begun() -> dict[str, Any]:
    return {"messages": [HumanMessage(script.PROMPT)], "asked": 0}


def _config(thread: str) -> Any:
    return {"recursion_limit": _LIMIT, "configurable": {"thread_id": thread}}


class _Model(BaseChatModel):
    """Calls a tool for as long as it should, then says something."""

    calls: int = 0

    @property
    def _llm_type(self) -> str:
        return "bench"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        said = AIMessage(script.SAID)
        if len(messages) <= 2 * self.calls:
            call = {"name": script.TOOL, "args": dict(script.ARGUMENTS), "id": f"call{len(messages)}"}
            said = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def look(place: str) -> str:
    """Look at a place."""
    return script.FOUND


def _asks(model: _Model) -> Callable[[State], dict[str, Any]]:
    return lambda state: {"messages": [model.invoke(state["messages"])], "asked": 1}


_says = _asks(_Model())


def _tools() -> StateGraph:
    graph = StateGraph(State)
    graph.add_node("model", _asks(_Model(calls=script.TOOL_TURNS)))
    graph.add_node("tools", ToolNode([look]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    graph.add_edge("tools", "model")
    return graph


def _chain() -> StateGraph:
    graph = StateGraph(State)
    before = START
    for name in script.STAGES:
        graph.add_node(name, _says)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph


def _advisors() -> StateGraph:
    graph = StateGraph(State)
    graph.add_node(script.ALONE, _says)
    for name in script.ADVISORS:
        graph.add_node(name, _says)
        graph.add_edge(START, name)
    graph.add_edge(list(script.ADVISORS), script.ALONE)
    graph.add_edge(script.ALONE, END)
    return graph


def _chat() -> StateGraph:
    """A ring over one conversation."""
    graph = StateGraph(State)
    for name, following in zip(script.CHATTERS, (*script.CHATTERS[1:], script.CHATTERS[0]), strict=True):
        graph.add_node(name, _says)
        if following != script.CHATTERS[0]:
            graph.add_edge(name, following)
    graph.add_edge(START, script.CHATTERS[0])
    graph.add_conditional_edges(
        script.BOSS, lambda state: END if state["asked"] >= PLAYS["chat"].turns else script.CHATTERS[0]
    )
    return graph


_GRAPHS: dict[Scenario, Callable[[], StateGraph]] = {
    "tools": _tools,
    "chain": _chain,
    "advisors": _advisors,
    "chat": _chat,
}
