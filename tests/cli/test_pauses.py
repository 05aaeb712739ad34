"""A provider that asks to wait is shown while a run goes on, and named by whoever asks why nothing moves."""

from datetime import UTC, datetime

from moot.api.attending import Paused
from moot.api.connection import Connection
from moot.cli import play
from moot.core.caller import SYSTEM
from moot.core.tx import Tx
from moot.ledger import pauses
from tests.cli.terminal import Terminal

UNTIL = datetime(2100, 1, 1, tzinfo=UTC)


def test_a_pause_is_a_document_for_programs() -> None:
    assert play.document(Paused("anthropic", UNTIL, "429")) == {
        "type": "pause",
        "provider": "anthropic",
        "until": "2100-01-01T00:00:00.000000Z",
        "reason": "429",
    }


def test_status_names_a_provider_whose_agents_have_mail(terminal: Terminal) -> None:
    terminal.join("coder", backend="claude")
    terminal.act(_pause)
    assert "asked to wait" not in terminal.ok("status").out
    terminal.ok("send", "hello", "--to", "coder")
    assert "anthropic asked to wait until 2100-01-01" in terminal.ok("status").out


async def _pause(connection: Connection) -> None:
    def change(tx: Tx) -> None:
        pauses.pause(tx, "anthropic", UNTIL, "too many requests")

    await connection.store.write(change, caller=SYSTEM)
