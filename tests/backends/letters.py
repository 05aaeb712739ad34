"""Mail as a backend is given it."""

from datetime import UTC, datetime

from moot.backends.backend import Letter
from moot.core.ids import MessageId


def letter(body: str, sender: str = "human") -> Letter:
    return Letter(MessageId("ms_1"), 1, sender, body, "message", "normal", datetime(2026, 1, 1, tzinfo=UTC))
