"""A model that answers from a script, for sessions without a network: demos, tests, and what things would cost."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import field
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from moot.core import durations, json, problems, text
from moot.core.clock import Clock
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record
from moot.models.model import Answer, Call, Kind, ModelFailed, Piece, Request, Results, Stop, Usage

_MOST = 10**12
_PIECE = 40  # characters
_LONGEST = 200  # characters of what went wrong


class ScriptInvalid(InvalidInput):
    code = "SCRIPT_INVALID"


class UsageLine(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    input_tokens: int = Field(default=0, ge=0, le=_MOST)
    output_tokens: int = Field(default=0, ge=0, le=_MOST)
    cost: float = Field(default=0.0, ge=0, le=_MOST, allow_inf_nan=False)  # dollars
    estimated: bool = False


class AnswerLine(BaseModel):
    """One answer: words, calls, and why it ends; or a failure, for as many times as `fails` says."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    takes: Annotated[str, AfterValidator(durations.checked)] = Field(
        default="0s", description="How long it takes to answer, or to fail"
    )
    say: str = Field(default="", description="Its words")
    calls: tuple[Annotated[Mapping[str, Mapping[str, JsonValue]], Field(min_length=1, max_length=1)], ...] = Field(
        default=(), strict=False, description="Tools that it calls, each with its arguments"
    )
    stop: Stop | None = Field(default=None, description="Why it ends; left out: tools if it calls any, else end")
    fail: Kind | None = Field(default=None, description="How asking fails, instead of an answer")
    fails: int | None = Field(default=None, ge=1, description="How often it fails; left out: every time")
    wait: Annotated[str, AfterValidator(durations.checked)] | None = Field(
        default=None, description="How long the provider asks to wait with a failure"
    )
    usage: UsageLine = Field(default=UsageLine(), description="What this answer is said to have used")


class Answers(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    answers: tuple[AnswerLine, ...] = Field(strict=False)


def parse(answers: Json) -> tuple[AnswerLine, ...]:
    """The answers of an agent's settings; ScriptInvalid names the one that is wrong."""
    data = {"answers": json.loads(json.dump_bytes(answers))}
    try:
        return Answers.model_validate(data).answers
    except ValidationError as error:
        first = problems.found(error, Answers, data)[0]
        raise ScriptInvalid(f"{first.fact}.", first.remedy) from error


@record
class ScriptedModel:
    """Gives the nth answer to a conversation that holds n - 1 of them, so that asking again gets the same."""

    answers: tuple[AnswerLine, ...]
    clock: Clock
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _failed: Counter[int] = field(default_factory=Counter[int])

    async def ask(self, request: Request) -> AsyncGenerator[Piece | Answer]:
        number = sum(isinstance(one, Answer) for one in request.messages)
        if number >= len(self.answers):
            raise _used_up(len(self.answers), request)
        line = self.answers[number]
        if (seconds := durations.parse(line.takes).total_seconds()) > 0:
            await self.sleep(seconds)
        self._fail(line, number)
        for start in range(0, len(line.say), _PIECE):
            yield Piece(line.say[start : start + _PIECE])
        yield _answer(line, number)

    def cost(self, request: Request) -> float:
        """What the answer to this is said to cost."""
        number = sum(isinstance(one, Answer) for one in request.messages)
        return self.answers[number].usage.cost if number < len(self.answers) else 0.0

    def _fail(self, line: AnswerLine, number: int) -> None:
        if line.fail is None or (line.fails is not None and self._failed[number] >= line.fails):
            return
        self._failed[number] += 1
        wait: timedelta | None = None if line.wait is None else durations.parse(line.wait)
        until = None if wait is None else self.clock.now() + wait
        raise ModelFailed(line.fail, f"The script fails here ({line.fail}).", until=until)


def _used_up(count: int, request: Request) -> ModelFailed:
    """Asked again, it would have no more. Why it was asked is often a call that it had made in vain."""
    told = f"The script has {text.counted(count, 'answer')}, and was asked for one more."
    last = request.messages[-1]
    failed = [one for one in last.results if one.is_error] if isinstance(last, Results) else []
    in_vain = [f" Its call of {one.call.name} had failed: {_shortened(one.text)}" for one in failed]
    return ModelFailed("refused", told + "".join(in_vain))


def _shortened(said: str) -> str:
    flat = " ".join(said.split())
    return flat if len(flat) <= _LONGEST else f"{flat[:_LONGEST]}…"


def _answer(line: AnswerLine, number: int) -> Answer:
    wanted = [(name, arguments) for call in line.calls for name, arguments in call.items()]
    calls = tuple(
        Call(f"call_{number}_{place}", name, json.dumps(dict(arguments)))
        for place, (name, arguments) in enumerate(wanted)
    )
    said = line.usage
    usage = Usage(said.input_tokens, said.output_tokens, cost=said.cost, is_estimated=said.estimated)
    return Answer(line.say, calls, line.stop or ("tools" if calls else "end"), usage)
