"""Failures as a person reads them: the code, the fact, the remedy; and the exit code that a script reads."""

import contextlib
import errno
import os
import sys
import tempfile
import traceback
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from moot.cli import terminal
from moot.core.errors import MootError, leaves
from moot.core.records import record
from moot.core.version import VERSION

INTERRUPTED = 130
USAGE = 2
_NUMBERS = {
    "integer range": "a whole number",
    "integer": "a whole number",
    "float range": "a number",
    "float": "a number",
}
PRINTERS = (terminal.__name__, "click.utils")


@record
class Words:
    """What is told of a failure."""

    code: str
    message: str
    remedy: str


def tell(error: BaseException, *, as_json: bool = False) -> int:
    """Say what went wrong, and return the exit code; as one line of JSON to a program that asked for JSON."""
    cause = _first(error)
    if os.environ.get("MOOT_DEBUG"):
        traceback.print_exception(cause)
    match cause:
        case SystemExit():
            return cause.code if isinstance(cause.code, int) else int(cause.code is not None)
        case KeyboardInterrupt() | click.Abort():
            return interrupted()
        case MootError():
            _say(Words(cause.code, cause.fact, cause.remedy), as_json=as_json)
            return cause.exit_code
        case click.exceptions.NoArgsIsHelpError():
            terminal.note(cause.format_message())
            return USAGE
        case click.ClickException():
            _say(Words("USAGE", _plain(cause.format_message()), _usage_help(cause)), as_json=as_json)
            return USAGE
        case OSError() if _is_about_output(cause):
            return _output_failed(cause, as_json=as_json)
        case _:
            _say(_unexpected(cause), as_json=as_json)
            return 1


def interrupted() -> int:
    """Ctrl-C: the terminal has shown ^C and stays on that line."""
    if terminal.is_terminal(sys.stderr):
        terminal.note("")
    return INTERRUPTED


def _first(error: BaseException) -> BaseException:
    """Of errors that came together, the one to tell: the first that has words for people."""
    found = leaves(error)
    return next((leaf for leaf in found if isinstance(leaf, MootError | KeyboardInterrupt)), found[0])


def _say(words: Words, *, as_json: bool) -> None:
    with contextlib.suppress(OSError):  # nobody reads stderr; the exit code remains
        terminal.flush()
    with contextlib.suppress(OSError):
        if as_json and sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]  # None when it was closed before the start
            terminal.line({"error": asdict(words)}, on=sys.stderr)
            return
        terminal.note(terminal.paint("error:", "red", on=sys.stderr), f" {words.code}: {words.message}")
        terminal.remedies(words.remedy)


def _plain(message: str) -> str:
    """Without the names that programmers have for numbers."""
    for name, word in _NUMBERS.items():
        message = message.replace(f"is not a valid {name}.", f"is not {word}.")
    return message


def _usage_help(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"See: {context.command_path} --help" if context else ""


def _is_about_output(error: OSError) -> bool:
    """Whether it happened while printing."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(frame.f_globals.get("__name__") in PRINTERS for frame in frames)


def _output_failed(error: OSError, *, as_json: bool) -> int:
    if error.errno == errno.EPIPE:
        return 0  # the reader has seen enough
    fact = f"The output could not be written: {error.strerror}."
    _say(Words("OUTPUT_FAILED", fact, "Check where it goes."), as_json=as_json)
    return 1


def _unexpected(error: BaseException) -> Words:
    fact = f"Something went wrong that should not: {type(error).__name__}: {str(error)[:500]}"
    remedy = f"Details are in {_record(error)}; MOOT_DEBUG=1 shows them here."
    return Words("UNEXPECTED", fact.rstrip("."), remedy)


def _record(error: BaseException) -> str:
    """Write the traceback where only this user can read it, and say where."""
    text = f"{datetime.now(UTC).isoformat()} moot {VERSION}, Python {sys.version.split()[0]}\n"
    text += "".join(traceback.format_exception(error)) + "\n"
    with contextlib.suppress(OSError, RuntimeError):
        return _append(_log_file(), text)
    with contextlib.suppress(OSError):
        descriptor, name = tempfile.mkstemp(prefix="moot-error-", suffix=".log")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        return name
    return "no file, because none could be written"


def _log_file() -> Path:
    from moot.app import project

    return project.find().folder / "errors.log"


def _append(file: Path, text: str) -> str:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file, flags, 0o600), "a", encoding="utf-8", errors="backslashreplace") as log:
        log.write(text)
    return str(file)
