"""Compares what a model is asked now with what it was asked in the recording."""

from collections.abc import Callable, Iterator

from moot.models.model import Request
from moot.taping import delta
from moot.taping.replaying.drifts import difference
from moot.taping.replaying.exchanges import Exchange, ToldResult
from moot.taping.replaying.likeness import lasting, standing

Plain = Callable[[str], str]  # makes a text comparable with the tape


def compare(recorded: Exchange, request: Request, messages: int, plain: Plain) -> Iterator[str]:
    """Every difference, in words, in what is new behind so many messages. What others have written, and what was read
    of it, is compared where it stands: in mail, channel and documents."""
    new = delta.since(request, messages)
    if messages == 0:
        yield from _compare_setup(recorded, request, plain)
    results = [ToldResult(one.call.name, one.text, one.is_error, is_reading=False) for one in new.results]
    if [one.tool for one in results] != [one.tool for one in recorded.results]:
        yield f"it is told of {_names(results)} instead of {_names(recorded.results)}"
    else:
        for old, now in zip(recorded.results, results, strict=True):
            yield from _compare_result(old, now, plain)
    before, after = standing(plain(recorded.words)), standing(plain(new.words))
    if before != after:
        yield f"{'what it is told' if messages else 'the prompt'} differs: {difference(before, after)}"


def _compare_setup(recorded: Exchange, request: Request, plain: Plain) -> Iterator[str]:
    before, after = lasting(plain(recorded.system)), lasting(plain(request.system))
    if before != after:
        yield f"the system prompt differs: {difference(before, after)}"
    tools = tuple(one.name for one in request.tools)
    if set(tools) != set(recorded.tools):
        gone, more = sorted(set(recorded.tools) - set(tools)), sorted(set(tools) - set(recorded.tools))
        told = [f"without {', '.join(gone)}"] * bool(gone) + [f"with {', '.join(more)}"] * bool(more)
        yield f"the tools differ: {' and '.join(told)}"
    most = recorded.asked.max_tokens
    if most != request.max_tokens:
        was, is_now = most or "open", request.max_tokens or "open"
        yield f"the most tokens of an answer were {was} and are {is_now}"


def _compare_result(old: ToldResult, now: ToldResult, plain: Plain) -> Iterator[str]:
    before, after = standing(plain(old.text)), standing(plain(now.text))
    if old.is_error != now.is_error or (before != after and not old.is_reading):
        yield f"the answer of {now.tool} differs: {difference(before, after)}"


def _names(results: "list[ToldResult] | tuple[ToldResult, ...]") -> str:
    return ", ".join(one.tool for one in results) or "no call"
