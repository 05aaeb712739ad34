"""A bare loop that plays the scenarios: a list of messages, a model, a tool, and a note of everything that happens.

It notes what moot notes: that a session, a request or a call begins, and what came of it.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from bench.peers import script
from bench.peers.script import Scenario

Message = Mapping[str, Any]
Note = Callable[[str, str, Any], None]  # what happened, where, and what came of it

_CALL: Message = {"role": "assistant", "calls": [{"name": script.TOOL, "arguments": dict(script.ARGUMENTS)}]}
_SAY: Message = {"role": "assistant", "text": script.SAID}
_TABLE = "create table events (number integer primary key, kind text, path text, data text, at integer) strict"
_ADD = "insert into events (kind, path, data, at) values (?, ?, ?, ?)"


class Notebook:
    """Events in a file, durable as moot's: one commit each, or those together that moot writes together."""

    def __init__(self, file: Path, *, is_gathered: bool = False) -> None:
        self._connection = apsw.Connection(str(file))
        self._connection.pragma("journal_mode", "wal")
        self._connection.pragma("synchronous", "full")
        self._connection.execute(_TABLE)
        self._is_gathered = is_gathered
        self._waiting: list[tuple[str, str, str, int]] = []
        self.commits = 0

    def note(self, kind: str, path: str, data: Any) -> None:
        self._waiting.append((kind, path, json.dumps(data), time.time_ns() // 1000))
        if not self._is_gathered or kind in ("model_begun", "tool_begun", "session_done"):
            self._commit()

    def _commit(self) -> None:
        self._connection.execute("begin immediate")
        for event in self._waiting:
            self._connection.execute(_ADD, event)
        self._connection.execute("commit")
        self._waiting.clear()
        self.commits += 1

    def count(self) -> int:
        ((count,),) = self._connection.execute("select count(*) from events").fetchall()
        assert isinstance(count, int)
        return count

    def close(self) -> None:
        self._connection.close()


def forget(kind: str, path: str, data: Any) -> None:
    """For loops that keep nothing."""


async def play(scenario: Scenario, note: Note) -> str:
    """What was said last."""
    match scenario:
        case "tools":
            return await _session("", script.PROMPT, _calls_then_words(), note)
        case "chain":
            said = script.PROMPT
            for stage in script.STAGES:
                said = await _session(stage, said, iter((_SAY,)), note)
            return said
        case "advisors":
            advised = (_session(one, script.PROMPT, iter((_SAY,)), note) for one in script.ADVISORS)
            told = "\n\n".join((script.PROMPT, *await asyncio.gather(*advised)))
            return await _session("", told, iter((_SAY,)), note)
        case "chat":
            return await _chat(note)


def _calls_then_words() -> Iterator[Message]:
    for _ in range(script.TOOL_TURNS):
        yield _CALL
    yield _SAY


async def _session(path: str, prompt: str, answers: Iterator[Message], note: Note) -> str:
    note("session_begun", path, {"prompt": prompt})
    messages: list[Message] = [{"role": "user", "text": prompt}]
    turn = 0
    while True:
        turn += 1
        answer = await _ask(f"{path}/t{turn}", messages, answers, note)
        if "calls" not in answer:
            note("session_done", path, answer["text"])
            return answer["text"]
        (call,) = answer["calls"]
        messages.append({"role": "tool", "text": await _call(f"{path}/t{turn}/c1", call, note)})


async def _ask(path: str, messages: list[Message], answers: Iterator[Message], note: Note) -> Message:
    note("model_begun", path, {})
    answer = await _model(messages, answers)
    note("model_done", path, answer)
    messages.append(answer)
    return answer


async def _model(messages: list[Message], answers: Iterator[Message]) -> Message:
    return next(answers)


async def _call(path: str, call: Mapping[str, Any], note: Note) -> str:
    note("tool_begun", path, {"name": call["name"]})
    found = await _look(**call["arguments"])
    note("tool_done", path, found)
    return found


async def _look(place: str) -> str:
    return script.FOUND


async def _chat(note: Note) -> str:
    """Each in turn is told what the others have said since, and says something. The last of them asks the others on, so
    that for it all of it is one session; for the others every turn is."""
    histories: dict[str, list[Message]] = {name: [] for name in script.CHATTERS}
    news: dict[str, list[str]] = {name: [script.PROMPT] for name in script.CHATTERS}
    answers = iter([_SAY] * script.PLAYS["chat"].turns)
    said = ""
    note("team_begun", "", {"prompt": script.PROMPT})
    note("session_begun", script.BOSS, {"prompt": script.PROMPT})
    for cycle in range(script.CYCLES):
        for name in script.CHATTERS:
            told, news[name] = "\n\n".join(news[name]), []
            histories[name].append({"role": "user", "text": told})
            path = f"{name}/q{cycle}"
            if name != script.BOSS:
                note("session_begun", path, {"prompt": told})
            said = (await _ask(path, histories[name], answers, note))["text"]
            if name != script.BOSS:
                note("session_done", path, said)
            for other in script.CHATTERS:
                if other != name:
                    news[other].append(said)
    note("session_done", script.BOSS, said)
    note("team_done", "", said)
    return said


def run(scenario: Scenario, repeats: int, folder: Path | None, *, is_gathered: bool = False) -> tuple[float, float]:
    """CPU and wall seconds of all repeats; with a folder, durable."""
    if folder is None:
        return asyncio.run(_timed(scenario, repeats, forget))
    folder.mkdir(parents=True, exist_ok=True)
    with closing(Notebook(folder / f"{time.monotonic_ns()}.db", is_gathered=is_gathered)) as notebook:
        return asyncio.run(_timed(scenario, repeats, notebook.note))


async def _timed(scenario: Scenario, repeats: int, note: Note) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.monotonic()
    for _ in range(repeats):
        await play(scenario, note)
    return time.process_time() - cpu, time.monotonic() - wall
