"""A request as the fake server got it: as it came, and as a conversation whatever the wire."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Wire = Literal["anthropic", "responses", "chat", "google", "count_tokens", "other"]


@dataclass(frozen=True)
class AskedCall:
    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """What a tool answered; `name` is that of the call it belongs to."""

    id: str
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Turn:
    role: str
    text: str = ""
    calls: tuple[AskedCall, ...] = ()
    results: tuple[Result, ...] = ()


@dataclass(frozen=True)
class Talk:
    """What all wires have in common."""

    model: str
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[str, ...]
    is_stream: bool = False
    spaces: tuple[str, ...] = ()  # of tools, where a wire keeps them apart from the names


@dataclass(frozen=True)
class Asked:
    wire: Wire
    method: str
    path: str
    query: str
    headers: Mapping[str, str]  # names in lower case
    body: Mapping[str, Any]
    talk: Talk

    @property
    def model(self) -> str:
        return self.talk.model

    @property
    def system(self) -> str:
        return self.talk.system

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.talk.turns

    @property
    def tools(self) -> tuple[str, ...]:
        return self.talk.tools

    @property
    def is_stream(self) -> bool:
        return self.talk.is_stream

    @property
    def results(self) -> tuple[Result, ...]:
        """Of all tools, in the order in which they came."""
        return tuple(result for turn in self.turns for result in turn.results)

    @property
    def last_text(self) -> str:
        """The last words that are not the model's."""
        return next((turn.text for turn in reversed(self.turns) if turn.role != "assistant" and turn.text), "")

    @property
    def text(self) -> str:
        """All words of the conversation, results of tools included, the system prompt not."""
        said = [part for turn in self.turns for part in (turn.text, *(result.text for result in turn.results))]
        return "\n".join(part for part in said if part)

    def result_of(self, tool: str) -> str | None:
        """The last answer of this tool; None if it has not answered."""
        return next((result.text for result in reversed(self.results) if result.name == tool), None)

    def has_called(self, tool: str) -> bool:
        return any(call.name == tool for turn in self.turns for call in turn.calls)

    def tool(self, ending: str) -> str:
        """The offered tool with this name, alone or after a prefix as in `mcp__moot__inbox_check`."""
        if ending in self.tools:
            return ending
        found = next((name for name in self.tools if re.search(rf"(__|[._-]){re.escape(ending)}$", name)), None)
        if found is None:
            raise LookupError(f"No tool {ending} was offered, only {', '.join(self.tools) or 'none'}.")
        return found
