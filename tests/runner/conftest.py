"""The runner sleeps in real time, so its stores use the real clock."""

import importlib

import pytest

from moot.core.clock import Clock, SystemClock


@pytest.fixture
def clock() -> Clock:
    return SystemClock()


@pytest.fixture(scope="module")
def loaded() -> None:
    """The libraries of model APIs, loaded before a test counts the seconds: the first time takes many."""
    for name in ("api", "clients.anthropic", "clients.chat", "clients.google", "clients.responses"):
        importlib.import_module(f"moot.models.{name}")
