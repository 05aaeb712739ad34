"""A run on the terminal, as lines or as JSON lines: for the commands that attend one."""

from collections.abc import AsyncIterator

from moot.api import plain
from moot.api.attending import Ending, Failed
from moot.api.running import Piece
from moot.api.summaries import Summary
from moot.bus.messages import Message
from moot.cli import terminal
from moot.cli.transcript import Transcript
from moot.core import clock, durations
from moot.process import detached
from moot.registry.runs import Run


async def show(pieces: AsyncIterator[Piece], *, as_json: bool) -> int:
    """Everything as it comes; the exit code."""
    code = 0
    stage = _Lines() if as_json else _Terminal()
    async for piece in pieces:
        if isinstance(piece, Run):
            detached.tell_ready()
        if isinstance(piece, Ending):
            code = piece.exit_code
        stage.show(piece)
        terminal.flush()
    return code


class _Terminal:
    """For people."""

    def __init__(self) -> None:
        self._transcript = Transcript()
        self._ending = Ending("done")

    def show(self, piece: Piece) -> None:
        match piece:
            case Run():
                pass
            case Message():
                self._transcript.message(piece)
            case Failed():
                what = "its mail is parked" if piece.is_last else "its mail waits and it is tried again"
                self._transcript.aside(f"{piece.agent} failed ({piece.error}); {what}")
            case Ending():
                self._ending = piece
            case Summary():
                self._sum_up(piece)

    def _sum_up(self, summary: Summary) -> None:
        terminal.say("")
        for deeds in summary.agents:
            terminal.say("  ", terminal.one_line(deeds.name), "  ", _counted(deeds.attempts, "attempt"), ", ",
                         _counted(deeds.messages, "message"))  # fmt: skip
        facts = [
            f"{self._ending.state} in {durations.spell(summary.duration)}",
            _counted(len(summary.agents), "agent"),
            _counted(summary.messages, "message"),
            f"${summary.cost:.2f}",
            *summary.documents,
        ]
        terminal.say(terminal.paint(" · ".join(facts), "bold"))
        if self._ending.reason:
            terminal.note(self._ending.reason)
        if self._ending.state in ("interrupted", "limit"):
            terminal.note(f"go on with: moot resume {_target(summary.run)}".rstrip())


class _Lines:
    """For programs: one JSON document a line, each with its `type`."""

    def show(self, piece: Piece) -> None:
        terminal.line(document(piece))


def document(piece: Piece) -> plain.Plain:
    match piece:
        case Run():
            return {"type": "run", "workflow_id": piece.id, "name": piece.name, "instance": piece.instance}
        case Message():
            return {"type": "message", **plain.message(piece)}
        case Failed():
            return {"type": "failure", "agent": piece.agent, "error": piece.error, "number": piece.number,
                    "parked": piece.is_last}  # fmt: skip
        case Ending():
            return {"type": "end", "status": piece.state, "reason": piece.reason, "exit_code": piece.exit_code}
        case Summary():
            return _summary(piece)


def _summary(summary: Summary) -> plain.Plain:
    run = summary.run
    return {
        "type": "summary",
        "workflow_id": run.id,
        "name": run.name,
        "instance": run.instance,
        "status": run.state,
        "reason": run.reason,
        "agents": [{"name": one.name, "attempts": one.attempts, "messages": one.messages} for one in summary.agents],
        "messages": summary.messages,
        "documents": summary.documents,
        "started_at": clock.to_iso(run.started_at),
        "seconds": summary.duration.total_seconds(),
        "cost": summary.cost,
    }


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _target(run: Run) -> str:
    return "" if run.instance == "default" else f"@{run.instance}"
