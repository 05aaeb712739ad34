"""The runner sleeps in real time, so its stores use the real clock."""

import pytest

from moot.core.clock import Clock, SystemClock


@pytest.fixture
def clock() -> Clock:
    return SystemClock()
