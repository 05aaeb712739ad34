"""What Claude Code prints, one event a line.

What is written to its input while it works reaches the model with its next tool result, or as a turn of its own; each
message is printed again when it is taken, which is how we know that none is left.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from moot.backends.backend import Called, Conversation, Failure, Usage, Warned, Wrote
from moot.backends.programs import at_signs, counting, faults, fields
from moot.backends.programs.counting import Tariff
from moot.backends.programs.launch import Event, Outcome, Reader, Spoken
from moot.core import json
from moot.core.json import Json

SERVER = "moot"
_LIMITS = frozenset(("error_max_turns", "error_max_budget_usd"))
_CAUSES: Mapping[str, Failure] = {
    "authentication_failed": "auth",
    "billing_error": "auth",
    "invalid_request": "refused",
    "model_not_found": "refused",
    "server_error": "unavailable",
    "overloaded": "unavailable",
    "max_output_tokens": "limit",
}


class ClaudeReader(Reader):
    """Reads the events of one run."""

    def __init__(self, session: str, before: Conversation | None, tariff: Tariff) -> None:
        self._session = session
        self._tariff = tariff
        self._before = before
        self._sent = 0
        self._taken = 0
        self._turns = 0
        self._cause = ""
        self._wait_until: datetime | None = None
        self._seen: set[str] = set()
        self._calls: dict[str, str] = {}  # under way: the names of tools
        self._usage = Usage(is_estimated=True)
        self._no_tools = ""

    def say(self, text: str) -> bytes:
        self._sent += 1
        content = [{"type": "text", "text": at_signs.literal(text)}]
        return json.dump_bytes({"type": "user", "message": {"role": "user", "content": content}}) + b"\n"

    @property
    def is_over(self) -> bool:
        if self.end is None:
            return False
        return self._taken >= self._sent or self.end.get("is_error") is True

    @property
    def is_hopeless(self) -> bool:
        return bool(self._no_tools)

    def read(self, event: Event) -> Iterator[Spoken]:
        match event.get("type"):
            case "system":
                yield from self._system(event)
            case "assistant":
                yield from self._assistant(event)
            case "user":
                yield from self._user(event)
            case "rate_limit_event":
                self._limited(fields.part(event, "rate_limit_info"))
            case "result":
                self.end = event
                self._turns += fields.count(event, "num_turns")
                yield from (_denial(one) for one in fields.parts(event, "permission_denials"))
            case _:
                pass

    def _system(self, event: Event) -> Iterator[Spoken]:
        match event.get("subtype"):
            case "init":
                self.end = None  # of the turn before
                status = _status(event)
                if status in ("failed", "needs-auth", "disabled", ""):
                    self._no_tools = f"its connection to moot's tools is {status or 'missing'}"
            case "api_retry":
                status = fields.count(event, "error_status")
                why = f"status {status}" if status else fields.text(event, "error") or "no connection"
                yield Warned(f"claude tries the model again ({why}).")
            case _:
                pass

    def _assistant(self, event: Event) -> Iterator[Spoken]:
        message = fields.part(event, "message")
        self._cause = fields.text(event, "error")
        for block in fields.parts(message, "content"):
            if block.get("type") == "text" and not self._cause and fields.text(block, "text"):
                yield Wrote(fields.text(block, "text"))
            elif block.get("type") == "tool_use":
                self._calls[fields.text(block, "id")] = fields.text(block, "name").removeprefix(f"mcp__{SERVER}__")
        name, used = fields.text(message, "id"), fields.part(message, "usage")
        if name not in self._seen:  # each block of a message comes in an event of its own
            self._seen.add(name)
            told = self._tariff.estimate(
                Usage(_input(used), fields.count(used, "output_tokens"), 1, is_estimated=True),
                fields.count(used, "cache_read_input_tokens"),
                fields.text(message, "model"),
            )
            self._usage += told
            yield told

    def _user(self, event: Event) -> Iterator[Spoken]:
        blocks = fields.parts(fields.part(event, "message"), "content")
        if event.get("isReplay") is True:
            # Messages that waited together are taken together; each is a block of its own.
            self._taken += max(1, len(blocks))
        for block in blocks:
            if block.get("type") == "tool_result":
                name = self._calls.pop(fields.text(block, "tool_use_id"), "")
                yield Called(name, is_error=block.get("is_error") is True)

    def _limited(self, info: Mapping[str, Json]) -> None:
        if info.get("status") == "rejected":
            self._wait_until = fields.moment(info, "resetsAt") or self._wait_until

    def used(self) -> Usage:
        return self._usage

    def outcome(self) -> Outcome | None:
        if self._no_tools:
            return Outcome("no_tools", self._no_tools, usage=self._usage)
        if self.end is None:
            return None
        total = self._total(self.end)
        failure = self._failure(self.end)
        text = fields.text(self.end, "result")
        errors = self.end.get("errors")
        said = "; ".join(map(str, errors)) if isinstance(errors, list | tuple) else ""
        return Outcome(
            failure,
            said or text or fields.text(self.end, "subtype") if failure else "",
            "" if failure else text,
            counting.since(total, self._before),
            Conversation(self._session, total),
            self._wait_until if failure == "rate_limit" else None,
        )

    def _total(self, result: Event) -> Usage:
        """Tokens and cost are counted over all turns of the conversation, turns only over the last one asked for."""
        models = [one for one in fields.part(result, "modelUsage").values() if isinstance(one, Mapping)]
        return Usage(
            sum(fields.count(one, "inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens") for one in models),
            sum(fields.count(one, "outputTokens") for one in models),
            self._turns + (self._before.used.turns if self._before else 0),
            fields.number(result, "total_cost_usd"),
        )

    def _failure(self, result: Event) -> Failure | None:
        subtype, status = fields.text(result, "subtype"), fields.count(result, "api_error_status")
        # One that says elsewhere when to come back need not say it in words.
        said = "" if self._wait_until else fields.text(result, "result")
        if subtype in _LIMITS:
            return "limit"
        if subtype == "success" and result.get("is_error") is False:
            return None
        if status:
            return faults.by_status(status, said)
        if self._cause == "rate_limit":
            return faults.by_status(429, said)
        if self._cause in _CAUSES:
            return _CAUSES[self._cause]
        return "unavailable" if result.get("api_error") == "connection_failed" else "error"


def _status(event: Event) -> str:
    servers = fields.parts(event, "mcp_servers")
    return next((fields.text(one, "status") for one in servers if one.get("name") == SERVER), "")


def _denial(one: Mapping[str, Json]) -> Warned:
    return Warned(f"claude was not permitted to use {fields.text(one, 'tool_name')}.")


def _input(used: Mapping[str, Json]) -> int:
    return fields.count(used, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
