"""The process in which JavaScript is evaluated: requests in, a line for each evaluation out. Who hangs is killed.

Run as a program by `sandbox`, by its path and apart from the rest of moot, so that it starts in a moment and knows
nothing. A request is one line: what may be used, and evaluations in the order in which they build on each other.
"""

import json
import re
import resource
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import quickjs as untyped  # pyright: ignore[reportMissingTypeStubs]

quickjs: Any = untyped

_SECONDS = 1  # of CPU for one evaluation
_MEMORY = 64 << 20
_STACK = 512 << 10
_PROCESS_MEMORY = 1 << 30
_MOST = 4 << 20  # characters of one result; spelled for a line each may take twelve
_PRELUDE = Path(__file__).with_name("prelude.js").read_text(encoding="utf-8")
_PLACE = re.compile(r":(\d+):\d+\)?\s*$", re.MULTILINE)
_LIMITS = {
    "interrupted": f"It takes longer than {_SECONDS} s.",
    "out of memory": f"It needs more than {_MEMORY >> 20} MB of memory.",
    "stack": "It calls itself too deep.",
}


class Room:
    """Where one request is evaluated: a fresh context, and another one after a limit was reached."""

    def __init__(self, functions: dict[str, Any], request: Any) -> None:
        self._request = request
        self._scope: dict[str, str] = dict(request["scope"])
        self._functions = functions
        self._move_in()

    def evaluate(self, job: Any) -> dict[str, Any]:
        if any(name not in self._scope for name in job["inputs"]):
            return self._settle(job, {"absent": True})
        try:
            text = self._functions["evaluate"](json.dumps(job))
        except quickjs.JSException as error:
            return self._settle(job, self._failed(job, str(error)))
        if text is None:
            return self._settle(job, {"absent": True})
        if len(text) > _MOST:
            return self._settle(
                job, {"error": f"The result has more than {_MOST >> 20} million characters.", "line": 0}
            )
        return self._settle(job, {"text": text})

    def _failed(self, job: Any, said: str) -> dict[str, Any]:
        message, _, stack = said.partition("\n")
        limit = next((words for sign, words in _LIMITS.items() if sign in message), None)
        if limit is not None:  # the context may be in no state to go on
            self._functions = furnished()
            self._move_in()
            return {"error": limit, "line": 0}
        found = _PLACE.search(stack)
        line = max(int(found[1]) - 1, 1) if found else 0  # the code begins on the second line of its function
        return {"error": message, "line": min(line, job["code"].count("\n") + 1)}

    def _settle(self, job: Any, outcome: dict[str, Any]) -> dict[str, Any]:
        """What later evaluations find under its name: the result, what stands in for it, or nothing."""
        if "error" in outcome and "fallback" in job:
            outcome |= {"text": job["fallback"]}
        if target := job["target"]:
            if "text" in outcome:
                self._scope[target] = outcome["text"]
                self._functions["put"](target, outcome["text"])
            else:
                self._scope.pop(target, None)
                self._functions["drop"](target)
        return outcome

    def _move_in(self) -> None:
        self._functions["begin"](json.dumps([self._request["moment"], self._request["seed"]]))
        for name, text in self._scope.items():
            self._functions["put"](name, text)


def furnished() -> dict[str, Any]:
    """The functions of a context that nobody has used."""
    context = quickjs.Context()
    context.set_max_stack_size(_STACK)
    context.set_memory_limit(_MEMORY)
    context.set_time_limit(_SECONDS)
    context.eval(f"const room = {_PRELUDE}()")
    return {name: context.eval(f"room.{name}") for name in ("begin", "put", "drop", "evaluate")}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_PROCESS_MEMORY, _PROCESS_MEMORY))
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
    print("ready", flush=True)  # noqa: T201 the first line of the protocol
    spare = furnished()  # made while nobody waits: it takes longer than most requests
    for line in sys.stdin.buffer:
        request = json.loads(line)
        room = Room(spare, request)
        for job in request["jobs"]:
            began = perf_counter()
            outcome = room.evaluate(job) | {"millis": (perf_counter() - began) * 1000}
            sys.stdout.buffer.write(json.dumps(outcome).encode() + b"\n")
            sys.stdout.buffer.flush()
        del room  # a context is given up while nobody waits, too: that takes longer than most evaluations
        spare = furnished()


if __name__ == "__main__":
    main()
