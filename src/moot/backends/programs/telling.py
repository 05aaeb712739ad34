"""A failure in words. The first line is what people see, so it says why, and what helps where that is known."""

import re

from moot.backends.backend import Failure, Manner
from moot.backends.programs.known import AgentProgram
from moot.core import accounts
from moot.process.program import Finished, as_text

MOST = 1_500  # characters
_CUT = re.compile(r"\[\.\.\. \d+ bytes cut \.\.\.\]")  # the line after it may be the end of an event
_NO_REASON = re.compile(r"\s|Node\.js v\d|[\])}]")  # how lines begin that say where something broke, and not what


def told(name: str, error: str, finished: Finished, remedy: str = "") -> str:
    """What went wrong, with the last of what it wrote to stderr."""
    head, _, rest = error.partition("\n")
    first = f"{name}: {head.rstrip('.')}. {remedy}" if remedy else f"{name}: {head}"
    last = as_text(finished.stderr)[-MOST:].strip()
    return "\n".join(part for part in (first, rest, "" if last in error else last) if part)


def cut_short(failure: Failure, fact: str, finished: Finished) -> str:
    """Of a program that did not say how it went: its last words, which are the reason if there is one."""
    printed = _plain(finished)
    reason = _reason(as_text(finished.stderr)) or _reason(printed) if failure in ("no_result", "auth") else ""
    return "\n".join(part for part in (reason, fact, "" if printed == reason else printed) if part)


def own_words(finished: Finished) -> str:
    """The last that the program said for itself. Events hold the words of its agent, who may speak of anything."""
    return f"{_plain(finished)}\n{as_text(finished.stderr)}".strip()[-MOST:]


def login(program: AgentProgram, manner: Manner) -> str:
    """What helps if its provider does not know it."""
    if manner.base_url is not None:
        key = accounts.named_key(manner.env)
        return f"Check the key in {key}." if key else "Name the variable with the key of its address in `env`."
    keys = program.service(manner.model).all_keys[:1]
    if manner.is_isolated:
        return f"Check the key in {keys[0]}." if keys else ""
    return f"Run `{program.log_in}` once in a terminal" + (f", or set {keys[0]}." if keys else ".")


def _reason(text: str) -> str:
    lines = (line for line in reversed(text[-MOST:].splitlines()) if line and not _NO_REASON.match(line))
    return next(lines, "").strip()


def _plain(finished: Finished) -> str:
    """What it printed beside events."""
    lines = as_text(finished.stdout).split("\n")  # and nowhere else: an event may hold other ends of lines
    pairs = zip(("", *lines), lines, strict=False)
    return "\n".join(line for before, line in pairs if not _is_event(line) and not _CUT.fullmatch(before))[-MOST:]


def _is_event(line: str) -> bool:
    return line.lstrip().startswith("{")
