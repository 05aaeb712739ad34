"""The lines of a scripted agent, parsed once from YAML data."""

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from moot.backends.backend import Letter
from moot.core import durations, json, patterns, problems
from moot.core.errors import InvalidInput
from moot.core.json import Json
from moot.core.records import record

_MOST = 10**12
_PLACEHOLDER = re.compile(r"\$((?:from|message|id|prompt|system_prompt)\b|[1-9](?![0-9]))")

_PROMPT = re.compile(r"\$(?:system_)?prompt\b")


class ScriptInvalid(InvalidInput):
    code = "SCRIPT_INVALID"


class UsageLine(BaseModel):
    """What playing a line is said to have used."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    tokens: int = Field(default=0, ge=0, le=_MOST)
    turns: int = Field(default=0, ge=0, le=_MOST)
    cost: float = Field(default=0.0, ge=0, le=_MOST, allow_inf_nan=False)  # dollars
    estimated: bool = False


class Line(BaseModel):
    """What to do when a message matches: wait, call tools, fail or say something, in this order."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    on: Annotated[str, AfterValidator(patterns.check)] = ""
    place: Literal["message", "prompt", "system_prompt"] = Field(default="message", alias="in")  # where `on` looks
    sender: str | None = Field(default=None, alias="from")
    takes: Annotated[str, AfterValidator(durations.checked)] = "0s"
    calls: tuple[Annotated[Mapping[str, Mapping[str, JsonValue]], Field(min_length=1, max_length=1)], ...] = Field(
        default=(), strict=False
    )
    say: str = ""
    fail: str | None = None
    fails: int | None = Field(default=None, ge=1)  # only the first N attempts fail
    crash: bool = False
    hang: bool = False
    usage: UsageLine = UsageLine()

    @model_validator(mode="after")
    def _fails_somehow(self) -> Self:
        if self.fails is not None and self.fail is None and not self.crash and not self.hang:
            raise ValueError("`fails` says how often, but neither fail, crash nor hang says how")
        return self


class Script(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    script: tuple[Line, ...] = Field(strict=False)

    @cached_property
    def wants_briefing(self) -> bool:
        """Whether any line looks into the prompts, or shows them."""
        return any(line.place != "message" or _shows_prompt(line) for line in self.script)


@record
class Match:
    """A line that applies, and what its placeholders stand for."""

    line: Line
    values: Mapping[str, str]

    def fill(self, value: Any) -> Any:
        """Placeholders in every text of a value, once: what is put in is not looked at again."""
        if isinstance(value, str):
            return _PLACEHOLDER.sub(lambda found: self.values.get(found[1], ""), value)
        if isinstance(value, list | tuple):
            return [self.fill(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, Mapping):
            return {key: self.fill(one) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType]
        return value


def _shows_prompt(line: Line) -> bool:
    texts = [line.say, *(str(call) for call in line.calls)]
    return any(_PROMPT.search(text) for text in texts)


def parse(settings: Mapping[str, Json]) -> Script:
    """The script in an agent's settings; ScriptInvalid names the line that is wrong."""
    return _parsed(json.dump_bytes(settings.get("script", [])))


@lru_cache(maxsize=256)
def _parsed(lines: bytes) -> Script:
    """Agents play the same script again and again."""
    data = {"script": json.loads(lines)}
    try:
        return Script.model_validate(data)
    except ValidationError as error:
        first = problems.found(error, Script, data)[0]
        raise ScriptInvalid(f"{first.fact}.", first.remedy) from error


def match(script: Script, letter: Letter, prompts: Mapping[str, str]) -> Match | None:
    """The first line that applies to a message; `prompts` are the attempt's, for lines that look there. Raises
    PatternTooSlow."""
    texts = {"message": letter.body, **prompts}
    for line in script.script:
        if line.sender is not None and line.sender != letter.sender:
            continue
        found = patterns.search(line.on, texts[line.place])
        if found is not None:
            groups = {str(place): text for place, text in enumerate(found, 1)}
            return Match(line, {"from": letter.sender, "id": letter.id, **texts, **groups})
    return None
