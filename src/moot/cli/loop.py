"""The one place that starts the event loop."""

import asyncio
import logging
import os
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it to its end. What libraries log, tracebacks included, is not for the terminal of a short command."""
    if not os.environ.get("MOOT_DEBUG"):
        # Not by taking `lastResort` away, which makes logging complain that it has nowhere to go.
        logging.getLogger().addHandler(logging.NullHandler())
    return asyncio.run(work)
