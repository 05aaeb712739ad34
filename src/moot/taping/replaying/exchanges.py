"""Exchanges: what an attempt asked of its model, one request after the other, whole again, and what came of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from moot.backends.backend import Briefing
from moot.taping.replaying.score import INBOX, Score
from moot.taping.tape import Asked, Call, More, Replied, Result, Tape, Unanswered

Note: TypeAlias = Call | More


@dataclass(frozen=True, slots=True)
class ToldResult:
    """What the model was told of a call. What it has only read may be another by now, a moment earlier or later."""

    tool: str
    text: str
    is_error: bool
    is_reading: bool


@dataclass(frozen=True, slots=True)
class Exchange:
    words: str
    results: tuple[ToldResult, ...]
    system: str
    tools: tuple[str, ...]
    max_tokens: int | None
    failures: tuple[Unanswered, ...]  # after which it was asked again
    end: Replied | Unanswered | None  # None: the tape has none
    notes: tuple[Note, ...]  # what was played between this request and the next

    @property
    def wanted(self) -> int:
        """How many calls a session makes for the answer: those that can be read."""
        calls = self.end.calls if isinstance(self.end, Replied) else ()
        return sum(not isinstance(one.arguments, str) for one in calls)

    @property
    def calls(self) -> list[Call]:
        return [one for one in self.notes if isinstance(one, Call)]


def compose(tape: Tape, score: Score) -> Mapping[str, tuple[Exchange, ...]]:
    """By attempt."""
    asked: dict[str, list[tuple[int, Asked]]] = {}
    calls: dict[str | None, list[Call]] = {}
    ends: dict[tuple[str, int], list[Replied | Unanswered]] = {}
    for at, line in enumerate(tape.lines):
        match line:
            case Asked():
                asked.setdefault(line.attempt, []).append((at, line))
            case Replied() | Unanswered():
                ends.setdefault((line.attempt, line.number), []).append(line)
            case Call():
                calls.setdefault(line.attempt, []).append(line)
            case _:
                pass
    return {
        attempt: tuple(_of_attempt(score, requests, calls.get(attempt, []), ends))
        for attempt, requests in asked.items()
    }


def _of_attempt(
    score: Score,
    requests: Sequence[tuple[int, Asked]],
    calls: Sequence[Call],
    ends: Mapping[tuple[str, int], Sequence[Replied | Unanswered]],
) -> list[Exchange]:
    attempt = requests[0][1].attempt
    briefing = score.briefed.get(attempt, Briefing())
    played = [one for one in score.of_attempt(attempt) if isinstance(one, Call | More)]
    tools: tuple[str, ...] = ()
    found: list[Exchange] = []
    for number, (_, line) in enumerate(requests):
        start = requests[number][0] if number else 0
        over = requests[number + 1][0] if number + 1 < len(requests) else None
        came = ends.get((attempt, line.number), ())
        tools = tools if line.tools is None else line.tools
        exchange = Exchange(
            words=f"{briefing.prompt}{line.words}" if line.is_briefed else line.words,
            results=tuple(_told(one, calls) for one in line.results),
            system=briefing.system_prompt if line.system is None else line.system,
            tools=tools,
            max_tokens=line.max_tokens,
            failures=tuple(one for one in came if isinstance(one, Unanswered) and one.again is not None),
            end=next((one for one in came if isinstance(one, Replied) or one.again is None), None),
            notes=tuple(one for one in played if start <= score.heard[id(one)] and _is_before(score, one, over)),
        )
        found.append(exchange)
    return found


def _is_before(score: Score, note: Note, place: int | None) -> bool:
    return place is None or score.heard[id(note)] < place


def _told(result: Result, calls: Sequence[Call]) -> ToldResult:
    told = ToldResult(result.tool, result.text, result.is_error, is_reading=False)
    if result.call is None or not 0 <= result.call < len(calls):
        return told
    call = calls[result.call]
    # Checking the inbox hands out what it shows, and is reading all the same.
    is_reading = not call.is_error and (call.operation is None or call.tool == INBOX)
    return replace(told, text=f"{call.text}{result.text}", is_reading=is_reading)
