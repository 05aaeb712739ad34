"""Exchanges: what the sessions of an attempt asked of models, each request whole again, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from moot.backends.backend import Briefing
from moot.core.records import record
from moot.core.tree_path import TreePath
from moot.taping.replaying.score import INBOX, Score
from moot.taping.tape import Asked, Call, Heard, Refused, Replied, Result, Tape, Unanswered


@record
class ToldResult:
    """What the model was told of a call. What it has only read may be another by now, a moment earlier or later."""

    tool: str
    text: str
    is_error: bool
    is_reading: bool


@record
class Exchange:
    asked: Asked
    words: str
    results: tuple[ToldResult, ...]
    system: str
    tools: tuple[str, ...]
    failures: tuple[Unanswered, ...]  # after which it was asked again
    end: Replied | Unanswered | None  # None: the tape has none
    is_given_up: bool  # nobody waited for its end any longer, and others in the tree went on

    @property
    def path(self) -> str:
        return self.asked.path

    @property
    def model(self) -> str:
        return self.asked.model

    @property
    def heard(self) -> Heard | None:
        return self.asked.heard

    @property
    def session(self) -> TreePath:
        return TreePath(self.asked.path).session


@dataclass(slots=True)
class _Attempt:
    """What the tape has of one attempt, in its order."""

    calls: list[Call] = field(default_factory=list[Call])
    asked: list[Asked | Refused] = field(default_factory=list[Asked | Refused])
    ends: dict[tuple[str, int], list[Replied | Unanswered]] = field(
        default_factory=dict[tuple[str, int], list[Replied | Unanswered]]
    )
    last: Asked | Replied | Unanswered | Refused | None = None

    def exchanges(self, briefing: Briefing) -> list[Exchange | Refused]:
        found: list[Exchange | Refused] = []
        before: dict[str, Exchange] = {}  # the last of each session
        for line in self.asked:
            if isinstance(line, Refused):
                found.append(line)
                continue
            session = TreePath(line.path).session
            before[session] = self._exchange(line, briefing, before.get(session))
            found.append(before[session])
        return found

    def _exchange(self, line: Asked, briefing: Briefing, before: Exchange | None) -> Exchange:
        came = self.ends.get((line.path, line.number), ())
        end = next((one for one in came if isinstance(one, Replied) or one.again is None), None)
        system, tools = (briefing.system_prompt, ()) if before is None else (before.system, before.tools)
        return Exchange(
            asked=line,
            words=_words(line, briefing),
            results=tuple(_told(one, self.calls) for one in line.results),
            system=system if line.system is None else line.system,
            tools=tools if line.tools is None else line.tools,
            failures=tuple(one for one in came if isinstance(one, Unanswered) and one.again is not None),
            end=end,
            is_given_up=end is None and self.last not in (line, *came),
        )


def compose(tape: Tape, score: Score) -> Mapping[str, tuple[Exchange | Refused, ...]]:
    """By attempt, with the requests that were not made."""
    found: dict[str, _Attempt] = {}
    for line in tape.lines:
        if isinstance(line, Call) and line.attempt is not None:
            found.setdefault(line.attempt, _Attempt()).calls.append(line)
        elif isinstance(line, Asked | Replied | Unanswered | Refused):
            attempt = found.setdefault(line.attempt, _Attempt())
            attempt.last = line
            if isinstance(line, Asked | Refused):
                attempt.asked.append(line)
            else:
                attempt.ends.setdefault((line.path, line.number), []).append(line)
    return {id: tuple(one.exchanges(score.briefed.get(id, Briefing()))) for id, one in found.items()}


def _words(line: Asked, briefing: Briefing) -> str:
    heard = line.heard.text.strip() if line.heard else ""
    return f"{briefing.prompt if line.is_briefed else ''}{line.words}{heard}{line.more_words}"


def _told(result: Result, calls: Sequence[Call]) -> ToldResult:
    told = ToldResult(result.tool, result.text, result.is_error, is_reading=False)
    if result.call is None or not 0 <= result.call < len(calls):
        return told
    call = calls[result.call]
    # Checking the inbox hands out what it shows, and is reading all the same.
    is_reading = not call.is_error and (call.operation is None or call.tool == INBOX)
    return replace(told, text=f"{call.text}{result.text}", is_reading=is_reading)
